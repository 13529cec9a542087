// Pages of memory that move between CPUs (records `move`): a lane for each of those that move most, with who has it.
import { placeOf, type Data } from "./data";
import { hex } from "./format";
import type { Span } from "./lane";
import { kindOf, type Trace } from "./trace";

const mostPages = 12;

/** Whether another CPU loses the page, or the right to store there: takes() of abi/record.hpp. */
function takes(trace: Trace, index: number): boolean {
  const value = trace.low[index];
  const others = value & 0xff & ~(1 << trace.cpu[index]);
  const store = ((value >> 16) & 7) === 1;
  return others !== 0 && (store || (value & 0x100) !== 0);
}

/** The first address of the page that an event accesses. */
export function pageOf(data: Data, index: number): number {
  const [device, , offset] = placeOf(data, index);
  const address = (data.facts.devices[device]?.base ?? 0) + Number(offset);
  return address - (address % 4096);
}

/** From each move to the next one of its page; pages that other CPUs lost most often come first. */
export function moveSpans(data: Data): Map<string, Span[]> {
  const { trace } = data;
  const pages = new Map<number, { spans: Span[]; moves: number }>();
  const end = trace.count === 0 ? 0 : trace.time[trace.count - 1];
  for (let i = trace.type.indexOf(kindOf.move); i >= 0; i = trace.type.indexOf(kindOf.move, i + 1)) {
    const address = pageOf(data, i);
    const page = pages.get(address) ?? { spans: [], moves: 0 };
    pages.set(address, page);
    const before = page.spans.at(-1);
    if (before !== undefined) before.to = trace.time[i];
    const cpu = trace.cpu[i];
    page.spans.push({ from: trace.time[i], to: end, text: `cpu${cpu}: ${data.texts.get(i) ?? ""}`, event: i, cpu });
    if (takes(trace, i)) page.moves++;
  }
  const most = [...pages].filter(([, { moves }]) => moves > 0).sort(([, a], [, b]) => b.moves - a.moves);
  return new Map(most.slice(0, mostPages).map(([address, { spans }]) => [`page ${hex(address, 8)}`, spans]));
}
