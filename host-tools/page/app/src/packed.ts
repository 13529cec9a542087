// Packed blocks of records (mmioscope-trace(5), "packed"): 4,096 records of 64 bytes each, as columns.
import { decompress } from "fzstd";

export const recordSize = 64;

const headerSize = 56;
const sizesAt = 24;
const columns = ["site", "time", "value", "frame", "lr", "sequence"] as const;
/** Offsets in a record of the words that a site's and a frame's entries have. */
const siteWords = [4, 28, 40, 52, 56];
const frameWords = [48, 60];
const payloadType = 15;
const pieceBytes = 32;

/** Numbers of up to 64 bits, as halves. */
interface Numbers {
  low: Uint32Array;
  high: Uint32Array;
}

/** The content of a column: arrays of numbers, one after the other. */
class Column {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  numbers(count: number): Numbers {
    const low = new Uint32Array(count);
    const high = new Uint32Array(count);
    const padded = Math.ceil(count / 8) * 8;
    const width = this.bytes[this.at++];
    for (let place = 0; place < width; place++, this.at += padded) {
      const to = place < 4 ? low : high;
      const shift = (place % 4) * 8;
      for (let i = 0; i < count; i++) to[i] |= this.bytes[this.at + i] << shift;
    }
    return { low, high };
  }
  take(size: number): Uint8Array {
    this.at += size;
    return this.bytes.subarray(this.at - size, this.at);
  }

  /** Puts each record's entry into these of its words. Returns the number of each record's entry, and how many there are. */
  dictionary(view: DataView, count: number, words: number[]): { of: Uint32Array; entries: number } {
    const entries = this.numbers(1).low[0];
    const all = words.map(() => this.numbers(entries).low);
    const of = this.numbers(count).low;
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < words.length; k++) view.setUint32(i * recordSize + words[k], all[k][of[i]], true);
    }
    return { of, entries };
  }
}

/** 0, 1, 2, 3 stand for 0, -1, 1, -2. */
const unfolded = (number: number) => (number >>> 1) ^ -(number & 1);

/** The records of a block. */
export function records(block: Uint8Array): Uint8Array {
  const header = new DataView(block.buffer, block.byteOffset, headerSize);
  const count = header.getUint32(0, true);
  const bytes = new Uint8Array(count * recordSize);
  const view = new DataView(bytes.buffer);
  let from = headerSize;
  const column = (n: number) => {
    const size = header.getUint32(sizesAt + 4 * n, true);
    from += size;
    return new Column(size === 0 ? new Uint8Array(0) : decompress(block.subarray(from - size, from)));
  };
  const [site, time, value, frame, lr, sequence] = columns.map((_, n) => column(n));
  column(columns.length); // callers: the program has told them
  const payload = column(columns.length + 1);
  const sites = site.dictionary(view, count, siteWords);
  times(view, count, time, header);
  values(view, count, value, sites);
  frame.dictionary(view, count, frameWords);
  lrs(view, count, lr, sites);
  sequences(view, count, sequence);
  for (let i = 0; i < count; i++) {
    if (bytes[i * recordSize + 4] === payloadType) bytes.set(payload.take(pieceBytes), i * recordSize + 32);
  }
  return bytes;
}

interface Sites {
  of: Uint32Array;
  entries: number;
}

// The time since the end of the record before; then the durations.
function times(view: DataView, count: number, column: Column, header: DataView) {
  const gaps = column.numbers(count);
  const durations = column.numbers(count).low;
  let low = header.getUint32(8, true);
  let high = header.getUint32(12, true);
  const add = (lowPart: number, highPart: number) => {
    const sum = low + (lowPart >>> 0);
    low = sum >>> 0;
    high = (high + highPart + (sum > 0xffff_ffff ? 1 : 0)) >>> 0;
  };
  for (let i = 0, offset = 0; i < count; i++, offset += recordSize) {
    const negative = -(gaps.low[i] & 1);
    add(((gaps.low[i] >>> 1) | (gaps.high[i] << 31)) ^ negative, (gaps.high[i] >>> 1) ^ negative);
    view.setUint32(offset + 8, low, true);
    view.setUint32(offset + 12, high, true);
    view.setUint32(offset + 16, durations[i], true);
    add(durations[i], 0);
  }
}

// How a value differs from the last one of its site.
function values(view: DataView, count: number, column: Column, sites: Sites) {
  const differ = column.numbers(count);
  const low = new Uint32Array(sites.entries);
  const high = new Uint32Array(sites.entries);
  for (let i = 0, offset = 32; i < count; i++, offset += recordSize) {
    const site = sites.of[i];
    view.setUint32(offset, (low[site] ^= differ.low[i]), true);
    view.setUint32(offset + 4, (high[site] ^= differ.high[i]), true);
  }
}

// How an LR differs from the last one of its site, of its CPU, or from the value of a record before.
function lrs(view: DataView, count: number, column: Column, sites: Sites) {
  const way = column.numbers(count).low;
  const differ = column.numbers(count).low;
  const ofSites = new Uint32Array(sites.entries);
  const ofCpus = new Uint32Array(256);
  for (let i = 0; i < count; i++) {
    const site = sites.of[i];
    const cpu = view.getUint8(i * recordSize + 5);
    const back = way[i] - 1; // from 1 on: that many records before
    let expected = 0;
    if (way[i] === 0) expected = ofSites[site];
    else if (way[i] === 1) expected = ofCpus[cpu];
    else if (way[i] < 10 && back <= i) expected = view.getUint32((i - back) * recordSize + 32, true);
    ofSites[site] = ofCpus[cpu] = expected ^ differ[i];
    view.setUint32(i * recordSize + 44, ofSites[site], true);
  }
}

// cpu_sequence counts the CPU's records, commit goes along with it, lock_sequence counts the device's.
function sequences(view: DataView, count: number, column: Column) {
  const [sequence, commit, lock] = [0, 1, 2].map(() => column.numbers(count).low);
  const sequences = new Uint32Array(256);
  const commits = new Uint32Array(256);
  const locks = new Uint32Array(256);
  for (let i = 0, offset = 0; i < count; i++, offset += recordSize) {
    const cpu = view.getUint8(offset + 5);
    const device = view.getUint8(offset + 28);
    sequences[cpu] += 1 + unfolded(sequence[i]);
    commits[cpu] += unfolded(commit[i]);
    locks[device] += 1 + unfolded(lock[i]);
    view.setUint32(offset + 24, sequences[cpu], true);
    view.setUint32(offset, sequences[cpu] + commits[cpu], true);
    view.setUint32(offset + 20, locks[device], true);
  }
}
