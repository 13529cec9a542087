// The excerpts of the events, to search; and one event in detail.
import { registersAt } from "./data.js";
import { button, count, element, secondsText } from "./words.js";

const page = 100; // rows that are shown at once

const columns = [
  ["event", (row) => String(row.number), true],
  ["s", (row) => secondsText(row.ns / 1e9), true],
  ["cpu", (row) => String(row.cpu ?? "")],
  [
    "",
    (row) =>
      [row.type === "access" ? "" : row.type, row.dir ? `${row.dir.toUpperCase()}${row.size}` : ""].join(" ").trim(),
  ],
  ["device", (row) => row.device ?? ""],
  ["register", (row) => row.register ?? row.offset ?? ""],
  ["value", (row) => row.value ?? "", true],
  ["fields", (row) => row.fields ?? row.text ?? row.interrupt ?? ""],
  ["function", (row) => row.function ?? row.pc ?? ""],
  ["caller", (row) => row.caller ?? ""],
  ["task", (row) => (row.comm === undefined ? "" : `${row.comm}:${row.pid}`)],
  ["us", (row) => (row.duration_ns === undefined ? "" : (row.duration_ns / 1e3).toFixed(2)), true],
];

export class Events {
  /// `pick(trace, number)`: a row was clicked.
  constructor(traces, pick) {
    this.rows = traces.flatMap((trace) => trace.events);
    for (const row of this.rows) {
      row.cells = columns.map(([, of]) => of(row));
      row.search = row.cells.join(" ").toLowerCase();
    }
    this.traces = traces;
    this.pick = pick;
    this.from = 0;
    this.body = element("tbody");
    this.says = element("span", { role: "status" });
    this.search = element("input", {
      type: "search",
      id: "search",
      placeholder: "words, such as: mmc W4 DataCtrl",
      "aria-label": "search the events",
      oninput: () => {
        this.from = 0;
        this.fill();
      },
    });
    this.within = element("input", {
      type: "checkbox",
      onchange: () => {
        this.from = 0;
        this.fill();
      },
    });
    this.earlier = button("earlier", () => this.turn(-page));
    this.later = button("later", () => this.turn(page));
    const titles = (traces.length > 1 ? [["trace"]] : []).concat(columns);
    this.element = element(
      "div",
      {},
      element(
        "div",
        { className: "controls" },
        this.search,
        element("label", {}, this.within, " in the timeline's view"),
        this.earlier,
        this.later,
        this.says,
      ),
      element(
        "div",
        { className: "wide", tabIndex: 0, role: "region", "aria-label": "events" },
        element(
          "table",
          { className: "events" },
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              ...titles.map(([title, , number]) =>
                element("th", { scope: "col", className: number ? "number" : "" }, title),
              ),
            ),
          ),
          this.body,
        ),
      ),
    );
    this.views = traces.map((trace) => [trace.begin, trace.end]);
    this.fill();
  }

  turn(rows) {
    this.from = Math.max(0, this.from + rows);
    this.fill();
  }

  /// What the timeline of a trace shows, in seconds.
  view(index, from, to) {
    this.views[index] = [from, to];
    if (this.within.checked) this.fill();
  }

  found() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    return this.rows.filter((row) => {
      const [from, to] = this.views[row.trace];
      const time = row.ns / 1e9;
      return (!this.within.checked || (time >= from && time <= to)) && words.every((word) => row.search.includes(word));
    });
  }

  fill() {
    const rows = this.found();
    this.from = Math.min(this.from, Math.max(0, rows.length - 1));
    const shown = rows.slice(this.from, this.from + page);
    this.body.replaceChildren(
      ...shown.map((row) => {
        const cells = row.cells.map((text, i) =>
          element(
            "td",
            { className: columns[i][2] ? "number" : "" },
            i === 0 ? button(text, () => this.pick(row.trace, row.number), { className: "link" }) : text,
          ),
        );
        if (this.traces.length > 1) cells.unshift(element("td", {}, this.traces[row.trace].label));
        return element(
          "tr",
          { className: row === this.chosen ? "chosen" : "", onclick: () => this.pick(row.trace, row.number) },
          ...cells,
        );
      }),
    );
    this.earlier.disabled = this.from === 0;
    this.later.disabled = this.from + page >= rows.length;
    this.says.textContent =
      rows.length === 0
        ? "no event in the excerpts"
        : `${count(this.from + 1)} to ${count(this.from + shown.length)} of ${count(rows.length)}`;
  }

  /// Turns to the event, if it is in an excerpt.
  show(row) {
    this.chosen = row;
    if (row) {
      let rows = this.found();
      if (!rows.includes(row)) {
        this.search.value = "";
        this.within.checked = false;
        rows = this.found();
      }
      const at = rows.indexOf(row);
      if (at < this.from || at >= this.from + page) this.from = Math.max(0, at - 10);
    }
    this.fill();
  }
}

const sameRegister = (a, b) => a.device === b.device && a.offset === b.offset;

// The write before `row` to its register, among the events that are in excerpts.
function writeBefore(trace, row) {
  for (let i = trace.events.indexOf(row) - 1; i >= 0; i--) {
    if (trace.events[i].dir === "w" && sameRegister(trace.events[i], row)) return trace.events[i];
  }
  return null;
}

// The values that the device's registers had, as far as accesses showed them.
function registersThen(trace, device, time) {
  const list = element("dl");
  return element(
    "details",
    {
      ontoggle: (event) => {
        if (!event.target.open || list.hasChildNodes()) return;
        for (const [register, value, certain] of registersAt(trace, device, time)) {
          list.append(
            element(
              "div",
              {},
              element("dt", {}, register),
              element("dd", {}, `0x${BigInt(value).toString(16)}${certain ? "" : " or another"}`),
            ),
          );
        }
      },
    },
    element("summary", {}, `what the registers of ${device} had then`),
    list,
  );
}

/// Fills the panel with what is known of an event. `pick(number)` shows another one.
export function detail(panel, trace, number, time, { pick, zoom, close }) {
  const row = trace.byNumber.get(number);
  const list = element("dl");
  const say = (title, ...what) => list.append(element("div", {}, element("dt", {}, title), element("dd", {}, ...what)));
  if (row) {
    columns.slice(1).forEach(([title], i) => {
      if (row.cells[i + 1] !== "") say(title || "access", row.cells[i + 1]);
    });
    if (row.source) say("source", row.source);
    if (row.dir) {
      const write = writeBefore(trace, row);
      const why =
        write === null
          ? "none in the excerpts"
          : button(`event ${write.number}`, () => pick(write.number), { className: "link" });
      say("write before it", why, write === null ? "" : ` ${write.cells[6]} ${write.cells[8]}`);
    }
  } else {
    say("event", "not in the excerpts", ...(time === null ? [] : [`, at ${secondsText(time)} s`]));
  }
  if (row?.device && time !== null) say("", registersThen(trace, row.device, time));
  say(
    "more",
    element("code", {}, `mmioscope print --at ${number} -C 20 ${trace.file}`),
    " ",
    ...(row?.dir ? [element("code", {}, `mmioscope why ${number} ${trace.file}`)] : []),
  );
  panel.replaceChildren(
    element(
      "div",
      { className: "controls" },
      element("strong", {}, `${trace.label ? trace.label + ": " : ""}event ${number}`),
      time === null ? null : button("zoom to it", zoom),
      row ? element("a", { href: "#events" }, "in the table") : null,
      button("close", close, { "aria-label": "close" }),
    ),
    list,
  );
  panel.hidden = false;
}
