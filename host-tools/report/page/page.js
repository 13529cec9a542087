// The page: its sections, and what a click in one does in the others.
import { read, timeOf } from "./data.js";
import { Events, detail } from "./events.js";
import { Timeline } from "./lanes.js";
import { facts, table } from "./tables.js";
import { ValuePlot } from "./values.js";
import { button, count, element, note } from "./words.js";

const { traces, diff } = read(document.getElementById("data"));
const panel = document.getElementById("detail");
const page = document.getElementById("page");
const chosen = traces.at(-1);

const events = new Events(traces, (index, number) => pick(traces[index], number));
const plots = traces.map((trace) => new ValuePlot(trace, (number, time) => pick(trace, number, time)));
const timelines = traces.map(
  (trace) =>
    new Timeline(
      trace,
      (number, time) => pick(trace, number, time),
      (from, to) => {
        plots[trace.index].show(from, to);
        events.view(trace.index, from, to);
      },
    ),
);

// An event was chosen: show it everywhere.
function pick(trace, number, time = timeOf(trace, number)) {
  const timeline = timelines[trace.index];
  if (time !== null) timeline.mark(time);
  events.show(trace.byNumber.get(number));
  detail(panel, trace, number, time, {
    pick: (other) => pick(trace, other),
    zoom: () => timeline.show(time - 5e-5, time + 5e-5),
    close: () => {
      panel.hidden = true;
    },
  });
}

const linkIn = (trace) => (column, text) => {
  if (/event$/.test(column.name) && /^\d+$/.test(text)) return () => pick(trace, Number(text));
  if (column.name === "name" && plots[trace.index].has(text)) {
    return () => {
      plots[trace.index].choose(text);
      plots[trace.index].element.scrollIntoView({ block: "center" });
    };
  }
  return undefined;
};

// One part of a section for each trace, side by side.
function sides(make) {
  return element(
    "div",
    { className: traces.length > 1 ? "sides" : "" },
    ...traces.map((trace) =>
      element(
        "div",
        { className: "side" },
        traces.length > 1 ? element("h3", {}, `${trace.label}: ${trace.file}`) : null,
        ...[make(trace)].flat(),
      ),
    ),
  );
}
const tables = (name) => sides((trace) => table(trace.tables[name] ?? { rows: [] }, name, linkIn(trace)));

// Time in devices and in traps as bars.
function bars(trace) {
  const of = trace.tables.time;
  if (!of) return element("p", { className: "none" }, "the trace does not say how long accesses took");
  const rows = of.rows
    .filter((row) => row[0] !== "all")
    .slice(0, 12)
    .map((row) => [row[0], parseFloat(row[2]), parseFloat(row[3]) || 0]);
  const most = Math.max(1e-9, ...rows.map(([, device, trap]) => device + trap));
  return element(
    "div",
    { className: "bars", "aria-hidden": "true" },
    element(
      "p",
      { className: "key" },
      element("span", { className: "bar device" }),
      " device  ",
      element("span", { className: "bar trap" }),
      " trap",
    ),
    ...rows.map(([name, device, trap]) =>
      element(
        "div",
        {},
        element("span", { className: "name" }, name),
        element(
          "span",
          { className: "track" },
          element("span", { className: "bar device", style: `width: ${(100 * device) / most}%` }),
          element("span", { className: "bar trap", style: `width: ${(100 * trap) / most}%` }),
        ),
      ),
    ),
  );
}

function findings() {
  const side = (trace, of) =>
    element(
      "td",
      {},
      ...of.lines.map((line) => element("code", {}, line)),
      of.event === 0 ? null : button(`event ${of.event}`, () => pick(trace, of.event), { className: "link" }),
    );
  const row = (of) =>
    element(
      "tr",
      {},
      element("td", {}, of.tier),
      element("td", {}, of.device, element("br"), element("b", {}, of.register), element("br"), of.function),
      element("td", {}, of.difference),
      side(traces[0], of.a),
      side(traces[1], of.b),
    );
  return [
    element("p", { className: "verdict" }, diff.verdict),
    ...diff.notes.map((line) => note(line)),
    diff.findings.length === 0
      ? null
      : element(
          "div",
          { className: "wide", tabIndex: 0, role: "region", "aria-label": "findings" },
          element(
            "table",
            {},
            element(
              "thead",
              {},
              element(
                "tr",
                {},
                ...["", "where", "difference", "A", "B"].map((title) => element("th", { scope: "col" }, title)),
              ),
            ),
            element("tbody", {}, ...diff.findings.map(row)),
          ),
        ),
  ];
}

