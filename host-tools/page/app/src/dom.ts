// Makes elements.

type Child = Node | string | null | false;
type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

/** An element. A function becomes a listener ("onclick"), false leaves an attribute out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value as unknown as EventListener);
    else if (value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child): child is Node | string => child !== null && child !== false));
  return element;
}

// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- page.html says what it is
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** Replaces what is in a box. The focus stays on the button that does the same: the one with the same data-key. */
export function refill(box: HTMLElement, children: Node[]) {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement && box.contains(focused) ? focused.dataset.key : undefined;
  box.replaceChildren(...children);
  if (key !== undefined) box.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** A canvas's context with the size of its element, in CSS pixels. */
export function context2d(canvas: HTMLCanvasElement): { g: CanvasRenderingContext2D; width: number; height: number } {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const g = canvas.getContext("2d")!;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}

/** Calls `draw` once before the next frame, however often it is asked. */
export function oncePerFrame(draw: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}
