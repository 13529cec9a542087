// The trace in the page: the records of a trace file (mmioscope-trace(5)) as columns.
//
// What lists, lanes and most filters need is kept for all records. The rest of a record is read again from its block,
// a few of which stay in memory.
import { records as unpack, recordSize } from "./packed";

/** Offsets of a record's fields. */
export const at = {
  type: 4,
  cpu: 5,
  access: 6,
  mode: 7,
  time: 8,
  duration: 16,
  order: 20,
  sequence: 24,
  device: 28,
  flags: 30,
  paHigh: 31,
  value: 32,
  pc: 40,
  lr: 44,
  sp: 48,
  va: 52,
  paLow: 56,
  task: 60,
};

export const flag = { unknown: 1, early: 2, boot: 8, estimated: 16, goesOn: 32, returns: 64 };
export const access = { write: 1, size: 0x0e, emulated: 0x40 };
export const kindOf = { access: 1, begin: 2, own: 3, gap: 4, payload: 15, call: 16, ret: 17, move: 21 };

const sectionType = { records: 4, packed: 16 };
const fileHeader = 32;
const sectionHeader = 24;
const blocksKept = 16;

/** Some records: `count` of them, from index `first` on. */
interface Block {
  first: number;
  count: number;
  packed: boolean;
  bytes: Uint8Array;
}

/** A number of 64 bits as a double: exact up to 2^53. */
function number64(view: DataView, offset: number): number {
  return view.getUint32(offset + 4, true) * 0x1_0000_0000 + view.getUint32(offset, true);
}

/** Whole nanoseconds of ticks; every intermediate number is exact for less than 9 GHz and 100 days. */
export function nanoseconds(ticks: number, hz: number): number {
  if (hz === 0) return ticks;
  if (1e9 % hz === 0) return ticks * (1e9 / hz);
  const seconds = Math.floor(ticks / hz);
  const micros = (ticks - seconds * hz) * 1e6;
  const whole = Math.floor(micros / hz);
  return seconds * 1e9 + whole * 1000 + Math.floor(((micros - whole * hz) * 1000) / hz);
}

export class Trace {
  /** Nanoseconds since the trace's first record. */
  readonly time: Float64Array;
  /** Ticks. */
  readonly duration: Uint32Array;
  readonly low: Uint32Array;
  /** Upper halves of values; null: all are 0. */
  high: Uint32Array | null = null;
  readonly type: Uint8Array;
  readonly cpu: Uint8Array;
  readonly access: Uint8Array;
  readonly flags: Uint8Array;
  readonly count: number;
  /** CPUs have numbers below. */
  cpus = 1;
  private readonly blocks: Block[] = [];
  private readonly kept = new Map<Block, DataView>();

  private constructor(
    readonly bytes: Uint8Array,
    readonly hz: number,
    start: number,
  ) {
    this.count = this.find();
    this.time = new Float64Array(this.count);
    this.duration = new Uint32Array(this.count);
    this.low = new Uint32Array(this.count);
    this.type = new Uint8Array(this.count);
    this.cpu = new Uint8Array(this.count);
    this.access = new Uint8Array(this.count);
    this.flags = new Uint8Array(this.count);
    this.start = start;
  }

  private readonly start: number;

  /** `start`: ticks at time 0. `passed` is told what part was read; it may wait, so that the page can draw. */
  static async read(bytes: Uint8Array, hz: number, start: number, passed: (part: number) => Promise<void> | undefined) {
    const trace = new Trace(bytes, hz, start);
    for (const block of trace.blocks) {
      trace.take(block);
      await passed((block.first + block.count) / trace.count);
    }
    return trace;
  }

  // Finds the sections that hold records. The program that wrote this page has checked the file.
  private find(): number {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength);
    let first = 0;
    for (let from = view.getUint32(16, true) || fileHeader; from + sectionHeader <= this.bytes.length;) {
      const type = view.getUint32(from + 4, true);
      const size = number64(view, from + 8);
      const bytes = this.bytes.subarray(from + sectionHeader, from + sectionHeader + size);
      const packed = type === sectionType.packed;
      if (packed || type === sectionType.records) {
        const most = 4096;
        const all = packed ? view.getUint32(from + sectionHeader, true) : size / recordSize;
        for (let done = 0; done < all;) {
          const count = packed ? all : Math.min(most, all - done);
          const part = packed ? bytes : bytes.subarray(done * recordSize, (done + count) * recordSize);
          this.blocks.push({ first, count, packed, bytes: part });
          first += count;
          done += count;
        }
      }
      from += sectionHeader + Math.ceil(size / 8) * 8;
    }
    return first;
  }

  private view(block: Block): DataView {
    const bytes = block.packed ? unpack(block.bytes) : block.bytes;
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  private take(block: Block) {
    const view = this.view(block);
    for (let i = 0; i < block.count; i++) {
      const offset = i * recordSize;
      const to = block.first + i;
      const ticks = number64(view, offset + at.time);
      this.time[to] = nanoseconds(Math.max(ticks - this.start, 0), this.hz);
      this.duration[to] = view.getUint32(offset + at.duration, true);
      this.low[to] = view.getUint32(offset + at.value, true);
      const high = view.getUint32(offset + at.value + 4, true);
      if (high !== 0) (this.high ??= new Uint32Array(this.count))[to] = high;
      this.type[to] = view.getUint8(offset + at.type);
      this.cpu[to] = view.getUint8(offset + at.cpu);
      this.cpus = Math.max(this.cpus, this.cpu[to] + 1);
      this.access[to] = view.getUint8(offset + at.access);
      this.flags[to] = view.getUint8(offset + at.flags);
    }
  }

  /** The block with the record of this index. */
  private blockOf(index: number): Block {
    let low = 0;
    for (let high = this.blocks.length; high - low > 1;) {
      const middle = (low + high) >> 1;
      if (this.blocks[middle].first <= index) low = middle;
      else high = middle;
    }
    return this.blocks[low];
  }

  /** The record of this index, 0 for number 1: its block, and where it begins there. Valid until some other calls. */
  record(index: number): { view: DataView; offset: number } {
    const block = this.blockOf(index);
    let view = this.kept.get(block);
    if (view === undefined) {
      view = this.view(block);
      if (this.kept.size >= blocksKept) this.kept.delete(this.kept.keys().next().value!);
      this.kept.set(block, view);
    }
    return { view, offset: (index - block.first) * recordSize };
  }

  /** Calls `each` with the records from `from` on, block by block. */
  records(from: number, to: number, each: (view: DataView, offset: number, first: number, count: number) => void) {
    while (from < to) {
      const block = this.blockOf(from);
      const count = Math.min(to, block.first + block.count) - from;
      const { view, offset } = this.record(from);
      each(view, offset, from, count);
      from += count;
    }
  }

  /** Nanoseconds until the access was done. */
  durationOf(index: number): number {
    return nanoseconds(this.duration[index], this.hz);
  }
  value(index: number): bigint {
    const high = this.high === null ? 0 : this.high[index];
    return (BigInt(high) << 32n) | BigInt(this.low[index]);
  }
  size(index: number): number {
    return 1 << ((this.access[index] & access.size) >> 1);
  }
  writes(index: number): boolean {
    return (this.access[index] & access.write) !== 0;
  }

  /** The first index whose time is at least this; records of one CPU may lie a little out of order. */
  indexAt(time: number): number {
    let low = 0;
    for (let high = this.count; low < high;) {
      const middle = (low + high) >> 1;
      if (this.time[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