const verdict = (trace) => [
  element(
    "p",
    { className: `verdict ${trace.whole ? "good" : "bad"}` },
    (trace.whole ? "✓ " : "✗ ") + trace.verdict.trim().split("\n").at(-1),
  ),
  facts(trace.tables.facts),
  element(
    "details",
    {},
    element("summary", {}, "what the recorder wrote of the machine"),
    facts(trace.tables.texts),
    facts(trace.tables.losses),
  ),
];

function excerpts() {
  const { ends, around, rows, slowest } = chosen.excerpts;
  const shares = traces.map((trace) =>
    `${trace.label} ${count(trace.events.length)} of ${count(trace.last)} records`.trim(),
  );
  return note(
    `The excerpts: the first ${ends} and the last ${ends} events, and ${around} before and after each event that the `,
    `tables name in their first ${rows} rows, and each of the ${slowest} slowest accesses. ${shares.join(", ")}.`,
  );
}

const sections = [
  ["verdict", "Verdict", () => [sides(verdict)]],
  ...(diff ? [["diff", "What B does that A does not", findings]] : []),
  [
    "timeline",
    "Timeline",
    () => [
      note(
        "Reads are ",
        element("span", { className: "bar read" }),
        ", writes below them are ",
        element("span", { className: "bar write" }),
        `, heights are logarithmic, ▼ are the ${chosen.excerpts.slowest} slowest accesses. Drag to zoom, double-click `,
        "for all, click for an event; arrow keys, + and − do so, too.",
      ),
      sides((trace) => timelines[trace.index].element),
    ],
  ],
  [
    "values",
    "Values of a register",
    () => [
      sides((trace) => [
        plots[trace.index].element,
        trace.values_left_out === 0
          ? null
          : note(`${count(trace.values_left_out)} accesses to other registers are left out`),
      ]),
    ],
  ],
  [
    "time",
    "Where the time went",
    () => [
      note(
        "Device: in accesses. Trap: what the tracer adds, estimated from how soon accesses of a loop follow another. ",
        "Shares are of the time of all CPUs.",
      ),
      sides((trace) => [bars(trace), table(trace.tables.time ?? { rows: [] }, "time", linkIn(trace))]),
      ...["device", "register", "function", "caller", "task", "cpu", "size"].map((key) =>
        element("details", {}, element("summary", {}, `by ${key}`), tables(`by ${key}`)),
      ),
    ],
  ],
  ["polls", "Polls", () => [tables("polls")]],
  ["phases", "Phases", () => [tables("phases")]],
  ["interrupts", "Interrupts", () => [tables("by interrupt")]],
  ["sharing", "Sharing", () => [tables("sharing")]],
  ["regs", "What registers are", () => [tables("regs")]],
  ["events", "Events", () => [excerpts(), events.element]],
];

document.title = `${chosen.file} - mmioscope report`;
page.append(
  element(
    "header",
    {},
    element("h1", {}, traces.map((trace) => trace.file).join(" and ")),
    element(
      "nav",
      { "aria-label": "sections" },
      ...sections.map(([id, title]) => element("a", { href: `#${id}` }, title)),
    ),
  ),
  ...sections.map(([id, title, make]) =>
    element("section", { id }, element("h2", {}, title), ...make().filter(Boolean)),
  ),
);
for (const one of [...timelines, ...plots]) one.start();

addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "Escape") panel.hidden = true;
  if (event.key === "/" && !typing) {
    events.search.focus();
    event.preventDefault();
  }
});
// Canvases have the colours of when they were drawn.
const redraw = () => [...timelines, ...plots].forEach(({ plot }) => plot?.redraw(false));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("paper");
  redraw();
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("paper");
  redraw();
});
document.documentElement.dataset.ready = "yes";
