// The value of a register, or of one of its fields, in the course of time.
import uPlot from "uplot";
import { valuesOf } from "./data.js";
import { colour, count, element, lengthText, secondsText } from "./words.js";

const hex = (value) => "0x" + BigInt(Math.round(value)).toString(16);

// How a field's bits stand in a value.
function fieldOf(value, field) {
  return Number((BigInt(value) >> BigInt(field.low)) & ((1n << BigInt(field.width)) - 1n));
}

/// Points of a plot: times, last values, and in between the bounds of each cell.
function points(series, field) {
  const cells = valuesOf(series);
  const x = [],
    last = [],
    low = [],
    high = [];
  const all = (1n << 64n) - 1n;
  for (let i = 0; i < cells.count; i++) {
    const one = cells.least[i] === cells.most[i];
    const of = field === null ? Number : (value) => fieldOf(value, field);
    // Of bits, only which were ever one and ever zero is known: a field's bounds, exact for one bit.
    const least = field === null || one ? of(cells.least[i]) : of(all & ~BigInt(cells.zeros[i]));
    const most = field === null || one ? of(cells.most[i]) : of(cells.ones[i]);
    for (const time of cells.end[i] > cells.begin[i] ? [cells.begin[i], cells.end[i]] : [cells.begin[i]]) {
      x.push(time);
      last.push(of(cells.last[i]));
      low.push(least);
      high.push(most);
    }
  }
  return { cells, data: [x, last, low, high] };
}

export class ValuePlot {
  constructor(trace, pick) {
    this.trace = trace;
    this.pick = pick;
    this.series = new Map(trace.values.map((one) => [`${one.device} ${one.register}`, one]));
    const names = [...this.series.keys()];
    const id = `registers${trace.label}`;
    this.input = element("input", {
      list: id,
      "aria-label": `register ${trace.label}`,
      size: 32,
      placeholder: "device register",
      onchange: () => this.choose(this.input.value),
      onfocus: () => this.input.select(),
    });
    this.fields = element("select", { "aria-label": `field ${trace.label}`, onchange: () => this.draw() });
    this.says = element("p", { className: "says" }, " ");
    this.frame = element("div", { className: "plot" });
    this.note = element("p", { className: "note" });
    this.element = element(
      "div",
      {},
      element(
        "div",
        { className: "controls" },
        this.input,
        element("datalist", { id }, ...names.map((value) => element("option", { value }))),
        this.fields,
      ),
      this.frame,
      this.says,
      this.note,
    );
  }

  /// Draws it for the first time; its element is in the page.
  start() {
    // The first that is shown has many values, and names.
    const best = this.trace.values.reduce(
      (a, b) => (b.cells.length * (b.fields.length ? 2 : 1) > a.cells.length * (a.fields.length ? 2 : 1) ? b : a),
      this.trace.values[0],
    );
    if (best) this.choose(`${best.device} ${best.register}`);
    new ResizeObserver(() => this.plot?.setSize({ width: this.frame.clientWidth, height: 220 })).observe(this.frame);
  }

  has(name) {
    return this.series.has(name);
  }

  choose(name) {
    const series = this.series.get(name);
    if (!series) return;
    this.input.value = name;
    this.shown = series;
    this.fields.replaceChildren(
      element("option", { value: "" }, "whole value"),
      ...series.fields.map((field, i) => element("option", { value: i }, field.name)),
    );
    this.fields.hidden = series.fields.length === 0;
    this.draw();
  }

  show(from, to) {
    this.view = [from, to];
    this.plot?.setScale("x", { min: from, max: to });
  }

  draw() {
    const series = this.shown;
    const field = this.fields.value === "" ? null : series.fields[Number(this.fields.value)];
    const { cells, data } = points(series, field);
    const named = new Map(field?.values.map(([, value, name]) => [Number(value), name]) ?? []);
    const word = (value) => named.get(value) ?? hex(value);
    const had = (at) => {
      const [, last, low, high] = data.map((column) => column[at]);
      return low === high ? word(last) : `${word(low)} to ${word(high)}, last ${word(last)}`;
    };
    this.plot?.destroy();
    const stroke = () => colour("ink");
    const grid = { stroke: () => colour("grid"), width: 1 };
    const step = uPlot.paths.stepped({ align: 1 });
    this.plot = new uPlot(
      {
        width: this.frame.clientWidth,
        height: 220,
        legend: { show: false },
        cursor: { y: false, drag: { x: true, y: false, dist: 5 } },
        scales: {
          x: { time: false, range: (_, from, to) => this.view ?? [from, to] },
          y: {
            range: (_, low, high) =>
              high > low ? [low - (high - low) * 0.05, high + (high - low) * 0.05] : [low - 1, high + 1],
          },
        },
        axes: [
          {
            stroke,
            grid,
            ticks: grid,
            size: 28,
            space: 90,
            values: (_, splits) => splits.map((time) => `${secondsText(time, splits[1] - splits[0])} s`),
          },
          {
            stroke,
            grid,
            ticks: grid,
            size: this.frame.clientWidth < 600 ? 78 : 190,
            incrs: [1, 2, 4, 8, ...Array.from({ length: 60 }, (_, i) => 2 ** (i + 4))],
            values: (_, splits) => splits.map((value) => (value < 0 || value % 1 ? "" : word(value))),
          },
        ],
        series: [
          {},
          {
            stroke: () => colour("read"),
            width: 1.5,
            paths: step,
            points: { show: cells.count < 400, size: 5, stroke: () => colour("read"), fill: () => colour("read") },
          },
          { paths: step, points: { show: false } },
          { paths: step, points: { show: false } },
        ],
        bands: [{ series: [3, 2], fill: () => colour("band") }],
        hooks: {
          setCursor: [
            (plot) => {
              const at = plot.cursor.idx;
              const none = at === null || at === undefined || !(plot.cursor.left >= 0);
              this.says.textContent = none ? " " : `${secondsText(data[0][at])} s: ${had(at)}`;
            },
          ],
        },
      },
      data,
      this.frame,
    );
    let down = 0;
    this.plot.over.addEventListener("mousedown", (event) => {
      down = event.clientX;
    });
    this.plot.over.addEventListener("click", (event) => {
      const time = this.plot.posToVal(this.plot.cursor.left, "x");
      if (Math.abs(event.clientX - down) >= 4) return;
      let at = cells.begin.findIndex((begin) => begin > time);
      at = (at < 0 ? cells.count : at) - 1;
      if (at >= 0) this.pick(cells.event[at], cells.begin[at]);
    });
    const reads = cells.reads.reduce((a, b) => a + b, 0),
      writes = cells.writes.reduce((a, b) => a + b, 0);
    this.note.textContent =
      `${count(reads)} reads, ${count(writes)} writes. ` +
      (series.width === 1
        ? "Each value that it had."
        : `What it had in ${lengthText(series.width / 1e9)}: the last value as a line, the lowest to the highest as a ` +
          "band" +
          (field && field.width > 1 ? "; of a field with several bits, bounds." : "."));
  }
}
