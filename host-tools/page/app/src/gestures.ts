// What a mouse, a touchpad or fingers do on a plot, in pixels from its left edge.

export interface Gestures {
  zoom(factor: number, x: number): void;
  /** Moves the content by this many pixels. */
  pan(by: number): void;
  pick(x: number, y: number): void;
  hover?(x: number, y: number): void;
  leave?(): void;
  /** Shift and drag: from here to there. */
  measure(from: number, to: number): void;
}

const slop = 4; // pixels that a click may move
const wheelSpeed = 1.0015;

export function onGestures(element: HTMLElement, to: Gestures) {
  const pointers = new Map<number, { x: number; y: number }>();
  let begin: { x: number; moved: boolean; measures: boolean } | null = null;
  const place = (event: PointerEvent | WheelEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  element.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { x } = place(event);
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) to.pan(-event.deltaX);
      else to.zoom(wheelSpeed ** (event.ctrlKey ? 4 * event.deltaY : event.deltaY), x); // Ctrl: a touchpad's pinch
    },
    { passive: false },
  );
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    const at = place(event);
    pointers.set(event.pointerId, at);
    begin = pointers.size === 1 ? { x: at.x, moved: false, measures: event.shiftKey } : null;
  });
  element.addEventListener("pointermove", (event) => {
    const at = place(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      to.hover?.(at.x, at.y);
      return;
    }
    pointers.set(event.pointerId, at);
    const others = [...pointers.entries()].filter(([id]) => id !== event.pointerId);
    if (others.length > 0) {
      const other = others[0][1];
      const span = (one: { x: number }) => Math.max(Math.abs(one.x - other.x), 1);
      to.zoom(span(before) / span(at), (at.x + other.x) / 2);
      return;
    }
    if (begin === null) return;
    begin.moved ||= Math.abs(at.x - begin.x) >= slop;
    if (begin.measures) to.measure(begin.x, at.x);
    else if (begin.moved) to.pan(at.x - before.x);
  });
  const end = (event: PointerEvent) => {
    const at = place(event);
    if (pointers.delete(event.pointerId) && begin !== null && !begin.moved && event.type === "pointerup") {
      to.pick(at.x, at.y);
    }
    begin = null;
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("pointerleave", () => to.leave?.());
}
