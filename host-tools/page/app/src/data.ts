// All that the page knows: the trace's columns, and what the program knows of its events.
import { ValueIs, type Context, type Facts, type Kind, type Location, type Names, type Num, type Place, type Register } from "./facts";
import { flag, kindOf, type Trace } from "./trace";

/** The parts of a context. */
export const enum Part {
  place,
  code,
  caller,
  task,
  interrupt,
}

export interface Data {
  facts: Facts;
  names: Names;
  trace: Trace;
  /** For each record, from number 1 on, its context; 0: it is a part of another event. */
  contexts: Uint32Array;
  /** For each part, the numbers that contexts have there. */
  parts: Uint32Array[];
  /** Texts of events that are no accesses, by index. */
  texts: Map<number, string>;
}

const noContext: Context = [0, 0, 0, 0, 0];
const noPlace: Place = [-1, "-", 0, 0, ""];

export function big(number: Num): bigint {
  return BigInt(number);
}

export const contextOf = (data: Data, index: number): Context => data.names.contexts[data.contexts[index]] ?? noContext;
export const placeOf = (data: Data, index: number): Place => data.names.places[contextOf(data, index)[0]] ?? noPlace;
/** The short name of a place's device; "-": none. */
export const deviceText = (data: Data, place: Place): string => data.facts.devices[place[0]]?.short ?? place[1];
export const registerOf = (data: Data, place: Place): Register | null => data.names.registers[place[3]];
export const locationOf = (data: Data, number: number): Location | null => data.names.locations[number];
export const kind = (data: Data, index: number): Kind => data.facts.kinds[data.trace.type[index]] ?? data.facts.kinds[0];

/** Whether a record is an event of its own. */
export const isEvent = (data: Data, index: number) => data.contexts[index] !== 0;
export const isAccess = (data: Data, index: number) => data.trace.type[index] === kindOf.access;
export const hasPlace = (data: Data, index: number) => kind(data, index)[2] !== 0;
/** Whether its value is what was loaded or stored. */
export const hasBusValue = (data: Data, index: number) =>
  kind(data, index)[1] === ValueIs.onBus && (data.trace.flags[index] & flag.unknown) === 0;
