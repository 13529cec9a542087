// Which events a filter holds for. Tests look at many events at a time; what depends only on an event's context is
// decided once for each context.
import { big, Part, type Data } from "../data";
import { ValueIs, type Context, type Field } from "../facts";
import { access, at, flag, kindOf } from "../trace";
import { parse, type Node, type Range } from "./parse";
import type { Pattern } from "./pattern";

/** Sets out[i] to 1 if it holds for event from + i, else to 0. */
type Test = (from: number, to: number, out: Uint8Array) => void;

const some = 4096; // events that are looked at together

/** The indices of all events that a filter holds for, in the order of the trace. Throws FilterError. */
export function select(text: string, data: Data): Uint32Array {
  const node: Node = text.trim() === "" ? { kind: "all", children: [] } : parse(text, data.facts);
  const table = byContext(node, data);
  if (table === null) return tested(compile(node, data), data);
  table[0] = 0; // no event of its own
  return ofContexts(table, data.contexts);
}

let room = new Uint32Array(0); // for the events that are found, used again

/** The indices of the events whose context's entry is 1. */
function ofContexts(table: Uint8Array, contexts: Uint32Array): Uint32Array {
  if (room.length <= contexts.length) room = new Uint32Array(contexts.length + 1);
  const found = room;
  let to = 0;
  for (let i = 0; i < contexts.length; i++) {
    found[to] = i; // stored in any case: a branch would cost more
    to += table[contexts[i]];
  }
  return found.slice(0, to);
}

function tested(test: Test, data: Data): Uint32Array {
  const { count } = data.trace;
  const held = new Uint8Array(count);
  let all = 0;
  for (let from = 0; from < count; from += some) {
    const to = Math.min(from + some, count);
    test(from, to, held.subarray(from, to));
    for (let i = from; i < to; i++) all += held[i] &= data.contexts[i] === 0 ? 0 : 1;
  }
  const found = new Uint32Array(all + 1);
  for (let i = 0, to = 0; i < count; i++) {
    found[to] = i;
    to += held[i];
  }
  return found.subarray(0, all);
}

function compile(node: Node, data: Data): Test {
  const table = byContext(node, data);
  if (table !== null) {
    const { contexts } = data;
    return (from, to, out) => {
      for (let i = from; i < to; i++) out[i - from] = table[contexts[i]];
    };
  }
  switch (node.kind) {
    case "number":
      return numberTest(node, data);
    case "bits":
      return bitsTest(node, data);
    case "text":
      return textTest(node.field, node.patterns, data);
    default:
      return joined(node.kind, node.children.map((child) => compile(child, data)));
  }
}

function joined(kind: "all" | "any" | "none", tests: Test[]): Test {
  const other = new Uint8Array(some);
  return (from, to, out) => {
    tests[0](from, to, out);
    for (const test of tests.slice(1)) {
      test(from, to, other);
      join(kind, out, other, to - from);
    }
    if (kind === "none") for (let i = 0; i < to - from; i++) out[i] ^= 1;
  };
}

/** Joins the first `count` results of one more test to those before. Of "none" it is what any of them says. */
function join(kind: "all" | "any" | "none", to: Uint8Array, other: Uint8Array, count: number) {
  if (kind === "all") for (let i = 0; i < count; i++) to[i] &= other[i];
  else for (let i = 0; i < count; i++) to[i] |= other[i];
}

/** For each context, 1 if the test holds; null: it does not depend on contexts alone. */
function byContext(node: Node, data: Data): Uint8Array<ArrayBuffer> | null {
  const count = data.names.contexts.length;
  switch (node.kind) {
    case "text":
      return ofPart(textOfPart(node.field, node.patterns, data), data);
    case "number": {
      const part = taskNumber(node.field);
      if (part === null) return null;
      return ofPart(
        { part: Part.task, holds: (n) => n !== 0 && within(node.ranges, BigInt(data.names.tasks[n][part]) & node.mask) },
        data,
      );
    }
    case "bits":
      return null;
    default: {
      const tables = node.children.map((child) => byContext(child, data));
      if (tables.includes(null)) return null;
      const table = new Uint8Array(count).fill(node.kind === "all" ? 1 : 0);
      for (const other of tables as Uint8Array[]) join(node.kind, table, other, count);
      if (node.kind === "none") for (let i = 0; i < count; i++) table[i] ^= 1;
      return table;
    }
  }
}

/** A test of one part of a context: the number of a place, a location, a task; 0: there is none. */
interface OfPart {
  part: Part;
  holds: (number: number) => boolean;
}

