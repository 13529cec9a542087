// A lane: a row of the plot, about a device, a register, a field, a CPU or spans of time.
import { contextOf, placeOf, type Data } from "./data";
import type { Field, Table } from "./facts";
import type { Shown } from "./state";
import { kindOf } from "./trace";

/** A span of time that the program or the page has found. */
export interface Span {
  from: number;
  to: number;
  text: string;
  /** The index of its first event; -1: none. */
  event: number;
  /** Each CPU has a part of the lane's height; without one it takes all of it. */
  cpu?: number;
}

export interface Lane {
  /** In the URL. */
  id: string;
  label: string;
  depth: 0 | 1 | 2;
  /** Whether lanes belong to it that can be opened. */
  opens: boolean;
  about:
    | { kind: "accesses"; device: number; cpu: number } // -1: any
    | { kind: "values"; register: number; field: Field | null }
    | { kind: "spans"; spans: Span[] };
}

export const laneHeight = 22;
const mostLanes = 400;

export interface DeviceUse {
  device: number;
  name: string;
  short: string;
  count: number;
  cpus: Set<number>;
  registers: Map<number, number>;
}

/** The devices and registers of these events, those with most events first. */
export function usesOf(data: Data, indices: Uint32Array): DeviceUse[] {
  const { trace, contexts, names } = data;
  const { cpus } = trace;
  const byContext = new Uint32Array(names.contexts.length * cpus);
  for (const index of indices) byContext[contexts[index] * cpus + trace.cpu[index]]++;
  const uses = new Map<number, DeviceUse>();
  names.contexts.forEach((context, number) => {
    if (context === null) return;
    const [device, name, , register] = names.places[context[0]] ?? [-1, "-", 0, 0];
    for (let cpu = 0; cpu < cpus; cpu++) {
      const count = byContext[number * cpus + cpu];
      if (count === 0) continue;
      let use = uses.get(device);
      if (use === undefined) uses.set(device, (use = { device, name, short: data.facts.devices[device]?.short ?? name, count: 0, cpus: new Set(), registers: new Map() }));
      use.count += count;
      use.cpus.add(cpu);
      use.registers.set(register, (use.registers.get(register) ?? 0) + count);
    }
  });
  return [...uses.values()].sort((a, b) => b.count - a.count);
}

/** The lanes of what matches: pinned ones first in their order, hidden ones left out. */
export function lanesOf(data: Data, now: Shown, uses: DeviceUse[], spans: Map<string, Span[]>): Lane[] {
  const lanes: Lane[] = [];
  const addSpans = (interrupts: boolean) => {
    for (const [label, all] of spans) {
      if (all.length === 0 || label.startsWith("irq ") !== interrupts) continue;
      lanes.push({ id: label, label, depth: 0, opens: false, about: { kind: "spans", spans: all } });
    }
  };
  addSpans(false);
  const open = new Set(now.open);
  for (const use of uses) {
    const id = use.name;
    lanes.push({
      id,
      label: use.short === "-" ? "no device" : use.short,
      depth: 0,
      opens: true,
      about: { kind: "accesses", device: use.device, cpu: -1 },
    });
    if (!open.has(id)) continue;
    if (use.cpus.size > 1) {
      for (const cpu of [...use.cpus].sort((a, b) => a - b)) {
        lanes.push({
          id: `${id}/cpu${cpu}`,
          label: `cpu${cpu}`,
          depth: 1,
          opens: false,
          about: { kind: "accesses", device: use.device, cpu },
        });
      }
    }
    for (const [register] of [...use.registers].sort((a, b) => b[1] - a[1])) {
      const description = data.names.registers[register];
      if (description === null) continue;
      const registerId = `${id}/${description[0]}`;
      lanes.push({
        id: registerId,
        label: description[0],
        depth: 1,
        opens: description[4].length > 0,
        about: { kind: "values", register, field: null },
      });
      if (!open.has(registerId)) continue;
      for (const field of description[4]) {
        lanes.push({
          id: `${registerId}/${field[0]}`,
          label: field[0],
          depth: 2,
          opens: false,
          about: { kind: "values", register, field },
        });
      }
    }
  }
  addSpans(true);
  const hidden = (lane: Lane) => now.hidden.some((id) => lane.id === id || lane.id.startsWith(`${id}/`));
  const seen = lanes.filter((lane) => !hidden(lane));
  const pinned = now.pinned.flatMap((id) => seen.filter((lane) => lane.id === id));
  return [...pinned, ...seen.filter((lane) => !now.pinned.includes(lane.id))].slice(0, mostLanes);
}

