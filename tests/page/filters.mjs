// Compares the page's filters with the program's: node tests/page/filters.mjs BUILD [COUNT]. COUNT filters are drawn from
// a grammar, some of them damaged; page and program must choose the same events, or find the error in the same column.
// The last line is "filters: N passed, M failed".
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { bootText, registers } from "./boot.mjs";

const build = resolve(process.argv[2]);
const count = Number(process.argv[3] ?? 10_000);
const own = `${build}/tests/page`;
mkdirSync(own, { recursive: true });

const { buildSync } = createRequire(`${build}/page/app/`)("esbuild");
buildSync({
  stdin: {
    contents: 'export { load } from "./src/load"; export { select } from "./src/filter/evaluate"; export { FilterError } from "./src/filter/tokens";',
    resolveDir: `${build}/page/app`,
    loader: "ts",
  },
  bundle: true,
  format: "esm",
  outfile: `${own}/filter.mjs`,
});
const { load, select, FilterError } = await import(`${own}/filter.mjs`);

writeFileSync(`${own}/dev.regs`, registers);
writeFileSync(`${own}/boot.text`, bootText());
execFileSync(`${build}/tests/trace-of-text`, [`${own}/boot.text`, `${own}/boot.mmio`]);
execFileSync(`${build}/mmioscope`, ["report", "--registers", `${own}/dev.regs`, `${own}/boot.mmio`, "-o", `${own}/filters.html`], { stdio: "ignore" });
const html = readFileSync(`${own}/filters.html`, "utf8");
const data = await load((id) => new RegExp(`id="${id}">([^]*?)</script>`).exec(html)[1]);

// mulberry32
let state = 0x6d6d696f;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const one = (all) => all[below(all.length)];
const maybe = (text) => (random() < 0.5 ? text : "");

