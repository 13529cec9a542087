// Tables that can be sorted and filtered.
import { button, count, element } from "./words.js";

const few = 50; // rows that are shown at first

// No number ("-") is less than all.
const numberOf = (text) =>
  (text.startsWith("0x") ? Number(text) : parseFloat(text)) || (/^0/.test(text) ? 0 : -Infinity);
const compare = (a, b, numeric) => (numeric ? Math.sign(numberOf(a) - numberOf(b)) || 0 : a.localeCompare(b));

/// `link(column, text)` gives what to do when a cell is clicked; undefined: nothing.
export function table(of, name, link) {
  if (of.rows.length === 0) return element("p", { className: "none" }, "none");
  let order = null,
    up = false,
    wanted = "",
    all = false;
  const body = element("tbody");
  const more = button(
    "",
    () => {
      all = true;
      fill();
    },
    { className: "more" },
  );
  const heads = of.columns.map((column, at) => {
    const head = element("th", { scope: "col", className: column.number ? "number" : "" });
    head.append(
      button(column.title, () => {
        up = order === at ? !up : !column.number;
        order = at;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        fill();
      }),
    );
    return head;
  });

  function cell(column, text) {
    const made = element("td", { className: column.number ? "number" : "" });
    const action = link?.(column, text);
    made.append(action ? button(text, action, { className: "link" }) : text);
    return made;
  }
  function fill() {
    const words = wanted.toLowerCase().split(/\s+/);
    let rows = of.rows.filter((row) => {
      const text = row.join(" ").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    if (order !== null) {
      rows = rows.slice().sort((a, b) => (up ? 1 : -1) * compare(a[order], b[order], of.columns[order].number));
    }
    const shown = all ? rows : rows.slice(0, few);
    body.replaceChildren(...shown.map((row) => element("tr", {}, ...row.map((text, i) => cell(of.columns[i], text)))));
    more.hidden = shown.length === rows.length;
    more.textContent = `all ${count(rows.length)} rows`;
  }
  fill();
  const filter =
    of.rows.length <= 10
      ? null
      : element("input", {
          type: "search",
          placeholder: "filter",
          "aria-label": `filter ${name}`,
          className: "filter",
          oninput: (event) => {
            wanted = event.target.value;
            fill();
          },
        });
  return element(
    "div",
    {},
    filter,
    element(
      "div",
      { className: "wide", tabIndex: 0, role: "region", "aria-label": name },
      element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body),
    ),
    more,
    of.closing === "" ? null : element("p", { className: "note" }, of.closing),
  );
}

/// The cells of a table of facts: its titles, or its first column, and what they say.
export function facts(of) {
  const pairs =
    of.rows.length === 1 && of.columns.length > 2
      ? of.columns.map((column, i) => [column.title, of.rows[0][i]])
      : of.rows;
  const list = element("dl");
  for (const [title, text] of pairs) {
    if (text !== "-") list.append(element("div", {}, element("dt", {}, title), element("dd", {}, text)));
  }
  return list;
}