/** Interrupts from acknowledge (a read of GICC_IAR) to end (a write of GICC_EOIR), by their names. GICv2, 4.4.4 and 4.4.5. */
export function interruptSpans(data: Data): Map<string, Span[]> {
  const { trace, names } = data;
  const spans = new Map<string, Span[]>();
  const open = new Map<string, Span>();
  for (let i = 0; i < trace.count; i++) {
    const text = names.interrupts[contextOf(data, i)[4]];
    if (text == null || /^(spurious|reserved)/.test(text)) continue;
    const key = `${trace.cpu[i]}/${text}`;
    if (!trace.writes(i)) {
      const span = { from: trace.time[i], to: trace.time[i], text, event: i };
      open.set(key, span);
      const all = spans.get(`irq ${text}`);
      if (all === undefined) spans.set(`irq ${text}`, [span]);
      else all.push(span);
    } else {
      const span = open.get(key);
      if (span !== undefined) span.to = trace.time[i];
      open.delete(key);
    }
  }
  return spans;
}

/** The phases, which are a table, too. */
export function phaseSpans(tables: Table[]): Span[] {
  const table = tables.find(({ title }) => title === "Phases");
  if (table === undefined) return [];
  const places = ["begin_ns", "time_ns", "name", "event"].map((name) => table.columns.findIndex((column) => column.name === name));
  return table.rows.map((row) => {
    const [begin, time, text, event] = places.map((place) => row[place]);
    const from = Number(begin) * 1e9;
    return { from, to: from + Number(time) * 1e9, text, event: Number(event.replace(/,/g, "")) - 1 };
  });
}

/** Events that have a text, such as marks, and losses; calls and moves have lanes of their own. */
export function textSpans({ texts, trace }: Data): Span[] {
  const elsewhere: number[] = [kindOf.call, kindOf.ret, kindOf.move];
  return [...texts].filter(([event]) => !elsewhere.includes(trace.type[event])).map(([event, text]) => ({ from: trace.time[event], to: trace.time[event], text, event }));
}

/** How long each interrupt took from acknowledge to end. */
export function interruptTable(interrupts: Map<string, Span[]>): Table {
  const rows = [...interrupts].map(([name, spans]) => {
    const ended = spans.filter((span) => span.to > span.from);
    const time = (span: Span) => span.to - span.from;
    const longest = ended.reduce((a, b) => (time(b) > time(a) ? b : a), ended[0]);
    const total = ended.reduce((sum, span) => sum + time(span), 0);
    const micros = (ns: number) => (ns / 1000).toFixed(2);
    const known = longest !== undefined;
    return [
      name.slice("irq ".length),
      String(spans.length),
      String(spans.length - ended.length),
      known ? micros(total / ended.length) : "-",
      known ? micros(time(longest)) : "-",
      known ? String(longest.event + 1) : "-",
    ];
  });
  const number = (name: string, title: string) => ({ name, title, number: true });
  return {
    title: "Interrupts",
    columns: [
      { name: "interrupt", title: "interrupt", number: false },
      number("times", "times"),
      number("not_ended", "not ended"),
      number("mean_us", "mean us to its end"),
      number("longest_us", "longest us"),
      number("longest_event", "event"),
    ],
    rows: rows.sort((a, b) => Number(b[1]) - Number(a[1])),
    closing: "",
  };
}

/** Whether an event is drawn in a lane of accesses or values. */
export function isIn(data: Data, lane: Lane, index: number): boolean {
  const { about } = lane;
  const place = placeOf(data, index);
  if (about.kind === "accesses") {
    return place[0] === about.device && (about.cpu < 0 || data.trace.cpu[index] === about.cpu);
  }
  return about.kind === "values" && place[3] === about.register;
}
