// The timeline: a lane for each device and CPU.
import uPlot from "uplot";
import { colour, count, element, button, lengthText, secondsText } from "./words.js";

const height = 26; // of a lane, in pixels
const few = 16; // lanes that are shown at first
const closest = 2e-8; // seconds that are in view at least

/// What a lane's bars show.
const measures = {
  accesses: { title: "accesses", of: (lane, i) => lane.reads[i] + lane.writes[i], split: true },
  time: { title: "time in the device", of: (lane, i) => lane.spent[i] * 1e9, split: false },
  longest: { title: "longest access", of: (lane, i) => lane.longest[i] * 1e9, split: false, most: true },
};

// The first index at which `numbers`, which ascend, are at least `least`.
function lowerBound(numbers, least) {
  let from = 0,
    to = numbers.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (numbers[middle] < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

// The accesses that took longest, as [lane, cell].
function slowest(lanes, most) {
  const all = [];
  lanes.forEach((lane, at) => {
    for (let i = 0; i < lane.count; i++) if (lane.longest[i] > 0) all.push([at, i]);
  });
  return all.sort((a, b) => lanes[b[0]].longest[b[1]] - lanes[a[0]].longest[a[1]]).slice(0, most);
}

export class Timeline {
  /// `pick(number, time)`: an access was clicked. `moved(from, to)`: what is in view, in seconds.
  constructor(trace, pick, moved) {
    this.trace = trace;
    this.pick = pick;
    this.moved = moved;
    this.measure = "accesses";
    this.slow = slowest(trace.lanes, trace.excerpts.slowest);
    this.begin = trace.begin;
    this.end = Math.max(trace.end, trace.begin + closest);
    this.phases = this.phasesOf();
    this.shown = Math.min(few, trace.lanes.length);
    this.marked = null;
    this.says = element("p", { className: "says" }, " ");
    this.frame = element("div", {
      className: "lanes",
      tabIndex: 0,
      role: "group",
      "aria-label": `timeline ${trace.label}: arrow keys move, plus and minus zoom, 0 shows all`,
      onkeydown: (event) => this.key(event),
    });
    const select = element(
      "select",
      {
        "aria-label": "what the bars show",
        onchange: (event) => {
          this.measure = event.target.value;
          this.plot.redraw();
        },
      },
      ...Object.entries(measures)
        .filter(([name]) => name === "accesses" || trace.hz > 0)
        .map(([value, { title }]) => element("option", { value }, title)),
    );
    this.element = element(
      "div",
      {},
      element(
        "div",
        { className: "controls" },
        select,
        button("◀", () => this.move(-0.5), { title: "earlier", "aria-label": "earlier" }),
        button("▶", () => this.move(0.5), { title: "later", "aria-label": "later" }),
        button("+", () => this.zoom(0.5), { title: "zoom in", "aria-label": "zoom in" }),
        button("−", () => this.zoom(2), { title: "zoom out", "aria-label": "zoom out" }),
        button("whole trace", () => this.show(this.begin, this.end)),
        this.more(),
      ),
      this.frame,
      this.says,
      this.marks(),
      trace.lanes_left_out === 0
        ? null
        : element("p", { className: "note" }, `${count(trace.lanes_left_out)} accesses of other devices have no lane`),
    );
  }

  // For the lanes that are not shown at first.
  more() {
    const count = this.trace.lanes.length;
    return count === this.shown
      ? null
      : button(`all ${count} lanes`, (event) => {
          const range = this.range;
          this.shown = count;
          event.target.remove();
          this.plot.destroy();
          this.start();
          this.show(...range);
        });
  }

  // Marks and losses, which are dashed lines, in words.
  marks() {
    const of = this.trace.marks;
    if (of.length === 0) return null;
    const line = ([ns, event, text]) =>
      element(
        "li",
        {},
        button(`${secondsText(ns / 1e9)} s`, () => (event === 0 ? this.mark(ns / 1e9) : this.pick(event, ns / 1e9)), {
          className: "link",
        }),
        ` ${text}`,
      );
    return element(
      "details",
      {},
      element("summary", {}, `${of.length} marks and losses`),
      element("ul", {}, ...of.map(line)),
    );
  }

  phasesOf() {
    const { columns, rows } = this.trace.tables.phases;
    const at = (name) => columns.findIndex((column) => column.name === name);
    const begin = at("begin_ns"),
      name = at("name"),
      from = at("boundary");
    return rows.map((row) => ({ begin: parseFloat(row[begin]), name: row[name] === "-" ? row[from] : row[name] }));
  }

  /// Draws it for the first time; its element is in the page.
  start() {
    const narrow = this.frame.clientWidth < 600;
    this.first = 1; // the lane of the phases stands above
    this.rows = this.shown + this.first;
    const name = (row) => (row === 0 ? "phases" : this.nameOf(this.trace.lanes[row - 1], narrow));
    this.inside = narrow ? name : null;
    this.plot = new uPlot(
      {
        width: this.frame.clientWidth,
        height: this.rows * height + 34,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false, dist: 5 } },
        scales: {
          x: { time: false, range: (_, from, to) => [from, to] },
          y: { range: [0, this.rows], dir: -1 },
        },
        axes: [
          {
            side: 0,
            stroke: () => colour("ink"),
            grid: { stroke: () => colour("grid"), width: 1 },
            ticks: { stroke: () => colour("grid") },
            size: 28,
            values: (_, splits) => splits.map((time) => `${secondsText(time, splits[1] - splits[0])} s`),
            space: 90,
          },
          {
            show: !narrow,
            stroke: () => colour("ink"),
            size: 190,
            gap: 4,
            grid: { show: false },
            ticks: { show: false },
            splits: () => Array.from({ length: this.rows }, (_, row) => row + 0.5),
            values: (_, splits) => splits.map((at) => name(at - 0.5)),
          },
        ],
        series: [{}, { paths: () => null, points: { show: false } }],
        hooks: {
          draw: [(plot) => this.draw(plot)],
          setCursor: [(plot) => this.tell(plot)],
          setScale: [(plot, key) => key === "x" && this.moved(plot.scales.x.min, plot.scales.x.max)],
        },
      },
      [
        [this.begin, this.end],
        [0, 0],
      ],
      this.frame,
    );
    let down = 0;
    this.plot.over.addEventListener("mousedown", (event) => {
      down = event.clientX;
    });
    this.plot.over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) >= 4) return;
      if (this.plot.cursor.top < height) this.showPhase(this.plot.posToVal(this.plot.cursor.left, "x"));
      else this.click(this.found(this.plot));
    });
    this.resized ??= new ResizeObserver(() =>
      this.plot.setSize({ width: this.frame.clientWidth, height: this.plot.height }),
    );
    this.resized.observe(this.frame);
  }

  nameOf(lane, short) {
    const device = short || lane.device.length > 24 ? lane.device.replace(/@.*(?=\[)|@.*/, "") : lane.device;
    return `${device} cpu${lane.cpu}`;
  }

  get range() {
    return [this.plot.scales.x.min, this.plot.scales.x.max];
  }

  show(from, to) {
    const length = Math.min(Math.max(to - from, closest), this.end - this.begin);
    const begin = Math.min(Math.max(from, this.begin), this.end - length);
    this.plot.setScale("x", { min: begin, max: begin + length });
  }
  move(part) {
    const [from, to] = this.range;
    this.show(from + (to - from) * part, to + (to - from) * part);
  }
  zoom(factor, around) {
    const [from, to] = this.range;
    const middle =
      around ?? (this.marked !== null && this.marked >= from && this.marked <= to ? this.marked : (from + to) / 2);
    this.show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  }
  key(event) {
    const does = {
      ArrowLeft: () => this.move(-0.25),
      ArrowRight: () => this.move(0.25),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.show(this.begin, this.end),
      Enter: () => this.click(this.nearest(this.marked ?? (this.range[0] + this.range[1]) / 2)),
    }[event.key];
    if (does && !event.ctrlKey && !event.metaKey && !event.altKey) {
      does();
      event.preventDefault();
    }
  }

  /// A line at this time, which comes into view.
  mark(time) {
    this.marked = time;
    const [from, to] = this.range;
    if (time < from || time > to) this.show(time - (to - from) / 2, time + (to - from) / 2);
    else this.plot.redraw();
  }

  // The cell under the cursor, or the nearest within a few pixels: [lane, cell]; null: none.
  found(plot) {
    const { left, top } = plot.cursor;
    const lane = Math.floor(plot.posToVal(top, "y")) - this.first;
    if (!(left >= 0) || lane < 0 || lane >= this.shown) return null;
    const near = plot.posToVal(left + 6, "x") - plot.posToVal(left, "x");
    return this.cell(lane, plot.posToVal(left, "x"), near);
  }
  cell(lane, time, near) {
    const of = this.trace.lanes[lane];
    const right = lowerBound(of.begin, time);
    const distance = (i) => (i < 0 || i >= of.count ? Infinity : Math.max(of.begin[i] - time, time - of.end[i], 0));
    const at = distance(right - 1) <= distance(right) ? right - 1 : right;
    return distance(at) <= near ? [lane, at] : null;
  }
  nearest(time) {
    return (
      this.trace.lanes
        .map((_, lane) => this.cell(lane, time, Infinity))
        .filter(Boolean)
        .sort((a, b) => this.away(a, time) - this.away(b, time))[0] ?? null
    );
  }
  away([lane, i], time) {
    return Math.abs(this.trace.lanes[lane].begin[i] - time);
  }

  // The phase that goes on at this time.
  showPhase(time) {
    const next = this.phases.findIndex(({ begin }) => begin > time);
    const at = (next < 0 ? this.phases.length : next) - 1;
    if (at >= 0) this.show(this.phases[at].begin, next < 0 ? this.end : this.phases[next].begin);
  }

  click(found) {
    if (found) {
      const lane = this.trace.lanes[found[0]];
      this.pick(lane.event[found[1]], lane.begin[found[1]]);
    }
  }

  tell(plot) {
    const found = this.found(plot);
    if (!found) {
      this.says.textContent = " ";
      return;
    }
    const lane = this.trace.lanes[found[0]],
      i = found[1];
    const reads = lane.reads[i],
      writes = lane.writes[i];
    const several = reads + writes > 1;
    const all = `${count(reads + writes)} accesses in ${lengthText(lane.end[i] - lane.begin[i])}`;
    const what = several ? `${all}: ${count(reads)} reads, ${count(writes)} writes` : reads ? "a read" : "a write";
    const took = this.trace.hz === 0 ? "" : `, ${several ? "longest" : "took"} ${lengthText(lane.longest[i])}`;
    const where = `${secondsText(lane.begin[i])} s  ${lane.device} cpu${lane.cpu}`;
    this.says.textContent = `${where}: ${what}${took}; event ${lane.event[i]}`;
  }

  draw(plot) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const [from, to] = this.range;
    const row = bbox.height / this.rows;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = `${11 * ratio}px sans-serif`;
    ctx.textAlign = "left";
    this.drawPhases(plot, row, ratio);
    const measure = measures[this.measure];
    const columns = Math.ceil(bbox.width / ratio) + 1;
    const made = this.trace.lanes.slice(0, this.shown).map((lane) => this.columnsOf(lane, measure, from, to, columns));
    const most = Math.max(1, ...made.map(({ all }) => all.reduce((a, b) => Math.max(a, b), 0)));
    made.forEach(({ all, writes }, at) => {
      const bottom = bbox.top + (at + 1 + this.first) * row;
      ctx.fillStyle = colour("grid");
      ctx.fillRect(bbox.left, bottom - ratio, bbox.width, ratio);
      for (let x = 0; x < columns; x++) {
        if (all[x] === 0) continue;
        const high = Math.max(3 * ratio, ((row - 6 * ratio) * Math.log1p(all[x])) / Math.log1p(most));
        const low = measure.split ? (high * writes[x]) / all[x] : 0;
        const left = bbox.left + x * ratio;
        ctx.fillStyle = colour(measure.split ? "read" : "time");
        ctx.fillRect(left, bottom - ratio - high, ratio, high - low);
        if (low > 0) {
          ctx.fillStyle = colour("write");
          ctx.fillRect(left, bottom - ratio - low, ratio, low);
        }
      }
      if (this.inside) {
        ctx.fillStyle = colour("ink");
        ctx.textBaseline = "top";
        ctx.fillText(this.inside(at + this.first), bbox.left + 3 * ratio, bottom - row + ratio);
      }
    });
    this.drawSlow(plot, row, ratio, from, to);
    this.drawLines(plot, ratio, from, to);
    ctx.restore();
  }

  // What a lane has in each column of pixels between two times.
  columnsOf(lane, measure, from, to, columns) {
    const all = new Float64Array(columns),
      writes = new Float64Array(columns);
    const scale = (columns - 1) / (to - from);
    for (let i = Math.max(0, lowerBound(lane.begin, from) - 1); i < lane.count && lane.begin[i] <= to; i++) {
      const first = Math.max(0, Math.floor((lane.begin[i] - from) * scale));
      const last = Math.min(columns - 1, Math.max(first, Math.floor((lane.end[i] - from) * scale)));
      const value = measure.of(lane, i);
      if ((lane.end[i] - from) * scale < 0) continue;
      for (let x = first; x <= last; x++) {
        all[x] = measure.most ? Math.max(all[x], value) : all[x] + value / (last - first + 1);
        writes[x] += lane.writes[i] / (last - first + 1);
      }
    }
    return { all, writes };
  }

  drawPhases(plot, row, ratio) {
    const { ctx, bbox } = plot;
    this.phases.forEach((phase, i) => {
      const left = Math.max(bbox.left, plot.valToPos(phase.begin, "x", true));
      const right = Math.min(
        bbox.left + bbox.width,
        i + 1 < this.phases.length ? plot.valToPos(this.phases[i + 1].begin, "x", true) : Infinity,
      );
      if (right <= left) return;
      ctx.fillStyle = colour(i % 2 ? "band" : "band2");
      ctx.fillRect(left, bbox.top, right - left, row - 2 * ratio);
      if (right - left > 30 * ratio) {
        ctx.save();
        ctx.beginPath();
        ctx.rect(left, bbox.top, right - left - 3 * ratio, row);
        ctx.clip();
        ctx.fillStyle = colour("ink");
        ctx.textBaseline = "middle";
        ctx.fillText(phase.name, left + 3 * ratio, bbox.top + row / 2 - ratio);
        ctx.restore();
      }
    });
  }

  // Triangles over the accesses that took longest.
  drawSlow(plot, row, ratio, from, to) {
    const { ctx, bbox } = plot;
    ctx.fillStyle = colour("ink");
    for (const [lane, i] of this.slow) {
      const time = this.trace.lanes[lane].begin[i];
      if (lane >= this.shown || time < from || time > to) continue;
      const x = plot.valToPos(time, "x", true),
        top = bbox.top + (lane + this.first) * row + ratio;
      ctx.beginPath();
      ctx.moveTo(x - 3 * ratio, top);
      ctx.lineTo(x + 3 * ratio, top);
      ctx.lineTo(x, top + 5 * ratio);
      ctx.fill();
    }
  }

  drawLines(plot, ratio, from, to) {
    const { ctx, bbox } = plot;
    const line = (time, dash, name) => {
      if (time < from || time > to) return;
      ctx.strokeStyle = colour(name);
      ctx.lineWidth = ratio;
      ctx.setLineDash(dash);
      ctx.beginPath();
      const x = Math.round(plot.valToPos(time, "x", true)) + 0.5;
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    };
    for (const [ns] of this.trace.marks) line(ns / 1e9, [2 * ratio, 3 * ratio], "ink");
    if (this.marked !== null) line(this.marked, [], "mark");
    ctx.setLineDash([]);
  }
}
