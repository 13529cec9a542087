// Numbers, times and events as the terminal prints them.
import { contextOf, hasBusValue, isAccess, kind, locationOf, placeOf, registerOf, big, type Data } from "./data";
import { ValueIs, type Field, type Location } from "./facts";
import { fieldValue, valueName } from "./filter/evaluate";

export const whole = (n: number) => n.toLocaleString("en");

/** Seconds with 6 digits, of nanoseconds. */
export const seconds = (ns: number) => (ns / 1e9).toFixed(6);

/** A length of time in the unit that suits it. */
export function length(ns: number): string {
  const units: [string, number][] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
  const [unit, size] = units.find(([, least]) => ns >= least) ?? ["ns", 1];
  return `${Number((ns / size).toPrecision(4))} ${unit}`;
}

export const hex = (value: bigint | number, digits: number) => `0x${value.toString(16).padStart(digits, "0")}`;

/** "+0x18" behind what it is an offset from. */
export const plus = (offset: number) => `+0x${offset.toString(16)}`;

/** W4, R2; the kind of another event. */
export function accessText(data: Data, index: number): string {
  const [word, , place] = kind(data, index);
  const text = place === 0 ? "" : `${data.trace.writes(index) ? "W" : "R"}${data.trace.size(index)}`;
  return isAccess(data, index) ? text : `${word} ${text}`.trim();
}

/** The register's name, or the offset. */
export function registerText(data: Data, index: number): string {
  const place = placeOf(data, index);
  const register = registerOf(data, place);
  if (place[0] < 0 && kind(data, index)[2] === 0) return "";
  if (register === null) return `+${hex(big(place[2]), 3)}`;
  if (place[4] !== "") return place[4];
  const into = big(place[2]) - BigInt(register[1]);
  return into === 0n ? register[0] : `${register[0]}+${into}`;
}

export function valueText(data: Data, index: number): string {
  if (hasBusValue(data, index)) return hex(data.trace.value(index), 2 * data.trace.size(index));
  return kind(data, index)[1] === ValueIs.onBus ? "?" : "";
}

export interface FieldBits {
  field: Field;
  bits: bigint;
  name: string | null;
}

/** The fields that an access covers. */
export function fieldsOf(data: Data, index: number): FieldBits[] {
  const place = placeOf(data, index);
  const register = registerOf(data, place);
  if (register === null || !hasBusValue(data, index)) return [];
  const into = Number(big(place[2]) - BigInt(register[1]));
  const value = data.trace.value(index);
  return register[4].flatMap((field) => {
    const bits = into < 0 ? null : fieldValue(field, value, data.trace.size(index), into);
    return bits === null ? [] : [{ field, bits, name: valueName(field, bits) }];
  });
}

export const bitsText = ({ field, bits, name }: FieldBits) =>
  `${field[0]}=${name ?? (bits < 10n ? bits.toString() : `0x${bits.toString(16)}`)}`;

/** The fields that are not 0, as in a printed line. */
export function fieldsText(data: Data, index: number): string {
  return fieldsOf(data, index)
    .filter(({ bits, name }) => bits !== 0n || name !== null)
    .map(bitsText)
    .join(" ");
}

export function locationText(location: Location | null): string {
  return location === null ? "" : location[0] + plus(location[1]) + (location[2] === "" ? "" : ` [${location[2]}]`);
}

export function taskText(data: Data, index: number): string {
  const task = data.names.tasks[contextOf(data, index)[3]];
  return task == null ? "" : `${task[2]}:${task[0]}`;
}

/** Who did it: function, caller and task. */
export function whoText(data: Data, index: number): string {
  const [, code, caller] = contextOf(data, index);
  const by = locationOf(data, caller);
  const task = taskText(data, index);
  return [
    locationText(locationOf(data, code)),
    by === null ? "" : `← ${by[0]}`,
    task === "" ? "" : `[${task}]`,
  ]
    .filter((text) => text !== "")
    .join(" ");
}

/** What it means: its text, its interrupt, its fields. */
export function meaningText(data: Data, index: number): string {
  const text = data.texts.get(index);
  const interrupt = data.names.interrupts[contextOf(data, index)[4]];
  return [text ?? "", interrupt ?? "", fieldsText(data, index)].filter((part) => part !== "").join(" ");
}
