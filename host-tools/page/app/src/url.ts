// The fragment of the page's address has the filter, the window, the event and the lanes: a link opens the page there.
import { eventsTitle, type Change, type State } from "./state";

const lists = ["pinned", "hidden", "open"] as const;

function write(state: State): string {
  const { now, begin, end } = state;
  const words = new URLSearchParams();
  if (now.filter !== "") words.set("q", now.filter);
  if (now.from > begin || now.to < end) words.set("t", `${(now.from / 1e9).toFixed(9)}-${(now.to / 1e9).toFixed(9)}`);
  if (now.selected >= 0) words.set("e", String(now.selected + 1));
  if (now.measured !== null) words.set("m", now.measured.map((ns) => (ns / 1e9).toFixed(9)).join("-"));
  if (now.table !== eventsTitle) words.set("table", now.table);
  for (const name of lists) for (const lane of now[name]) words.append(name, lane); // a name may have commas
  return words.size === 0 ? " " : `#${words}`;
}

/** Two times in seconds, as nanoseconds; null: it is something else. */
function times(text: string | null): [number, number] | null {
  const found = /^([0-9.]+)-([0-9.]+)$/.exec(text ?? "");
  return found === null ? null : [Number(found[1]) * 1e9, Number(found[2]) * 1e9];
}

function read(state: State): Change {
  const words = new URLSearchParams(location.hash.slice(1));
  const window = times(words.get("t"));
  const event = Number(words.get("e") ?? 0);
  const change: Change = {
    filter: words.get("q") ?? "",
    from: window?.[0] ?? state.begin,
    to: window?.[1] ?? state.end,
    selected: Number.isInteger(event) && event > 0 && event <= state.data.trace.count ? event - 1 : -1,
    measured: times(words.get("m")),
    table: words.get("table") ?? eventsTitle,
  };
  for (const name of lists) change[name] = words.getAll(name);
  return change;
}

export function keepInUrl(state: State) {
  state.change(read(state));
  let timer = 0;
  state.listen(() => {
    clearTimeout(timer); // browsers refuse more than some hundred changes a minute
    timer = window.setTimeout(() => history.replaceState(null, "", write(state)), 200);
  });
  window.addEventListener("hashchange", () => state.change(read(state)));
}