const { facts, names } = data;
const texts = {
  dev: ["dev", "dev@1000", "uart", "acme,dev", "gic@2c001000", "nothing", ...facts.devices.flatMap((device) => device.names)],
  reg: ["CTRL", "status", "GICC_IAR", "GICC_*", "NONE"],
  func: ["dev_start", "dev_*", "probe", "?ev_wait"],
  caller: ["dev_start", "probe", "x"],
  module: ["kernel", "acme_dev"],
  file: ["main.c"],
  task: ["7", "8", "modprobe", "<b>evil</b>", "0xc1000000", "0x*"],
  comm: ["modprobe", "<b>evil</b>", "swapper"],
  irq: ["41", "dev", "dev@1000", "4*"],
  text: ["marker", "*"],
};
const regexes = ["^dev", "[A-Z]+", "a.c", "(?:dev|uart)", "^$", "wait|start", "\\d+", "\\bdev\\b", "[^_]$", "x{2,3}", "e+?v", "\\s", "[\\w@]+", "\\.", "."];
const word = (text) => (/^[\w@./*?:[\]-]+$/.test(text) && !text.includes("..") && random() < 0.8 ? text : `'${text.replace(/'/g, "''")}'`);

/** A number that some event has, or one near it. */
function number(field) {
  if (field.values.length > 0 && random() < 0.8) return one(field.values)[0];
  const index = below(data.trace.count);
  if (field.time) return one([`${(data.trace.time[index] / 1e9).toFixed(6)}`, `${below(9000)}ms`, `${below(90)}us`, "2.5s", "41ns", "1"]);
  const value = one([data.trace.value(index), BigInt(below(10)), BigInt(data.trace.low[index]) + 1n, 0xc0500110n, 0x1c050000n, 0x1c060010n, 4n, 0x100n]);
  return one([String(value), `0x${value.toString(16)}`, `0b${(value & 0xffn).toString(2)}`, `${below(9)}K`]);
}
function items(item) {
  return random() < 0.5 ? item() : `(${Array.from({ length: 1 + below(3) }, item).join(one([",", ", "]))})`;
}
function comparison(field) {
  const range = () => (random() < 0.3 ? `${number(field)}..${number(field)}` : number(field));
  return one([
    () => "",
    () => `${one(["==", "!=", " < ", "<=", ">", ">= "])}${number(field)}`,
    () => `${one(["==", "!="])}${range()}`,
    () => ` ${maybe("not ")}in ${items(range)}`,
  ])();
}
function condition() {
  const kind = below(10);
  if (kind < 4) {
    const field = one(facts.fields.filter((field) => !field.text));
    return `${one(field.words)}${random() < 0.15 ? ` & ${one(["0xf", "1", "0x30", "0b11"])} ` : ""}${comparison(field)}`;
  }
  if (kind < 8) {
    const name = one(Object.keys(texts));
    return one([
      () => name,
      () => `${name}${one(["==", "!=", " == "])}${word(one(texts[name]))}`,
      () => `${name} ${maybe("not ")}in ${items(() => word(one(texts[name])))}`,
      () => `${name} ${one(["=~", "!~"])} "${one(regexes)}"`,
    ])();
  }
  const plain = { time: false, values: [] };
  const bits = one(["CTRL.EN", "ctrl.mode", "STATUS.BUSY", "STATUS.LEVEL", "*.BUSY", "field(EN)", "field(CTRL, MODE)", "field('LEVEL')", "CTRL.*"]);
  return `${bits}${one([() => comparison(plain), () => `==${one(["fast", "slow", "off", "'off'", "f*"])}`])()}`;
}
function expression(depth) {
  const kind = depth === 0 ? 0 : below(6);
  if (kind === 3) return `${expression(depth - 1)} ${one(["&&", "and"])} ${expression(depth - 1)}`;
  if (kind === 4) return `${expression(depth - 1)} ${one(["||", "or"])} ${expression(depth - 1)}`;
  if (kind === 5) return `${one(["!", "not "])}(${expression(depth - 1)})`;
  return condition();
}
/** A filter with one character more, less, or another one. */
function damaged(text) {
  const at = below(text.length + 1);
  const c = one(["(", ")", "=", "&", "'", '"', " ", "x", "9", ",", "..", "!", "é", ""]);
  return text.slice(0, at) + c + text.slice(at + below(2));
}

const filters = Array.from({ length: count }, () => {
  const text = expression(3);
  return random() < 0.15 ? damaged(text) : text;
}).filter((text) => text.trim() !== "");

const program = execFileSync(`${build}/tests/choose`, [`${own}/boot.mmio`, `${own}/dev.regs`], {
  input: filters.join("\n") + "\n",
  encoding: "utf8",
  maxBuffer: 1 << 28,
}).trim().split("\n");

/** What the page chooses, in the words of choose.cpp. */
function chosen(text) {
  try {
    const events = select(text, data);
    let hash = 2166136261;
    for (const index of events) hash = Math.imul(hash ^ (index + 1), 16777619);
    return `${events.length} ${hash >>> 0}`;
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    return `error ${[...text.slice(0, error.column)].reduce((bytes, c) => bytes + Buffer.byteLength(c), 0) + 1}`;
  }
}

let passed = 0;
let failed = 0;
const kinds = { errors: 0, none: 0, all: 0, some: 0 };
filters.forEach((text, n) => {
  const page = chosen(text);
  if (page === program[n]) passed++;
  else if (++failed <= 20) console.log(`FAILED filters: ${text}: the page says ${page}, the program ${program[n]}`);
  const events = Number(page.split(" ")[0]);
  kinds[Number.isNaN(events) ? "errors" : events === 0 ? "none" : events >= data.trace.count - 1 ? "all" : "some"]++;
});
// A comparison of filters that choose nothing would say nothing.
if (kinds.some < filters.length / 4 || kinds.errors < filters.length / 30) {
  failed++;
  console.log(`FAILED filters: too few of them choose some events: ${JSON.stringify(kinds)}`);
}
console.log(`${filters.length} filters: ${JSON.stringify(kinds)}`);
console.log(`filters: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
