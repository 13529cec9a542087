// Draws the lanes of a window.
import { Scale, tickText, ticks } from "./axis";
import type { Colours } from "./colours";
import { contextOf, hasBusValue, type Data } from "./data";
import { laneHeight, type Lane, type Span } from "./lane";

/** What is drawn, of which lanes, in which window. */
export interface Plot {
  data: Data;
  lanes: Lane[];
  /** Indices of the events, in the order of the trace. */
  events: Uint32Array;
  /** Which of `events` are in the window: from `first` on, before `end`. */
  first: number;
  end: number;
  scale: Scale;
}

/** For each context, the lanes that draw its events; null: none. */
export function lanesByContext({ data, lanes }: Pick<Plot, "data" | "lanes">): (Uint16Array | null)[] {
  const byDevice = new Map<number, number[]>();
  const byRegister = new Map<number, number[]>();
  const add = (to: Map<number, number[]>, key: number, lane: number) => to.set(key, [...(to.get(key) ?? []), lane]);
  lanes.forEach(({ about }, number) => {
    if (about.kind === "accesses") add(byDevice, about.device, number);
    if (about.kind === "values") add(byRegister, about.register, number);
  });
  return data.names.contexts.map((context) => {
    const place = context === null ? null : data.names.places[context[0]];
    if (place === null) return null;
    const all = [...(byDevice.get(place[0]) ?? []), ...(place[3] === 0 ? [] : (byRegister.get(place[3]) ?? []))];
    return all.length === 0 ? null : Uint16Array.from(all);
  });
}

/** A lane's number of an access; NaN: it has none. */
function valueIn(data: Data, lane: Lane, index: number): number {
  const { about } = lane;
  if (about.kind !== "values" || !hasBusValue(data, index)) return NaN;
  const { trace, names } = data;
  const place = names.places[contextOf(data, index)[0]];
  const into = Number(place[2]) - names.registers[place[3]][1];
  const low = trace.low[index];
  const high = trace.high === null ? 0 : trace.high[index];
  if (about.field === null) return into === 0 ? high * 0x1_0000_0000 + low : NaN;
  const bit = about.field[1] - into * 8;
  const width = about.field[2];
  if (bit < 0 || bit + width > trace.size(index) * 8) return NaN;
  if (bit + width <= 32) return (low >>> bit) & (width === 32 ? -1 : (1 << width) - 1);
  return Number((trace.value(index) >> BigInt(bit)) & ((1n << BigInt(width)) - 1n));
}

/** The values of a lane in each pixel: the last, the least and the greatest one; NaN: there is none. */
class Values {
  readonly last: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
  constructor(width: number) {
    this.last = new Float64Array(width).fill(NaN);
    this.least = new Float64Array(width).fill(Infinity);
    this.most = new Float64Array(width).fill(-Infinity);
  }
  add(x: number, value: number) {
    if (Number.isNaN(value)) return;
    this.last[x] = value;
    this.least[x] = Math.min(this.least[x], value);
    this.most[x] = Math.max(this.most[x], value);
  }
}

const farthest = 100_000; // events that are searched for the value before the window

/** The value that a lane has when the window begins; NaN: not known. */
function valueBefore({ data, events, first, lanes }: Plot, number: number, byContext: (Uint16Array | null)[]): number {
  for (let k = first - 1; k >= 0 && k > first - farthest; k--) {
    if (byContext[data.contexts[events[k]]]?.includes(number) ?? false) {
      const value = valueIn(data, lanes[number], events[k]);
      if (!Number.isNaN(value)) return value;
    }
  }
  return NaN;
}

export function drawAxis(g: CanvasRenderingContext2D, scale: Scale, height: number, colour: Colours) {
  const { times, step } = ticks(scale, 100);
  g.font = "11px system-ui, sans-serif";
  g.fillStyle = colour.dim;
  for (const time of times) {
    const x = Math.round(scale.x(time)) + 0.5;
    g.fillRect(x, height - 4, 1, 4);
    g.fillText(tickText(time, step), x + 4, height - 5);
  }
}

/** Draws the lanes from `top` pixels on. */
export function drawLanes(
  g: CanvasRenderingContext2D,
  plot: Plot,
  byContext: (Uint16Array | null)[],
  top: number,
  height: number,
  colour: Colours,
) {
  const { data, lanes, events, first, end, scale } = plot;
  const { trace, contexts } = data;
  const width = Math.ceil(scale.width);
  const reads = new Uint32Array(lanes.length * width);
  const writes = new Uint32Array(lanes.length * width);
  const values = lanes.map((lane) => (lane.about.kind === "values" ? new Values(width) : null));
  const perTime = scale.width / (scale.to - scale.from);
  for (let k = first; k < end; k++) {
    const index = events[k];
    const in_ = byContext[contexts[index]];
    if (in_ === null) continue;
    const x = Math.min(width - 1, Math.max(0, ((trace.time[index] - scale.from) * perTime) | 0));
    const to = trace.access[index] & 1 ? writes : reads;
    for (const number of in_) {
      const { about } = lanes[number];
      if (about.kind === "values") values[number]!.add(x, valueIn(data, lanes[number], index));
      else if (about.kind === "accesses" && (about.cpu < 0 || about.cpu === trace.cpu[index])) to[number * width + x]++;
    }
  }
  g.font = "11px system-ui, sans-serif";
  for (const time of ticks(scale, 100).times) {
    g.fillStyle = colour.line;
    g.fillRect(Math.round(scale.x(time)), 0, 1, height);
  }
  lanes.forEach((lane, number) => {
    const y = number * laneHeight - top;
    if (y < -laneHeight || y > height) return;
    g.fillStyle = colour.line;
    g.fillRect(0, y + laneHeight - 1, width, 1);
    const { about } = lane;
    if (about.kind === "spans") drawSpans(g, about.spans, trace.cpus, scale, y, colour);
    else if (about.kind === "values") {
      drawValues(g, values[number]!, valueBefore(plot, number, byContext), lane, y, colour);
    } else {
      const from = number * width;
      drawAccesses(g, reads.subarray(from, from + width), writes.subarray(from, from + width), y, colour);
    }
  });
}