/** The test for each context. Each different number is asked about once. */
function ofPart(test: OfPart | null, data: Data): Uint8Array<ArrayBuffer> | null {
  if (test === null) return null;
  const numbers = data.parts[test.part];
  const known = new Uint8Array(numbers.reduce((a, b) => Math.max(a, b), 0) + 1); // 0: not asked, 1: no, 2: yes
  const table = new Uint8Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i];
    if (known[number] === 0) known[number] = test.holds(number) ? 2 : 1;
    table[i] = known[number] - 1;
  }
  return table;
}

function within(ranges: Range[], value: bigint): boolean {
  return ranges.some(([first, last]) => value >= first && value <= last);
}

// Texts.

function anyOf(patterns: Pattern[]) {
  return (text: string) => patterns.some((pattern) => pattern.matches(text));
}

function textOfPart(field: string, patterns: Pattern[], data: Data): OfPart | null {
  const matches = anyOf(patterns);
  const given = (text: string) => text !== "" && matches(text);
  const { places, registers, locations, tasks } = data.names;
  const functions = (number: number) =>
    number !== 0 && (given(locations[number][0]) || locations[number][3].some(([func]) => given(func)));
  switch (field) {
    case "dev": {
      const meant = data.facts.devices.map((device) =>
        device.names.some((name) => matches(name) || patterns.some((pattern) => isEndOf(name, pattern.whole))),
      );
      return {
        part: Part.place,
        holds: (n) => (n === 0 ? given("-") : (meant[places[n][0]] ?? given(places[n][1]))),
      };
    }
    case "reg":
      return { part: Part.place, holds: (n) => n !== 0 && places[n][3] !== 0 && matches(registers[places[n][3]][0]) };
    case "func":
      return { part: Part.code, holds: functions };
    case "caller":
      return { part: Part.caller, holds: functions };
    case "module":
      return { part: Part.code, holds: (n) => n !== 0 && matches(locations[n][2] || "kernel") };
    case "file":
      return { part: Part.code, holds: (n) => n !== 0 && locations[n][3].some(([, file]) => endsOf(file).some(matches)) };
    case "comm":
      return { part: Part.task, holds: (n) => n !== 0 && matches(tasks[n][2]) };
    default:
      return null;
  }
}

/** Whether `name`, a path that begins with "~" because its start is unknown, is the end of `whole`. */
function isEndOf(name: string, whole: string): boolean {
  return name.startsWith("~") && whole.endsWith(name.slice(1));
}

/** A path, and its ends after each "/". */
function endsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, i) => parts.slice(i).join("/")).filter((end) => end !== "");
}

function textTest(field: string, patterns: Pattern[], data: Data): Test {
  const matches = anyOf(patterns);
  const { trace, contexts, names } = data;
  const each =
    (holds: (index: number, context: Context) => boolean): Test =>
    (from, to, out) => {
      for (let i = from; i < to; i++) {
        const context = names.contexts[contexts[i]];
        out[i - from] = context !== null && holds(i, context) ? 1 : 0;
      }
    };
  switch (field) {
    case "text":
      return each((index) => {
        const text = data.texts.get(index);
        return text !== undefined && text !== "" && matches(text);
      });
    case "irq":
      return each((index, context) => {
        const text = names.interrupts[context[4]];
        return (
          text !== null &&
          (matches(text) || matches(String(trace.low[index] & 0x3ff)) || interrupting(text).some(matches))
        );
      });
    case "task": {
      const known = data.names.tasks.map((task) => task !== null && (matches(task[2]) || matches(String(task[0]))));
      const placed = data.facts.kinds.map((kind) => kind[2] !== 0);
      return each((index, context) => {
        if (known[context[3]]) return true;
        if (!placed[trace.type[index]]) return false;
        const { view, offset } = trace.record(index);
        return matches(`0x${view.getUint32(offset + at.task, true).toString(16)}`);
      });
    }
    default:
      throw new Error(`the page does not know the field ${field}`);
  }
}

/** The devices in "PPI 27 timer rx, mmc@50000", with and without the name of their interrupts. */
function interrupting(text: string): string[] {
  const devices = text.replace(/^PPI /, "").replace(/^[0-9]* ?/, "");
  return devices === "" ? [] : devices.split(", ").flatMap((one) => [one, one.split(" ")[0]]);
}

// Numbers.

/** Which element of a task the field is. */
function taskNumber(field: string): 0 | 1 | null {
  return field === "pid" ? 0 : field === "tgid" ? 1 : null;
}

/** Numbers of 64 bits, and which events have one. */
interface Numbers {
  low: Uint32Array;
  high: Uint32Array;
  known: Uint8Array;
}
type Fill = (from: number, to: number, numbers: Numbers) => void;

