// What the user sees now. Everything that shows something listens to it; the URL keeps it.
import type { Data } from "./data";
import { FilterError } from "./filter/tokens";
import { select } from "./filter/evaluate";
import { kindOf } from "./trace";

/** The title of the list, which stands among those of the tables. */
export const eventsTitle = "Events";

export interface Shown {
  filter: string;
  /** Why the filter is wrong; then the matches are those of the last right one. */
  error: FilterError | null;
  /** Indices of the events that match, in the order of the trace. */
  matches: Uint32Array;
  /** The window of the lanes, in nanoseconds. */
  from: number;
  to: number;
  /** The index of the selected event; -1: none. */
  selected: number;
  /** Two times that the user measures between; null: none. */
  measured: [number, number] | null;
  pinned: string[];
  hidden: string[];
  /** Devices whose registers have lanes. */
  open: string[];
  /** The title of the table that is shown, or of the list. */
  table: string;
}
export type Change = Partial<Omit<Shown, "matches" | "error">>;

export class State {
  readonly begin: number;
  readonly end: number;
  now: Shown;
  /** Events that a filter chooses from: all, except the hypervisor's own accesses unless the filter asks for them. */
  readonly all: Uint32Array;
  private readonly listeners: ((now: Shown, before: Shown) => void)[] = [];

  constructor(readonly data: Data) {
    const { trace } = data;
    this.all = select("", data).filter((index) => trace.type[index] !== kindOf.own);
    const first = this.all.find((index) => trace.type[index] === kindOf.access) ?? 0;
    this.begin = trace.count > 0 ? trace.time[first] : 0;
    this.end = trace.count > 0 ? Math.max(trace.time[trace.count - 1], this.begin + 1) : 1;
    this.now = {
      filter: "",
      error: null,
      matches: this.all,
      from: this.begin,
      to: this.end,
      selected: -1,
      measured: null,
      pinned: [],
      hidden: [],
      open: [],
      table: eventsTitle,
    };
  }

  listen(listener: (now: Shown, before: Shown) => void) {
    this.listeners.push(listener);
    listener(this.now, this.now);
  }

  change(change: Change) {
    const before = this.now;
    const next: Shown = { ...before, ...change };
    if (next.filter !== before.filter) this.filter(next);
    const least = 1; // ns
    const span = Math.min(Math.max(next.to - next.from, least), this.end - this.begin);
    next.from = Math.min(Math.max(next.from, this.begin), this.end - span);
    next.to = next.from + span;
    this.now = next;
    for (const listener of this.listeners) listener(next, before);
  }

  private filter(next: Shown) {
    next.error = null;
    if (next.filter.trim() === "") {
      next.matches = this.all;
      return;
    }
    try {
      next.matches = select(next.filter, this.data);
    } catch (error) {
      if (!(error instanceof FilterError)) throw error;
      next.error = error;
    }
  }

  /** Selects an event, and moves the window to it if it is outside. */
  select(index: number) {
    const { from, to } = this.now;
    const time = this.data.trace.time[index];
    const half = (to - from) / 2;
    this.change(time < from || time > to ? { selected: index, from: time - half, to: time + half } : { selected: index });
  }

  /** The place of the first match at or behind this index. */
  matchAt(index: number): number {
    const { matches } = this.now;
    let low = 0;
    for (let high = matches.length; low < high;) {
      const middle = (low + high) >> 1;
      if (matches[middle] < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Selects the next match, or the one before. */
  step(by: 1 | -1) {
    const { matches, selected } = this.now;
    if (matches.length === 0) return;
    const at = this.matchAt(selected);
    const next = by < 0 ? at - 1 : matches[at] === selected ? at + 1 : at;
    if (next >= 0 && next < matches.length) this.select(matches[next]);
  }

  zoom(factor: number, around = (this.now.from + this.now.to) / 2) {
    const { from, to } = this.now;
    this.change({ from: around - (around - from) * factor, to: around + (to - around) * factor });
  }
  move(part: number) {
    const by = (this.now.to - this.now.from) * part;
    this.change({ from: this.now.from + by, to: this.now.to + by });
  }
}