// Reads above the middle, writes below it.
function drawAccesses(g: CanvasRenderingContext2D, reads: Uint32Array, writes: Uint32Array, y: number, colour: Colours) {
  const middle = y + laneHeight / 2 - 1;
  const tall = (count: number) => Math.min(laneHeight / 2 - 2, 3 + Math.log2(count));
  g.fillStyle = colour.read;
  reads.forEach((count, x) => count > 0 && g.fillRect(x, middle - tall(count), 1.5, tall(count)));
  g.fillStyle = colour.write;
  writes.forEach((count, x) => count > 0 && g.fillRect(x, middle + 1, 1.5, tall(count)));
}

function drawSpans(g: CanvasRenderingContext2D, spans: Span[], cpus: number, scale: Scale, y: number, colour: Colours) {
  const drawn: number[] = []; // of each part, the last pixel that has something
  for (const [n, span] of spans.entries()) {
    if (span.to < scale.from || span.from > scale.to) continue;
    const x = Math.max(scale.x(span.from), 0);
    const wide = Math.max(Math.min(scale.x(span.to), scale.width) - x, 1);
    const part = span.cpu ?? 0;
    if (x + wide <= (drawn[part] ?? -1) + 0.5) continue;
    drawn[part] = x + wide;
    const tall = (laneHeight - 5) / (span.cpu === undefined ? 1 : cpus);
    const top = y + 2 + part * tall;
    g.fillStyle = colour.window;
    g.fillRect(x, top, wide, tall);
    g.fillStyle = colour.accent;
    g.fillRect(x, top, 1.5, tall);
    const room = Math.min(wide, scale.x(spans[n + 1]?.from ?? Infinity) - x);
    if (room > 30) inside(g, span.text, x + 4, y, room - 6, colour);
  }
}

function inside(g: CanvasRenderingContext2D, text: string, x: number, y: number, wide: number, colour: Colours) {
  g.save();
  g.beginPath();
  g.rect(x, y, wide, laneHeight);
  g.clip();
  g.fillStyle = colour.text;
  g.fillText(text, x, y + laneHeight - 8);
  g.restore();
}

function nameOf(lane: Lane, value: number): string {
  const field = lane.about.kind === "values" ? lane.about.field : null;
  const name = field?.[3].find(([one]) => Number(one) === value)?.[1];
  return name ?? (value < 10 ? String(value) : `0x${value.toString(16)}`);
}

// A step for each change; a bar where a pixel has several values; the value itself where there is room.
function drawValues(g: CanvasRenderingContext2D, values: Values, before: number, lane: Lane, y: number, colour: Colours) {
  let least = Number.isNaN(before) ? Infinity : before;
  let most = Number.isNaN(before) ? -Infinity : before;
  values.least.forEach((value) => (least = Math.min(least, value)));
  values.most.forEach((value) => (most = Math.max(most, value)));
  const bottom = y + laneHeight - 4;
  const tall = laneHeight - 7;
  const level = (value: number) => bottom - (most === least ? (value === 0 ? 0 : tall) : ((value - least) / (most - least)) * tall);
  let now = before;
  let begin = 0;
  const end = values.last.length;
  const step = (to: number) => {
    if (Number.isNaN(now)) return;
    g.fillStyle = colour.accent;
    g.fillRect(begin, level(now) - 0.5, Math.max(to - begin, 1), 1.5);
    const text = nameOf(lane, now);
    if (to - begin > 14 + 7 * text.length) inside(g, text, begin + 4, y, to - begin - 6, colour);
  };
  for (let x = 0; x < end; x++) {
    const last = values.last[x];
    if (Number.isNaN(last)) continue;
    const low = Number.isNaN(now) ? values.least[x] : Math.min(values.least[x], now);
    const high = Number.isNaN(now) ? values.most[x] : Math.max(values.most[x], now);
    if (low === high && last === now) continue;
    step(x);
    g.fillStyle = colour.accent;
    g.fillRect(x, level(high) - 0.5, 1, level(low) - level(high) + 1.5);
    now = last;
    begin = x;
  }
  step(end);
}