function numberTest({ field, mask, ranges }: Node & { kind: "number" }, data: Data): Test {
  const fill = fillOf(field, data);
  const halves = (value: bigint) => [Number(value & 0xffff_ffffn), Number(value >> 32n)] as const;
  const [maskLow, maskHigh] = halves(mask);
  const bounds = ranges.map(([first, last]) => [...halves(first), ...halves(last)] as const);
  const numbers: Numbers = { low: new Uint32Array(some), high: new Uint32Array(some), known: new Uint8Array(some) };
  return (from, to, out) => {
    numbers.high.fill(0);
    numbers.known.fill(1);
    fill(from, to, numbers);
    for (let i = 0; i < to - from; i++) {
      const low = (numbers.low[i] & maskLow) >>> 0;
      const high = (numbers.high[i] & maskHigh) >>> 0;
      let held = 0;
      for (const [firstLow, firstHigh, lastLow, lastHigh] of bounds) {
        const above = high > firstHigh || (high === firstHigh && low >= firstLow);
        const below = high < lastHigh || (high === lastHigh && low <= lastLow);
        if (above && below) held = 1;
      }
      out[i] = held & numbers.known[i];
    }
  };
}

/** A double below 2^53, as two halves. */
function put(value: number, i: number, { low, high }: Numbers) {
  low[i] = value;
  high[i] = Math.floor(value / 0x1_0000_0000);
}

function fillOf(field: string, data: Data): Fill {
  const { trace } = data;
  const placed = Uint8Array.from(data.facts.kinds, (kind) => (kind[2] !== 0 ? 1 : 0));
  const executed = Uint8Array.from(data.facts.kinds, (kind) => (kind[4] !== 0 ? 1 : 0));
  const called = Uint8Array.from(data.facts.kinds, (_, type) => (type === kindOf.call ? 1 : 0));
  const returned = Uint8Array.from(data.facts.kinds, (_, type) => (type === kindOf.ret ? 1 : 0));
  /** A code is known even where the value on the bus is not. */
  const coded = Uint8Array.from(data.facts.kinds, (kind) => (kind[1] === ValueIs.code ? 1 : 0));
  const numbered = Uint8Array.from(data.facts.kinds, (kind) =>
    kind[1] === ValueIs.onBus || kind[1] === ValueIs.number ? 1 : 0,
  );
  /** A number of any event, or only of those with a place. */
  const of =
    (number: (index: number) => number, has: Uint8Array | null = null): Fill =>
    (from, to, { low, known }) => {
      for (let i = from; i < to; i++) {
        low[i - from] = number(i);
        if (has !== null) known[i - from] = has[trace.type[i]];
      }
    };
  /** A number that only the record has. */
  const ofRecord =
    (number: (view: DataView, offset: number) => number, has: Uint8Array | null = null): Fill =>
    (from, to, numbers) => {
      trace.records(from, to, (view, offset, first, count) => {
        for (let i = 0; i < count; i++, offset += 64) {
          put(number(view, offset), first - from + i, numbers);
          if (has !== null) numbers.known[first - from + i] = has[view.getUint8(offset + at.type)];
        }
      });
    };
  const word = (where: number) => (view: DataView, offset: number) => view.getUint32(offset + where, true);
  /** An address: 0 is not known. */
  const address = (where: number, has = executed): Fill => {
    const fill = ofRecord(word(where), has);
    return (from, to, numbers) => {
      fill(from, to, numbers);
      for (let i = 0; i < to - from; i++) if (numbers.low[i] === 0) numbers.known[i] = 0;
    };
  };
  const flagged = (bit: number) => of((i) => (trace.flags[i] & bit ? 1 : 0));
  const mode = (view: DataView, offset: number) => view.getUint8(offset + at.mode);
  switch (field) {
    case "value":
      return (from, to, { low, high, known }) => {
        for (let i = from; i < to; i++) {
          low[i - from] = trace.low[i];
          known[i - from] = coded[trace.type[i]] | (numbered[trace.type[i]] & (trace.flags[i] & flag.unknown ? 0 : 1));
        }
        if (trace.high !== null) high.set(trace.high.subarray(from, to));
      };
    case "offset": {
      const offsets = data.names.contexts.map((context) => big(data.names.places[context?.[0] ?? 0]?.[2] ?? 0));
      const halves = BigUint64Array.from(offsets);
      const words = new Uint32Array(halves.buffer); // little endian, as all machines that run a browser
      return (from, to, { low, high, known }) => {
        for (let i = from; i < to; i++) {
          const context = data.contexts[i];
          low[i - from] = words[2 * context];
          high[i - from] = words[2 * context + 1];
          known[i - from] = placed[trace.type[i]];
        }
      };
    }
    case "pa":
      return ofRecord((view, o) => view.getUint8(o + at.paHigh) * 0x1_0000_0000 + view.getUint32(o + at.paLow, true), placed);
    case "va":
      return address(at.va, placed);
    case "pc":
      return address(at.pc);
    case "lr":
      return address(at.lr);
    case "sp":
      return address(at.sp);
    case "seq":
      return ofRecord(word(at.sequence));
    case "order":
      return ofRecord(word(at.order), placed);
    case "size":
      return of((i) => trace.size(i), placed);
    case "dir":
    case "w":
      return of((i) => trace.access[i] & access.write, placed);
    case "r":
      return of((i) => (trace.access[i] & access.write) ^ access.write, placed);
    case "cpu":
      return of((i) => trace.cpu[i]);
    case "type":
      return of((i) => trace.type[i]);
    case "time":
      return (from, to, numbers) => {
        for (let i = from; i < to; i++) put(trace.time[i], i - from, numbers);
      };
    case "duration":
      return (from, to, numbers) => {
        for (let i = from; i < to; i++) {
          put(trace.durationOf(i), i - from, numbers);
          const type = trace.type[i];
          const known = type === kindOf.ret ? trace.duration[i] !== 0 : type !== kindOf.begin && placed[type] !== 0;
          numbers.known[i - from] = known ? 1 : 0;
        }
      };
    case "mode":
      return ofRecord((view, offset) => mode(view, offset) & 0x1f);
    case "move":
      return of((i) => (trace.type[i] === kindOf.move ? 1 : 0));
    case "call":
      return of((i) => called[trace.type[i]]);
    case "ret":
      return of((i) => returned[trace.type[i]]);
    case "retval":
      return of((i) => trace.low[i], returned);
    case "arg0":
      return of((i) => trace.low[i], called);
    case "arg1":
      return of((i) => trace.high?.[i] ?? 0, called);
    case "arg2":
      return ofRecord(word(at.va), called);
    case "arg3":
      return ofRecord(word(at.paLow), called);
    case "user":
      return ofRecord((view, offset) => ((mode(view, offset) & 0x1f) === 0x10 ? 1 : 0));
    case "thumb":
      return ofRecord((view, offset) => (mode(view, offset) & 0x20 ? 1 : 0));
    case "emulated":
      return of((i) => (trace.access[i] & access.emulated ? 1 : 0), placed);
    case "unknown":
      return flagged(flag.unknown);
    case "early":
      return flagged(flag.early);
    case "boot":
      return flagged(flag.boot);
    case "estimated":
      return flagged(flag.estimated);
    default:
      throw new Error(`the page does not know the field ${field}`);
  }
}

