// All matching events, one line each. Only the lines in sight are elements.
import { deviceText, isAccess, placeOf, type Data } from "./data";
import { byId, el, oncePerFrame } from "./dom";
import { accessText, meaningText, registerText, seconds, valueText, whoText } from "./format";
import type { NoteBook } from "./notes";
import type { State } from "./state";

const lineHeight = 20;
const tallest = 8_000_000; // pixels: browsers draw nothing below some 16 million

export function showList(state: State, notes: NoteBook) {
  const { data } = state;
  const box = byId("list");
  const inner = byId("list-lines");
  const space = byId("list-space");
  const lines = () => state.now.matches.length;
  const inSight = () => Math.max(1, Math.floor(box.clientHeight / lineHeight));
  /** The place in the matches of the first line in sight. */
  let top = 0;

  // A list that is taller than `tallest` moves by more than a line for each pixel of its scroll bar.
  const tall = () => Math.min(lines() * lineHeight, tallest);
  const most = () => Math.max(0, lines() - inSight());
  const linesAt = (scrolled: number) => {
    const room = tall() - box.clientHeight;
    return room <= 0 ? 0 : Math.round((scrolled / room) * most());
  };
  const pixelsAt = (line: number) => (most() === 0 ? 0 : (line / most()) * (tall() - box.clientHeight));

  const draw = oncePerFrame(() => {
    space.style.height = `${tall()}px`;
    inner.style.top = `${box.scrollTop}px`;
    const { matches, selected } = state.now;
    const shown = matches.subarray(top, top + inSight() + 1);
    inner.replaceChildren(...Array.from(shown, (index, k) => lineOf(data, notes, index, index === selected, top + k)));
    box.setAttribute("aria-rowcount", String(lines()));
    const active = inner.querySelector(".selected");
    if (active !== null) box.setAttribute("aria-activedescendant", active.id);
    else box.removeAttribute("aria-activedescendant");
  });
  const show = (line: number) => {
    top = Math.max(0, Math.min(line, most()));
    box.scrollTop = pixelsAt(top);
    draw();
  };
  /** Brings the selected event into sight; if it does not match, the match after it. */
  const follow = () => {
    const line = state.matchAt(Math.max(state.now.selected, 0));
    if (line < top || line >= top + inSight()) show(line - Math.floor(inSight() / 3));
    else draw();
  };

  box.addEventListener("scroll", () => {
    const line = linesAt(box.scrollTop);
    if (Math.abs(pixelsAt(top) - box.scrollTop) >= 1) top = line;
    draw();
  });
  box.addEventListener(
    "wheel",
    (event) => {
      if (tall() < tallest) return;
      event.preventDefault();
      show(top + Math.round(event.deltaY / lineHeight));
    },
    { passive: false },
  );
  inner.addEventListener("click", (event) => {
    const line = (event.target as HTMLElement).closest<HTMLElement>("[data-event]");
    if (line !== null) state.select(Number(line.dataset.event));
  });
  box.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: inSight(), PageUp: -inSight() }[event.key];
    const to = event.key === "Home" ? 0 : event.key === "End" ? lines() - 1 : by === undefined ? null : at() + by;
    if (to === null || lines() === 0) return;
    event.preventDefault();
    state.select(state.now.matches[Math.max(0, Math.min(to, lines() - 1))]);
  });
  const at = () => (state.now.selected < 0 ? -1 : state.matchAt(state.now.selected));
  new ResizeObserver(draw).observe(box);
  notes.listen(draw);
  state.listen((now, before) => {
    if (now.matches !== before.matches || now === before) {
      space.style.height = `${tall()}px`;
      show(now.selected >= 0 ? state.matchAt(now.selected) - Math.floor(inSight() / 3) : 0);
    } else if (now.selected !== before.selected) follow();
    else draw();
  });
}

function lineOf(data: Data, notes: NoteBook, index: number, selected: boolean, line: number): HTMLElement {
  const kind = isAccess(data, index) ? (data.trace.writes(index) ? "w" : "r") : "other";
  const cell = (name: string, text: string) => el("span", { class: name, role: "gridcell", title: name === "what" || name === "who" ? text : false }, text);
  const note = notes.of(index + 1);
  return el(
    "div",
    {
      class: `line ${kind}${selected ? " selected" : ""}`,
      role: "row",
      id: `line-${index + 1}`,
      "aria-rowindex": line + 1,
      "aria-selected": String(selected),
      "data-event": index,
    },
    cell("number", String(index + 1)),
    cell("time", seconds(data.trace.time[index])),
    cell("cpu", `cpu${data.trace.cpu[index]}`),
    cell("access", accessText(data, index)),
    cell("device", deviceText(data, placeOf(data, index))),
    cell("register", registerText(data, index)),
    cell("value", valueText(data, index)),
    cell("what", [note === "" ? "" : `✎ ${note}`, meaningText(data, index)].filter((text) => text !== "").join("  ")),
    cell("who", whoText(data, index)),
  );
}
