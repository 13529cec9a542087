// The page's colours, as the style sheet has them for light and dark.

export interface Colours {
  text: string;
  dim: string;
  line: string;
  read: string;
  write: string;
  accent: string;
  selected: string;
  window: string;
}

let known: Colours | null = null;
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (known = null));

export function colours(): Colours {
  if (known === null) {
    const style = getComputedStyle(document.documentElement);
    const get = (name: string) => style.getPropertyValue(`--${name}`).trim();
    known = {
      text: get("text"),
      dim: get("dim"),
      line: get("line"),
      read: get("read"),
      write: get("write"),
      accent: get("accent"),
      selected: get("mark"),
      window: get("window"),
    };
  }
  return known;
}

/** Calls `draw` when the system changes between light and dark. */
export function onTheme(draw: () => void) {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
