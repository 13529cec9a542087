// The access under the pointer, in a few words.
import { byId } from "./dom";
import { accessText, meaningText, registerText, seconds, valueText, whoText } from "./format";
import { deviceText, placeOf } from "./data";
import type { State } from "./state";

export function showTip({ data }: State, over: HTMLElement, x: number, y: number, what: { event: number; text: string }) {
  const tip = byId("tip");
  if (what.event < 0 && what.text === "") {
    tip.hidden = true;
    return;
  }
  const lines = [what.text];
  if (what.event >= 0) {
    const { event } = what;
    lines.push(
      `${event + 1}  ${seconds(data.trace.time[event])} s  cpu${data.trace.cpu[event]}`,
      `${accessText(data, event)} ${deviceText(data, placeOf(data, event))} ${registerText(data, event)} ${valueText(data, event)}`,
      meaningText(data, event),
      whoText(data, event),
    );
  }
  tip.textContent = lines.filter((line) => line !== "").join("\n");
  tip.hidden = false;
  const box = over.getBoundingClientRect();
  const wide = tip.offsetWidth;
  tip.style.left = `${Math.max(4, Math.min(box.left + x + 14, window.innerWidth - wide - 4))}px`;
  const below = box.top + y + 16;
  tip.style.top = `${below + tip.offsetHeight > window.innerHeight ? box.top + y - tip.offsetHeight - 8 : below}px`;
}

export function hideTip() {
  byId("tip").hidden = true;
}