// Fields of registers.

/** The bits of a field in a value read `into` bytes behind the register's start; null: not all of them were read. */
export function fieldValue(field: Field, value: bigint, size: number, into: number): bigint | null {
  const [, low, width] = field;
  if (width === 0 || low < into * 8 || low + width > (into + size) * 8) return null;
  return (value >> BigInt(low - into * 8)) & ((1n << BigInt(width)) - 1n);
}

/** The name of a field's value, if it has one. */
export function valueName(field: Field, value: bigint): string | null {
  return field[3].find(([one]) => big(one) === value)?.[1] ?? null;
}

function bitsTest({ reg, field, mask, ranges, names }: Node & { kind: "bits" }, data: Data): Test {
  const { trace, contexts } = data;
  const wanted = data.names.registers.map((one) =>
    one === null || (reg !== null && !reg.matches(one[0])) ? [] : one[4].filter(([name]) => field.matches(name)),
  );
  const onBus = data.facts.kinds.map((kind) => kind[1] === ValueIs.onBus);
  const matches = anyOf(names);
  return (from, to, out) => {
    for (let i = from; i < to; i++) {
      out[i - from] = 0;
      const place = data.names.places[data.names.contexts[contexts[i]]?.[0] ?? 0];
      if (place === null || wanted[place[3]].length === 0) continue;
      const into = Number(big(place[2]) - BigInt(data.names.registers[place[3]][1]));
      if (into < 0 || into >= 8 || !onBus[trace.type[i]] || trace.flags[i] & flag.unknown) continue;
      const value = trace.value(i);
      for (const one of wanted[place[3]]) {
        const bits = fieldValue(one, value, Math.min(trace.size(i), 8), into);
        if (bits === null) continue;
        if (within(ranges, bits & mask) || matches(valueName(one, bits) ?? "")) out[i - from] = 1;
      }
    }
  };
}
