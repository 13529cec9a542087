// The whole trace in one strip: all events, those that match, and the window of the lanes, which can be dragged.
import { colours, onTheme } from "./colours";
import { context2d, oncePerFrame } from "./dom";
import { onGestures } from "./gestures";
import type { State } from "./state";

/** How many of these events begin in each pixel. */
function density(indices: Uint32Array, state: State, width: number): Uint32Array {
  const { begin, end, data } = state;
  const { time } = data.trace;
  const columns = new Uint32Array(width);
  const scale = (width - 1) / (end - begin);
  for (const index of indices) columns[Math.max(0, ((time[index] - begin) * scale) | 0)]++;
  return columns;
}

export function showMinimap(canvas: HTMLCanvasElement, state: State) {
  const { begin, end } = state;
  let all: Uint32Array = new Uint32Array(0);
  let some: Uint32Array = new Uint32Array(0);
  let of: Uint32Array | null = null; // the matches that `some` counts

  const draw = oncePerFrame(() => {
    const { g, width, height } = context2d(canvas);
    if (width === 0) return;
    const { matches, from, to } = state.now;
    if (all.length !== width) {
      all = density(state.all, state, width);
      of = null;
    }
    if (of !== matches) some = density((of = matches), state, width);
    const colour = colours();
    const most = Math.log2(1 + all.reduce((a, b) => Math.max(a, b), 1));
    const bars = (columns: Uint32Array, style: string) => {
      g.fillStyle = style;
      columns.forEach((count, x) => {
        if (count === 0) return;
        const tall = Math.max(2, (Math.log2(1 + count) / most) * (height - 4));
        g.fillRect(x, height - tall, 1, tall);
      });
    };
    bars(all, colour.line);
    bars(some, colour.accent);
    const x = ((from - begin) / (end - begin)) * width;
    const wide = Math.max(3, ((to - from) / (end - begin)) * width);
    g.fillStyle = colour.window;
    g.fillRect(x, 0, wide, height);
    g.strokeStyle = colour.accent;
    g.strokeRect(x + 0.5, 0.5, wide - 1, height - 1);
  });

  const timeAt = (x: number) => begin + (x / canvas.clientWidth) * (end - begin);
  const centre = (time: number) => {
    const half = (state.now.to - state.now.from) / 2;
    state.change({ from: time - half, to: time + half });
  };
  onGestures(canvas, {
    zoom: (factor, x) => state.zoom(factor, timeAt(x)),
    pan: (by) => {
      const time = (by / canvas.clientWidth) * (end - begin);
      state.change({ from: state.now.from + time, to: state.now.to + time });
    },
    pick: (x) => centre(timeAt(x)),
    measure: (from, to) => state.change({ from: timeAt(Math.min(from, to)), to: timeAt(Math.max(from, to)) }),
  });
  new ResizeObserver(draw).observe(canvas);
  onTheme(draw);
  state.listen(draw);
}
