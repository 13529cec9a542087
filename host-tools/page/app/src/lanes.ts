// The lanes beside the time axis: their labels, the plot, and what a pointer does there.
import { Scale, measuredText } from "./axis";
import { colours, onTheme } from "./colours";
import { byId, context2d, el, oncePerFrame, refill } from "./dom";
import { whole } from "./format";
import { onGestures } from "./gestures";
import { isIn, laneHeight, lanesOf, type DeviceUse, type Lane, type Span } from "./lane";
import { drawAxis, drawLanes, lanesByContext } from "./lane_plot";
import type { Shown, State } from "./state";
import { hideTip, showTip } from "./tip";

const laneType = "application/x-mmioscope-lane";

/** Adds the text, or takes it away. */
const toggled = (all: string[], one: string) => (all.includes(one) ? all.filter((other) => other !== one) : [...all, one]);

/** Pins a lane where another one is; at the end if that is not pinned. */
function placed(pinned: string[], one: string, at: string): string[] {
  const rest = pinned.filter((id) => id !== one);
  const place = pinned.indexOf(at);
  return place < 0 ? [...rest, one] : [...rest.slice(0, place), one, ...rest.slice(place)];
}

export function showLanes(state: State, uses: (now: Shown) => DeviceUse[], spans: Map<string, Span[]>) {
  const { data } = state;
  const scroller = byId("lanes-scroll");
  const plot = byId<HTMLCanvasElement>("plot");
  const axis = byId<HTMLCanvasElement>("axis");
  const labels = byId("lane-labels");
  let lanes: Lane[] = [];
  let byContext: (Uint16Array | null)[] = [];

  const scale = () => new Scale(state.now.from, state.now.to, Math.max(plot.clientWidth, 1));
  /** Places in the matches. */
  const range = () => {
    const { trace } = data;
    const first = state.matchAt(trace.indexAt(state.now.from));
    const last = state.matchAt(trace.indexAt(state.now.to + 1));
    return { first, last };
  };

  const draw = oncePerFrame(() => {
    const colour = colours();
    const { matches, selected, measured } = state.now;
    const { first, last } = range();
    const time = scale();
    const small = context2d(axis);
    drawAxis(small.g, time, small.height, colour);
    const { g, width, height } = context2d(plot);
    drawLanes(g, { data, lanes, events: matches, first, end: last, scale: time }, byContext, scroller.scrollTop, height, colour);
    if (measured !== null) {
      const [from, to] = measured.map((at) => time.x(at)).sort((a, b) => a - b);
      g.fillStyle = colour.window;
      g.fillRect(from, 0, Math.max(to - from, 1), height);
    }
    if (selected >= 0) {
      const x = time.x(data.trace.time[selected]);
      if (x >= 0 && x <= width) {
        g.fillStyle = colour.selected;
        g.fillRect(x - 0.75, 0, 1.5, height);
      }
    }
    byId("window-text").textContent = `${whole(last - first)} of ${whole(matches.length)} matching events in this window`;
    byId("measure-text").textContent =
      measured === null ? "" : measuredText(...measured, state.matchAt(data.trace.indexAt(Math.max(...measured))) - state.matchAt(data.trace.indexAt(Math.min(...measured))));
  });

  const label = (lane: Lane): HTMLElement => {
    const { now } = state;
    const open = now.open.includes(lane.id);
    const pinned = now.pinned.includes(lane.id);
    const place = (one: string, at: string) => state.change({ pinned: placed(state.now.pinned, one, at) });
    /** The arrow keys move a pinned lane. */
    const move = (event: KeyboardEvent) => {
      const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      const at = by === undefined || !pinned ? undefined : now.pinned[now.pinned.indexOf(lane.id) + by];
      if (at === undefined) return;
      event.preventDefault();
      place(lane.id, at);
    };
    return el(
      "li",
      { class: `lane depth${lane.depth}`, draggable: "true",
        ondragstart: (event: DragEvent) => event.dataTransfer!.setData(laneType, lane.id),
        ondragover: (event: DragEvent) => event.dataTransfer!.types.includes(laneType) && event.preventDefault(),
        ondrop: (event: DragEvent) => place(event.dataTransfer!.getData(laneType), lane.id) },
      lane.opens
        ? el("button", { class: "open", "aria-expanded": String(open), title: open ? "Close" : "Show what belongs to it",
            "aria-label": `${open ? "Close" : "Open"} ${lane.id}`, "data-key": `open ${lane.id}`, onclick: () => state.change({ open: toggled(state.now.open, lane.id) }) }, open ? "▾" : "▸")
        : el("span", { class: "open" }),
      el("span", { class: "name", title: lane.id }, lane.label),
      el("button", { class: "pin", "aria-pressed": String(pinned), title: pinned ? "Unpin; the arrow keys move it" : "Pin to the top",
        "aria-label": `Pin ${lane.id}`, "data-key": `pin ${lane.id}`, onkeydown: move, onclick: () => state.change({ pinned: toggled(state.now.pinned, lane.id) }) }, "▴"),
      el("button", { class: "hide", title: "Hide this lane", "aria-label": `Hide ${lane.id}`,
        onclick: () => state.change({ hidden: toggled(state.now.hidden, lane.id) }) }, "×"),
    );
  };

  /** The match in a lane that is nearest to a time, at most some pixels away; -1: none. */
  const nearest = (lane: Lane, x: number): number => {
    const reach = 12;
    const time = scale();
    const { matches } = state.now;
    const at = state.matchAt(data.trace.indexAt(time.time(x)));
    let best = -1;
    let least = reach;
    for (const by of [-1, 1]) {
      for (let k = by < 0 ? at - 1 : at; k >= 0 && k < matches.length; k += by) {
        const away = Math.abs(time.x(data.trace.time[matches[k]]) - x);
        if (away >= least) break;
        if (!isIn(data, lane, matches[k])) continue;
        [best, least] = [matches[k], away];
        break;
      }
    }
    return best;
  };
  const eventAt = (x: number, y: number): { event: number; text: string } => {
    const lane = lanes[Math.floor((y + scroller.scrollTop) / laneHeight)];
    if (lane === undefined) return { event: -1, text: "" };
    if (lane.about.kind !== "spans") return { event: nearest(lane, x), text: "" };
    const time = scale().time(x);
    const slop = 3 * (scale().time(1) - scale().time(0));
    const { spans } = lane.about;
    const span = spans.findLast((one) => one.from <= time && time <= one.to) ?? spans.find((one) => one.from - slop <= time && time <= one.to + slop);
    return span === undefined ? { event: -1, text: "" } : { event: span.event, text: span.text };
  };

  const timeAt = (x: number) => scale().time(x);
  onGestures(plot, {
    zoom: (factor, x) => state.zoom(factor, timeAt(x)),
    pan: (by) => state.move(-by / plot.clientWidth),
    pick: (x, y) => {
      const { event } = eventAt(x, y);
      if (event >= 0) state.select(event);
      else state.change({ measured: null });
    },
    hover: (x, y) => showTip(state, plot, x, y, eventAt(x, y)),
    leave: hideTip,
    measure: (from, to) => state.change({ measured: [timeAt(from), timeAt(to)] }),
  });
  scroller.addEventListener("scroll", draw);
  new ResizeObserver(draw).observe(plot);
  onTheme(draw);
  state.listen((now, before) => {
    const same = now.matches === before.matches && now.pinned === before.pinned && now.hidden === before.hidden && now.open === before.open;
    if (!same || now === before) {
      lanes = lanesOf(data, now, uses(now), spans);
      byContext = lanesByContext({ data, lanes });
      refill(labels, lanes.map(label));
      byId("hidden-lanes").hidden = now.hidden.length === 0;
      byId("hidden-lanes").textContent = `show ${now.hidden.length} hidden`;
    }
    draw();
  });
  byId("hidden-lanes").addEventListener("click", () => state.change({ hidden: [] }));
}
