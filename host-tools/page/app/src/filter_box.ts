// The filter: its text, completion, errors at their column, and the number of matches.
import { byId, el } from "./dom";
import { whole } from "./format";
import { filterWord } from "./filter/tokens";
import type { Data } from "./data";
import type { State } from "./state";

const mostOffered = 12;

/** The words that may stand in a filter, by what they stand behind. */
class Words {
  private readonly fields: string[];
  private readonly values = new Map<string, string[]>();

  constructor(data: Data) {
    const { facts, names } = data;
    this.fields = facts.fields.map(({ words }) => words[0]);
    const put = (field: string, words: Iterable<string>) => this.values.set(field, [...new Set(words)].sort());
    for (const { words, values } of facts.fields) if (values.length > 0) put(words[0], values.map(([word]) => word));
    const registers = names.registers.filter((one) => one !== null);
    put("dev", facts.devices.flatMap((device) => [device.name, device.short]));
    put("reg", registers.map((one) => one[0]));
    const functions = (of: (context: number[]) => number) =>
      names.contexts.flatMap((context) => (context === null ? [] : (names.locations[of(context)]?.[0] ?? [])));
    put("func", functions((context) => context[1]));
    put("caller", functions((context) => context[2]));
    put("module", ["kernel", ...names.locations.flatMap((one) => (one === null || one[2] === "" ? [] : one[2]))]);
    const comms = names.tasks.flatMap((task) => (task === null ? [] : task[2]));
    put("comm", comms);
    put("task", comms);
    put("irq", names.interrupts.flatMap((text) => (text === null ? [] : (text.replace(/^(PPI )?[0-9]+ /, "").split(", ")))));
    for (const { words } of facts.fields) for (const word of words.slice(1)) this.values.set(word, this.values.get(words[0]) ?? []);
    this.fields.push(...registers.flatMap((one) => one[4].map((field) => `${one[0]}.${field[0]}`)));
  }

  /** What may stand for the word that ends at `caret`, and where that begins. */
  at(text: string, caret: number): { begin: number; words: string[] } {
    const before = text.slice(0, caret);
    const value = /([A-Za-z]+)\s*(?:==|!=|\bin\b\s*\(?(?:[^()]*,\s*)?)\s*([^\s()&|,"']*)$/.exec(before);
    const known = value === null ? undefined : this.values.get(value[1]);
    const word = known !== undefined ? value![2] : (/[A-Za-z_.0-9]*$/.exec(before)?.[0] ?? "");
    const fits = (one: string) => one.toLowerCase().startsWith(word.toLowerCase()) && one !== word;
    const all = known ?? (word === "" ? [] : this.fields);
    return { begin: caret - word.length, words: all.filter(fits).slice(0, mostOffered) };
  }
}

export function showFilter(state: State) {
  const box = byId<HTMLInputElement>("filter");
  const offers = byId("filter-offers");
  const words = new Words(state.data);
  let offered: { begin: number; words: string[] } = { begin: 0, words: [] };
  let chosen = -1;
  let timer = 0;

  const showOffers = (next: typeof offered) => {
    offered = next;
    chosen = -1;
    offers.replaceChildren(...next.words.map((word, n) => el("li", { role: "option", id: `offer-${n}`, "aria-selected": "false" }, word)));
    offers.hidden = next.words.length === 0;
    box.setAttribute("aria-expanded", String(!offers.hidden));
    box.removeAttribute("aria-activedescendant");
  };
  const none = { begin: 0, words: [] };
  const choose = (n: number) => {
    chosen = (n + offered.words.length) % offered.words.length;
    [...offers.children].forEach((child, i) => child.setAttribute("aria-selected", String(i === chosen)));
    box.setAttribute("aria-activedescendant", `offer-${chosen}`);
  };
  const take = (n: number) => {
    const word = offered.words[n];
    const safe = filterWord(word);
    const rest = box.value.slice(box.selectionStart ?? box.value.length);
    box.value = box.value.slice(0, offered.begin) + safe + rest;
    box.setSelectionRange(offered.begin + safe.length, offered.begin + safe.length);
    showOffers(none);
    apply();
  };
  const apply = () => {
    clearTimeout(timer);
    state.change({ filter: box.value });
  };

  box.addEventListener("input", () => {
    showOffers(words.at(box.value, box.selectionStart ?? box.value.length));
    clearTimeout(timer);
    timer = window.setTimeout(apply, 150); // while somebody types
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && offered.words.length > 0) choose(chosen + 1);
    else if (event.key === "ArrowUp" && offered.words.length > 0) choose(chosen < 0 ? -1 : chosen - 1);
    else if ((event.key === "Enter" || event.key === "Tab") && chosen >= 0) take(chosen);
    else if (event.key === "Enter") {
      showOffers(none);
      apply();
      return;
    } else if (event.key === "Escape" && !offers.hidden) showOffers(none);
    else if (event.key === "Escape") box.blur();
    else return;
    event.preventDefault();
  });
  box.addEventListener("blur", () => showOffers(none));
  offers.addEventListener("mousedown", (event) => {
    const n = [...offers.children].indexOf(event.target as Element);
    if (n >= 0) take(n);
    event.preventDefault();
  });
  byId("clear").addEventListener("click", () => state.change({ filter: "" }));
  byId("next").addEventListener("click", () => state.step(1));
  byId("previous").addEventListener("click", () => state.step(-1));

  state.listen((now) => {
    if (box.value !== now.filter && document.activeElement !== box) box.value = now.filter;
    const { error } = now;
    box.setAttribute("aria-invalid", String(error !== null));
    byId("filter-error").textContent =
      error === null ? "" : `column ${error.column + 1}: ${error.message}: ${now.filter.slice(0, error.column)}▸${now.filter.slice(error.column)}`;
    const at = now.selected < 0 ? -1 : state.matchAt(now.selected);
    const place = now.matches[at] === now.selected ? `${whole(at + 1)} of ` : "";
    byId("matches").textContent =
      now.filter.trim() === "" && now.matches.length === state.all.length
        ? `${place}${whole(state.all.length)} events`
        : `${place}${whole(now.matches.length)} matches, of ${whole(state.all.length)} events`;
    byId<HTMLButtonElement>("clear").hidden = now.filter === "";
  });
}
