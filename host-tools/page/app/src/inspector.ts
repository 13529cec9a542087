// One event in full: its fields, what changed, who wrote the register before, the code, the command that shows it.
import { contextOf, deviceText, hasBusValue, hasPlace, isAccess, locationOf, placeOf, registerOf, type Data } from "./data";
import { byId, el } from "./dom";
import { accessText, bitsText, fieldsOf, hex, length, locationText, meaningText, registerText, seconds, taskText, valueText, whoText, whole } from "./format";
import { filterWord } from "./filter/tokens";
import type { Span } from "./lane";
import type { NoteBook } from "./notes";
import type { State } from "./state";
import { pageOf } from "./moves";
import { at, kindOf, type Trace } from "./trace";

const farthest = 2_000_000; // events that are searched for the one before

/** The last access before `index` to the same place that `holds`; -1: none, or it is too far away. */
function before(data: Data, index: number, holds: (other: number) => boolean): number {
  const place = contextOf(data, index)[0];
  for (let k = index - 1; k >= 0 && k > index - farthest; k--) {
    if (contextOf(data, k)[0] === place && isAccess(data, k) && holds(k)) return k;
  }
  return -1;
}

/** The move of the page before this one; -1: none, or it is too far away. */
function moveBefore(data: Data, index: number): number {
  const page = pageOf(data, index);
  for (let k = index - 1; k >= 0 && k > index - farthest; k--) {
    if (data.trace.type[k] === kindOf.move && pageOf(data, k) === page) return k;
  }
  return -1;
}

/** Whether the event is one of the poll's: then, on its CPU, of its device. */
function isIn(data: Data, poll: Span, index: number): boolean {
  const { trace } = data;
  const time = trace.time[index];
  return (
    poll.from <= time && time <= poll.to && trace.cpu[poll.event] === trace.cpu[index] &&
    placeOf(data, poll.event)[0] === placeOf(data, index)[0]
  );
}

