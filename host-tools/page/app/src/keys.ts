// Keys, and the page that lists them.
import { byId, el } from "./dom";
import type { State } from "./state";

interface Key {
  keys: string[];
  help: string;
  does(state: State): void;
}

const mark = (state: State) => {
  const { selected, measured } = state.now;
  if (selected < 0) return;
  const time = state.data.trace.time[selected];
  state.change({ measured: [measured === null ? time : measured[1], time] });
};

const all: Key[] = [
  { keys: ["/"], help: "write a filter", does: () => byId("filter").focus() },
  { keys: ["n"], help: "next match", does: (state) => state.step(1) },
  { keys: ["p", "N"], help: "previous match", does: (state) => state.step(-1) },
  { keys: ["w", "+"], help: "zoom in", does: (state) => state.zoom(0.5) },
  { keys: ["s", "-"], help: "zoom out", does: (state) => state.zoom(2) },
  { keys: ["a", "ArrowLeft"], help: "move left", does: (state) => state.move(-0.2) },
  { keys: ["d", "ArrowRight"], help: "move right", does: (state) => state.move(0.2) },
  { keys: ["0"], help: "the whole trace", does: (state) => state.change({ from: state.begin, to: state.end }) },
  {
    keys: ["f"],
    help: "the window around the selected event",
    does: (state) => {
      if (state.now.selected < 0) return;
      const time = state.data.trace.time[state.now.selected];
      state.change({ from: time - 500_000, to: time + 500_000 });
    },
  },
  { keys: ["m"], help: "measure from the last mark to the selected event", does: mark },
  {
    keys: ["e"],
    help: "write a note on the selected event",
    does: () => document.getElementById("note")?.focus(),
  },
  {
    keys: ["Escape"],
    help: "no selection, no measuring",
    does: (state) => state.change({ selected: -1, measured: null }),
  },
  { keys: ["?"], help: "these keys", does: () => byId<HTMLDialogElement>("help").showModal() },
];

export function listenToKeys(state: State) {
  byId("help-keys").append(
    ...all.flatMap(({ keys, help }) => [el("dt", {}, ...keys.flatMap((key, n) => [n > 0 ? " or " : "", el("kbd", {}, key)])), el("dd", {}, help)]),
  );
  byId("help-open").addEventListener("click", () => byId<HTMLDialogElement>("help").showModal());
  window.addEventListener("keydown", (event) => {
    const target = event.target as HTMLElement;
    const writes = target.closest("input, textarea") !== null;
    const uses = target.closest("[role=grid], [role=tablist]") !== null && event.key.startsWith("Arrow");
    if (writes || uses || event.ctrlKey || event.metaKey || event.altKey || byId<HTMLDialogElement>("help").open) return;
    const key = all.find(({ keys }) => keys.includes(event.key));
    if (key === undefined) return;
    event.preventDefault();
    key.does(state);
  });
}
