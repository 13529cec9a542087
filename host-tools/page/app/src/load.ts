// Reads the page's data blocks.
import { decompress } from "fzstd";
import { fromBase64, fromPlanes } from "./bytes";
import { Part, type Data } from "./data";
import type { Context, Facts, Names } from "./facts";
import { Trace } from "./trace";

/** `block` gives the text of a data block; `passed` is told what part of the trace was read. */
export async function load(
  block: (id: string) => string,
  passed: (part: number) => Promise<void> | undefined = () => undefined,
): Promise<Data> {
  const facts = JSON.parse(block("facts")) as Facts;
  const names = JSON.parse(block("names")) as Names;
  const trace = await Trace.read(fromBase64(block("trace")), facts.hz, Number(facts.start), passed);
  const contexts = new Uint32Array(trace.count);
  contexts.set(fromPlanes(decompress(fromBase64(block("contexts")))).subarray(0, trace.count));
  const parts = [Part.place, Part.code, Part.caller, Part.task, Part.interrupt].map((part) =>
    Uint32Array.from(names.contexts, (context: Context | null) => context?.[part] ?? 0),
  );
  return { facts, names, trace, contexts, parts, texts: new Map(names.texts.map(([event, text]) => [event - 1, text])) };
}
