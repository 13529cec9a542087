// Behind the list: what the program has computed about the whole trace.
import type { Table } from "./facts";
import { byId, el } from "./dom";
import { eventsTitle, type State } from "./state";

/** Tables whose cells name events: a click selects the event. */
const namesEvent = (column: { name: string }) => column.name.endsWith("event");

export function showTables(state: State, tables: Table[]) {
  const tabs = byId("tabs");
  const panel = byId("table-panel");
  const titles = [eventsTitle, ...tables.map((table) => table.title)];
  const sorted = new Map<string, [column: number, down: boolean]>();

  tabs.append(
    ...titles.map((title) =>
      el("button", { role: "tab", id: `tab-${title}`, "aria-controls": title === eventsTitle ? "events-panel" : "table-panel",
        onclick: () => state.change({ table: title }) }, title),
    ),
  );
  tabs.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const next = titles[(titles.indexOf(state.now.table) + by + titles.length) % titles.length];
    state.change({ table: next });
    byId(`tab-${next}`).focus();
  });

  const event = (number: string) => el("button", { class: "link", onclick: () => state.select(Number(number.replace(/,/g, "")) - 1) }, number);
  const showTable = (table: Table) => {
    const [by, down] = sorted.get(table.title) ?? [-1, false];
    const rows = by < 0 ? table.rows : [...table.rows].sort((a, b) => compare(a[by], b[by], table.columns[by].number) * (down ? -1 : 1));
    return [
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...table.columns.map((column, n) =>
          el("th", { class: column.number ? "number" : "", scope: "col", "aria-sort": n === by ? (down ? "descending" : "ascending") : "none" },
            el("button", { class: "link", onclick: () => {
              sorted.set(table.title, [n, n === by ? !down : column.number]);
              draw();
            } }, column.title)),
        ))),
        el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, n) =>
          el("td", { class: table.columns[n].number ? "number" : "" },
            namesEvent(table.columns[n]) && /^[0-9,]+$/.test(cell) ? event(cell) : cell),
        )))),
      ),
      table.closing !== "" && el("p", { class: "dim lines" }, table.closing),
    ];
  };
  const draw = () => {
    const { table: title, filter } = state.now;
    for (const one of titles) {
      const is = one === title;
      byId(`tab-${one}`).setAttribute("aria-selected", String(is));
      byId(`tab-${one}`).tabIndex = is ? 0 : -1;
    }
    byId("events-panel").hidden = title !== eventsTitle;
    panel.hidden = title === eventsTitle;
    panel.setAttribute("aria-labelledby", `tab-${title}`);
    if (title === eventsTitle) return;
    panel.replaceChildren(
      el("p", { class: "whole dim" }, filter === "" ? "" : "Whole trace: the filter does not apply here."),
      ...showTable(tables.find((one) => one.title === title)!).filter((node) => node !== false),
    );
  };
  state.listen((now, before) => {
    if (!titles.includes(now.table)) state.change({ table: eventsTitle });
    else if (now.table !== before.table || now.filter !== before.filter || now === before) draw();
  });
}

function compare(a: string, b: string, number: boolean): number {
  if (!number) return a.localeCompare(b, "en", { numeric: true });
  const value = (text: string) => (text === "-" || text === "" ? -Infinity : Number.parseFloat(text.replace(/,/g, "")));
  return value(a) - value(b);
}
