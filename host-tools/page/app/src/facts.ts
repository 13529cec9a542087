// What the program wrote into the page beside the trace (content.cpp): JSON, as types.

/** A number; a string "0x..." from 2^53 on. */
export type Num = number | string;

export type Field = [name: string, low: number, width: number, values: [Num, string][]];
export type Register = [name: string, offset: number, size: number, description: string, fields: Field[]];
export type Place = [device: number, name: string, offset: Num, register: number, registers: string];
export type SourceLine = [func: string, file: string, line: number];
export type Location = [func: string, offset: number, module: string, lines: SourceLine[]];
export type Task = [pid: number, tgid: number, comm: string];
/** Numbers of a place, of the locations of the code and its caller, of a task, of an interrupt; 0: none, not known. */
export type Context = [place: number, code: number, caller: number, task: number, interrupt: number];

/** Element 0 of each is null, and stands for none. */
export interface Names {
  registers: Register[];
  places: Place[];
  locations: Location[];
  tasks: Task[];
  interrupts: string[];
  contexts: Context[];
  /** Of events that are no accesses, by their numbers. */
  texts: [event: number, text: string][];
}

export interface Device {
  name: string;
  /** For narrow columns. */
  short: string;
  base: number;
  size: number;
  /** All that a filter may call it. */
  names: string[];
}

/** ValueIs of records/kinds.hpp. */
export const enum ValueIs {
  none,
  onBus,
  number,
  code,
  count,
}
export type Kind = [word: string, value: ValueIs, place: number, reg: number, executed: number];

/** A field that filters take. */
export interface FilterField {
  /** Its name, and perhaps another one. */
  words: string[];
  /** Compared with texts; otherwise with numbers. */
  text: boolean;
  /** Without regard to upper and lower case. */
  folded: boolean;
  /** Nanoseconds, written as seconds or with a unit. */
  time: boolean;
  /** Words for values. */
  values: [word: string, value: number][];
}

export interface Facts {
  name: string;
  verdict: string;
  complete: boolean;
  cut: boolean;
  /** Of the counter; 0: not known. */
  hz: number;
  /** Ticks of the counter at time 0. */
  start: string;
  /** Of the trace's file of notes: the number of the event, and the text. */
  notes: [event: number, text: string][];
  devices: Device[];
  kinds: Kind[];
  fields: FilterField[];
  tables: Table[];
  /** Spans of time that the program has found, by the title of their lane; nanoseconds, and the number of an event or 0. */
  spans: [title: string, spans: [from: number, to: number, text: string, event: number][]][];
}

/** A table that the program computed, about the whole trace. */
export interface Table {
  title: string;
  columns: { name: string; title: string; number: boolean }[];
  rows: string[][];
  closing: string;
}
