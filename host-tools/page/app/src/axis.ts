// Times along the width of a plot.
import { length, seconds } from "./format";

/** Maps the window's times to pixels. */
export class Scale {
  constructor(
    readonly from: number,
    readonly to: number,
    readonly width: number,
  ) {}
  x(time: number): number {
    return ((time - this.from) / (this.to - this.from)) * this.width;
  }
  time(x: number): number {
    return this.from + (x / this.width) * (this.to - this.from);
  }
}

/** Round times that are about `apart` pixels from each other. */
export function ticks({ from, to, width }: Scale, apart: number): { times: number[]; step: number } {
  const least = ((to - from) * apart) / width;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least) ?? least);
  const times = [];
  for (let n = Math.ceil(from / step); n * step < to; n++) times.push(n * step);
  return { times, step };
}

/** A tick's time in seconds, with the digits that its step needs. */
export function tickText(time: number, step: number): string {
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / 1e9))));
  return `${(time / 1e9).toFixed(digits)} s`;
}

/** What is between two measured times. */
export function measuredText(from: number, to: number, events: number): string {
  const rate = events / (Math.abs(to - from) / 1e9);
  return `${length(Math.abs(to - from))} from ${seconds(Math.min(from, to))} s, ${events.toLocaleString("en")} matching events${
    Number.isFinite(rate) && events > 1 ? `, ${Math.round(rate).toLocaleString("en")} in a second` : ""
  }`;
}
