// Devices and their registers, with the events that each has; a click filters.
import { byId, el, refill } from "./dom";
import { whole } from "./format";
import { filterWord } from "./filter/tokens";
import type { DeviceUse } from "./lane";
import type { Shown, State } from "./state";

export function showDevices(state: State, all: DeviceUse[], uses: (now: Shown) => DeviceUse[]) {
  const box = byId("devices");
  const open = new Set<string>();
  const { registers } = state.data.names;

  /** "12", or "3 of 12" while a filter is on. */
  const counts = (some: number, of: number) => (some === of ? whole(of) : `${whole(some)} of ${whole(of)}`);
  const row = (name: string, filter: string, count: string, none: boolean, before: Node | null) =>
    el(
      "div",
      { class: none ? "use none" : "use" },
      before,
      el("button", { class: "link name", title: filter, "data-key": filter, "aria-pressed": String(state.now.filter === filter),
        onclick: () => state.change({ filter: state.now.filter === filter ? "" : filter }) }, name),
      el("span", { class: "count" }, count),
    );
  const draw = () => {
    const matching = new Map(uses(state.now).map((use) => [use.device, use]));
    refill(
      box,
      all.map((use) => {
        const filter = `dev==${filterWord(use.name)}`;
        const some = matching.get(use.device);
        const isOpen = open.has(use.name);
        const toggle = el("button", { class: "open", "aria-expanded": String(isOpen), "aria-label": `Registers of ${use.name}`, "data-key": use.name,
          onclick: () => {
            if (!open.delete(use.name)) open.add(use.name);
            draw();
          } }, isOpen ? "▾" : "▸");
        return el(
          "li",
          {},
          row(use.short === "-" ? "no device" : use.short, filter, counts(some?.count ?? 0, use.count), some === undefined, toggle),
          isOpen &&
            el(
              "ul",
              {},
              ...[...use.registers]
                .filter(([register]) => register !== 0)
                .sort((a, b) => b[1] - a[1])
                .map(([register, count]) => {
                  const name = registers[register][0];
                  const matches = some?.registers.get(register) ?? 0;
                  return el("li", {}, row(name, `${filter} && reg==${filterWord(name)}`, counts(matches, count), matches === 0, null));
                }),
            ),
        );
      }),
    );
  };
  state.listen((now, before) => {
    if (now.matches !== before.matches || now.filter !== before.filter || now === before) draw();
  });
}
