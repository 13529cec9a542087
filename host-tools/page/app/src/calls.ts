// The calls of functions with probes as spans of time: a lane for each task and each level.
import { contextOf, locationOf, type Data } from "./data";
import { hex, length, taskText } from "./format";
import type { Span } from "./lane";
import { flag, kindOf } from "./trace";

const mostTasks = 12;
const mostLevels = 8;

/** Of calls whose return is known; those of tasks with most calls first. */
export function callSpans(data: Data): Map<string, Span[]> {
  const { trace } = data;
  const open = new Map<number, number[]>(); // by task, the outermost first
  const tasks = new Map<number, { name: string; levels: Span[][]; count: number }>();
  for (let i = 0; i < trace.count; i++) {
    if (trace.type[i] !== kindOf.call && trace.type[i] !== kindOf.ret) continue;
    const task = contextOf(data, i)[3];
    const calls = open.get(task) ?? [];
    open.set(task, calls);
    if (trace.type[i] === kindOf.call) {
      if ((trace.flags[i] & flag.returns) !== 0) calls.push(i);
      continue;
    }
    const begin = trace.time[i] - trace.durationOf(i); // each is rounded
    const level = trace.duration[i] === 0 ? -1 : calls.findLastIndex((call) => Math.abs(trace.time[call] - begin) <= 2);
    if (level < 0) continue;
    const [call] = calls.splice(level); // what it called and has not returned never will
    if (level >= mostLevels) continue;
    let of = tasks.get(task);
    if (of === undefined) tasks.set(task, (of = { name: taskText(data, i) || "no task", levels: [], count: 0 }));
    const name = locationOf(data, contextOf(data, call)[1])?.[0] ?? "?";
    const text = `${name}${data.texts.get(call) ?? ""} = ${hex(trace.low[i], 1)}, ${length(trace.durationOf(i))}`;
    (of.levels[level] ??= []).push({ from: trace.time[call], to: trace.time[i], text, event: call });
    of.count++;
  }
  const spans = new Map<string, Span[]>();
  for (const { name, levels } of [...tasks.values()].sort((a, b) => b.count - a.count).slice(0, mostTasks)) {
    levels.forEach((all, level) => spans.set(`calls ${name}${level === 0 ? "" : ` ${level + 1}`}`, all.sort((a, b) => a.from - b.from)));
  }
  return spans;
}
