// The page: reads its data, and shows it.
import { callSpans } from "./calls";
import { showDevices } from "./devices";
import { byId, el } from "./dom";
import { showFilter } from "./filter_box";
import { showInspector } from "./inspector";
import { listenToKeys } from "./keys";
import { interruptSpans, interruptTable, phaseSpans, textSpans, usesOf, type DeviceUse, type Span } from "./lane";
import { showLanes } from "./lanes";
import { showList } from "./list";
import { select } from "./filter/evaluate";
import { load } from "./load";
import { showMinimap } from "./minimap";
import { moveSpans } from "./moves";
import { NoteBook } from "./notes";
import { State, type Shown } from "./state";
import { showTables } from "./tables";
import { keepInUrl } from "./url";

/** A file that the browser saves. */
function download(name: string, bytes: BlobPart, type: string) {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  el("a", { href: url, download: name }).click();
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Remembers what was computed for the last matches. */
function byMatches(state: State): (now: Shown) => DeviceUse[] {
  let of: Uint32Array | null = null;
  let uses: DeviceUse[] = [];
  return (now) => {
    if (of !== now.matches) uses = usesOf(state.data, (of = now.matches));
    return uses;
  };
}

/** On a narrow screen one pane at a time. */
function showPanes(state: State) {
  const panes = ["devices-pane", "overview", "behind", "inspector-pane"];
  const show = (pane: string) => {
    document.body.dataset.pane = pane;
    for (const one of panes) byId(`show-${one}`).setAttribute("aria-pressed", String(one === pane));
  };
  for (const pane of panes) byId(`show-${pane}`).addEventListener("click", () => show(pane));
  show("behind");
  state.listen((now, before) => {
    if (now.filter !== before.filter && document.body.dataset.pane === "devices-pane") show("behind");
  });
}

async function main() {
  const progress = byId("loading");
  let shown = performance.now();
  const passed = (part: number) => {
    if (performance.now() - shown < 100) return undefined;
    shown = performance.now();
    progress.textContent = `Reading the trace: ${Math.round(part * 100)} %`;
    return new Promise<void>((go) => window.setTimeout(go));
  };
  const data = await load((id) => byId(id).textContent, passed);
  for (const id of ["names", "contexts", "trace"]) byId(id).remove(); // their text is not needed twice
  const { facts } = data;
  document.title = `${facts.name} - mmioscope`;
  byId("trace-name").textContent = facts.name + (facts.cut ? " (a part)" : "");
  const verdict = byId("verdict");
  verdict.textContent = facts.complete ? "✓ complete" : "✗ not complete";
  verdict.classList.toggle("bad", !facts.complete);
  verdict.title = facts.verdict.trim();

  const state = new State(data);
  const notes = new NoteBook(`mmioscope notes ${facts.name} ${data.trace.count} ${facts.start}`, facts.notes);
  const uses = byMatches(state);
  const all = usesOf(data, state.all);
  const spans = new Map<string, Span[]>([["phases", phaseSpans(facts.tables)]]);
  for (const [title, some] of facts.spans) spans.set(title, some.map(([from, to, text, event]) => ({ from, to, text, event: event - 1 })).sort((a, b) => a.from - b.from));
  spans.set("marks", textSpans(data));
  for (const some of [callSpans(data), moveSpans(data)]) some.forEach((all, title) => spans.set(title, all));
  const interrupts = interruptSpans(data);
  for (const [title, some] of interrupts) spans.set(title, some);
  const tables = [...facts.tables];
  if (interrupts.size > 0) tables.splice(tables.findIndex(({ title }) => title === "Phases") + 1, 0, interruptTable(interrupts));
  keepInUrl(state);
  showFilter(state);
  showDevices(state, all, uses);
  showMinimap(byId<HTMLCanvasElement>("minimap"), state);
  showLanes(state, uses, spans);
  showTables(state, tables);
  showList(state, notes);
  showInspector(state, notes, spans.get("polls") ?? []);
  showPanes(state);
  listenToKeys(state);
  byId("save").addEventListener("click", () => download(facts.name, data.trace.bytes as BlobPart, "application/octet-stream"));
  byId("save-notes").addEventListener("click", () => download(`${facts.name}.notes`, notes.text(), "text/plain"));
  document.querySelector(".skip")!.addEventListener("click", (event) => {
    event.preventDefault(); // the fragment of the address is the state's
    byId("list").focus();
  });
  Object.assign(window, { mmioscope: { data, select } }); // for the browser's console, and tests
  progress.hidden = true;
  document.body.dataset.ready = "yes";
}

main().catch((error: unknown) => {
  byId("loading").textContent = `This page cannot show the trace: ${String(error)}`;
  throw error;
});