/** As a shell takes it. */
const quoted = (text: string) => (/^[A-Za-z0-9_.,/@%+=:-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`);

export function showInspector(state: State, notes: NoteBook, polls: Span[]) {
  const box = byId("inspector");
  const draw = () => {
    const { selected } = state.now;
    if (selected < 0) {
      box.replaceChildren(...begin(state, notes));
      return;
    }
    const inside = box.contains(document.activeElement);
    box.replaceChildren(...content(state, notes, polls, selected));
    if (inside) box.focus();
  };
  notes.listen(() => {
    if (state.now.selected < 0) draw();
  });
  state.listen((now, old) => {
    if (now.selected !== old.selected || now === old) draw();
  });
}

/** Without an event: the verdict, what deserves a look, and the notes. A click goes to the event. */
function begin(state: State, notes: NoteBook): Node[] {
  const { facts } = state.data;
  const findings = facts.tables.find(({ title }) => title === "Findings")?.rows ?? [];
  const list = (title: string, of: [event: number, term: string, text: string][]) =>
    of.length === 0
      ? []
      : [
          el("h2", {}, title),
          el("ul", { class: "findings" }, ...of.map(([event, term, text]) =>
            el("li", {}, el("span", { class: "dim" }, `${term} `), el("button", { class: "link", onclick: () => state.select(event - 1) }, text)))),
        ];
  return [
    el("p", { class: "lines" }, facts.verdict.trim()),
    ...list("What deserves a look", findings.map(([kind, text, event]) => [Number(event.replace(/,/g, "")), kind, text])),
    ...list("Notes", notes.all().map(([event, text]) => [event, whole(event), text])),
    el("p", { class: "dim" }, "Click an event in the list or in a lane to see all of it. ? shows the keys."),
  ];
}

function content(state: State, notes: NoteBook, polls: Span[], index: number): Node[] {
  const { data } = state;
  const { trace } = data;
  const jump = (to: number, text = whole(to + 1)) => el("button", { class: "link", onclick: () => state.select(to) }, text);
  const rows: [string, Node | string][] = [];
  const modes = data.facts.fields.find(({ words }) => words[0] === "mode");
  const add = (name: string, value: Node | string | null) => {
    if (value !== null && value !== "") rows.push([name, value]);
  };
  const place = placeOf(data, index);
  const register = registerOf(data, place);
  const [, code, caller] = contextOf(data, index);
  const { view, offset } = trace.record(index);
  const last = hasPlace(data, index) ? before(data, index, (other) => hasBusValue(data, other)) : -1;
  const address = (where: number) => hex(view.getUint32(offset + where, true), 8);
  const filter = (text: string) =>
    el("button", { class: "link", title: `Show only these: ${text}`, onclick: () => state.change({ filter: text }) }, "only these");

  if (place[0] >= 0) add("device", el("span", {}, place[1], " ", filter(`dev==${filterWord(place[1])}`)));
  add("event", `${whole(index + 1)} of ${whole(trace.count)}`);
  add("time", `${seconds(trace.time[index])} s, cpu${trace.cpu[index]}`);
  const moves = trace.type[index] === kindOf.move;
  if (hasPlace(data, index)) {
    const verb = trace.writes(index) ? "write" : "read";
    if (!moves) add("access", `${isAccess(data, index) ? verb : accessText(data, index)} of ${trace.size(index)} bytes, ${length(trace.durationOf(index))}`);
    add("address", hex(view.getUint8(offset + at.paHigh) * 0x1_0000_0000 + view.getUint32(offset + at.paLow, true), 8));
    add("value", valueText(data, index));
  }
  add("means", meaningText(data, index));
  if (moves) {
    const page = pageOf(data, index);
    const earlier = moveBefore(data, index);
    add("page", el("span", {}, hex(page, 8), " ", filter(`move && pa in ${hex(page, 8)}..${hex(page + 4095, 8)}`)));
    add("move before", earlier < 0 ? "none" : el("span", {}, jump(earlier), ` ${length(trace.time[index] - trace.time[earlier])} before: cpu${trace.cpu[earlier]}, ${meaningText(data, earlier)}, ${whoText(data, earlier)}`));
  } else if (hasPlace(data, index)) {
    const written = before(data, index, (other) => trace.writes(other));
    add("last access", last < 0 ? "none" : el("span", {}, jump(last), ` ${length(trace.time[index] - trace.time[last])} before`));
    add("last write", written < 0 ? "none" : el("span", {}, jump(written), ` ${valueText(data, written)}`));
    const poll = polls.find((one) => isIn(data, one, index));
    add("poll", poll === undefined ? null : el("span", {}, jump(poll.event, poll.text), `, ${length(poll.to - poll.from)}`));
  }
  if (hasPlace(data, index)) {
    add("code", el("span", {}, locationText(locationOf(data, code)) || address(at.pc), " ", code === 0 ? null : filter(`func==${filterWord(data.names.locations[code][0])}`)));
    for (const [func, file, line] of locationOf(data, code)?.[3] ?? []) add("", `${func} ${file}:${line}`);
    add("caller", locationText(locationOf(data, caller)) || "not known");
    add("task", taskText(data, index) || address(at.task));
    const mode = view.getUint8(offset + at.mode) & 0x1f;
    add("mode", `${modes?.values.find(([, value]) => value === mode)?.[0] ?? "?"}${view.getUint8(offset + at.mode) & 0x20 ? ", Thumb" : ""}`);
    add("pc, lr", `${address(at.pc)} ${address(at.lr)}`);
    add("sp, va", `${address(at.sp)} ${address(at.va)}`);
  }
  const title = place[0] < 0 && place[1] === "-" ? accessText(data, index) : `${deviceText(data, place)} ${registerText(data, index)}`;
  const name = quoted(data.facts.name);
  const command = isAccess(data, index) ? `mmioscope why ${index + 1} ${name}` : `mmioscope print --raw ${name}`;
  const note = el("textarea", { rows: 2, id: "note", placeholder: "kept in this browser", maxlength: 1000 });
  note.value = notes.of(index + 1);
  note.addEventListener("change", () => notes.set(index + 1, note.value));
  return [
    el("h2", {}, title),
    register !== null && register[3] !== "" ? el("p", { class: "dim" }, register[3]) : el("span"),
    el("dl", {}, ...rows.flatMap(([term, value]) => [el("dt", {}, term), el("dd", {}, value)])),
    hasBusValue(data, index) ? bits(trace, index, last) : el("span"),
    fields(data, index, last),
    el("label", { for: "note" }, "Note"),
    note,
    el("p", {}, el("span", { class: "dim" }, "In a terminal: "), el("code", {}, command), " ", copyButton(command)),
  ];
}

/** The bits of the value; those that differ from the last access to the same place (-1: none) are marked. */
function bits(trace: Trace, index: number, last: number): HTMLElement {
  const value = trace.value(index);
  const changed = last < 0 ? 0n : value ^ trace.value(last);
  const width = Math.min(64, trace.size(index) * 8);
  const cells = [];
  for (let bit = width - 1; bit >= 0; bit--) {
    const differs = (changed >> BigInt(bit)) & 1n;
    cells.push(el("span", { class: differs ? "bit changed" : "bit", title: `bit ${bit}${differs ? ", changed" : ""}` }, String((value >> BigInt(bit)) & 1n)));
  }
  const text = last < 0 ? "First value of this register." : `Marked: bits that changed since event ${whole(last + 1)}.`;
  return el("div", {}, el("div", { class: "bits", role: "img", "aria-label": `Bits of the value. ${changed === 0n ? "None changed." : `Changed: ${hex(changed, 1)}.`}` }, ...cells), el("p", { class: "dim" }, text));
}

function fields(data: Data, index: number, last: number): HTMLElement {
  const all = fieldsOf(data, index);
  const old = new Map(last < 0 ? [] : fieldsOf(data, last).map((one) => [one.field[0], one.bits]));
  return el(
    "ul",
    { class: "fields" },
    ...all.map((one) => {
      const [, low, width] = one.field;
      const differs = old.has(one.field[0]) && old.get(one.field[0]) !== one.bits;
      return el("li", { class: differs ? "changed" : "" }, el("span", { class: "dim" }, width === 1 ? `${low}` : `${low + width - 1}:${low}`), ` ${bitsText(one)}`);
    }),
  );
}

function copyButton(text: string): HTMLElement {
  const button: HTMLButtonElement = el("button", { class: "link", onclick: () => void copy() }, "copy");
  const copy = async () => {
    await navigator.clipboard.writeText(text).then(
      () => (button.textContent = "copied"),
      () => (button.textContent = "select it and press Ctrl-C"),
    );
  };
  return button;
}
