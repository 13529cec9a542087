// Opens the page of `mmioscope report` in headless Chromium, and uses it like a reader: node tests/report/run.mjs BUILD
// [EVENTS]. With EVENTS also that of a made-up boot of so many: its size is checked, and its time printed. Screenshots
// are in BUILD/tests/report/. The last line is "report: N passed, M failed".
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { secondsText } from "../../host-tools/report/page/words.js";

const build = resolve(process.argv[2]);
const { chromium } = createRequire(`${build}/report/page/`)("playwright-core");
const own = `${build}/tests/report`;
mkdirSync(own, { recursive: true });
const mmioscope = (...words) =>
  execFileSync(`${build}/mmioscope`, words, { cwd: own, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
const rowsOf = (text) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

// Two CPUs, a poll, an interrupt, a register that two CPUs write, and texts that would be markup if not escaped.
// B lacks the last write.
const hostile = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1><!--<script>";
function text(last) {
  const lines = [
    "frequency 1000000",
    "device dev@1000 0x1c050000 0x1000 acme,dev",
    "device gic@2c001000 0x2c001000 0x1000 arm,cortex-a15-gic",
    "device gic@2c001000[1] 0x2c002000 0x1000",
    "interrupt dev@1000 41",
    "code 0xc0500000 0x100 dev_start",
    "code 0xc0500100 0x100 dev_wait",
    "task 0xc1000000 7 <b>evil</b>",
  ];
  for (let i = 0; i < 600; i++) {
    const at = (i / 100).toFixed(6),
      cpu = i % 2,
      took = i === 300 ? 900 : 1 + (i % 3);
    const access =
      i % 50 === 0
        ? `W4 0x1c050000 ${(i / 50) % 7} pc=0xc0500010`
        : `R4 0x1c050004 ${i % 50 === 49 ? 0x50 : 0x51} pc=0xc0500110`;
    lines.push(`${at} cpu${cpu} ${access} duration=${took} task=0xc1000000 mode=0x13 sp=0xc1602f00`);
  }
  lines.push(
    "6.05 cpu0 marker value=7",
    "6.1 cpu1 R4 0x2c00200c 41 pc=0xc0500010",
    "6.2 cpu1 W4 0x2c002010 41 pc=0xc0500010",
  );
  if (last) lines.push("6.3 cpu0 W4 0x1c050000 5 pc=0xc0500014");
  return lines.join("\n") + "\n";
}

const registers = ["--registers", "dev.regs"];
writeFileSync(
  `${own}/dev.regs`,
  `device dev : <i>evil</i>
compatible acme,dev
0x000 CTRL : control
  [0] EN
  [2:1] MODE 0=off 1=slow 2=fast
0x004 STATUS : status
  [0] BUSY
  [7:4] LEVEL
`,
);

let passed = 0,
  failed = 0;
function check(name, good, ...seen) {
  if (good) passed++;
  else failed++;
  console.log(
    good ? `ok report: ${name}` : `FAILED report: ${name}: ${seen.map((one) => JSON.stringify(one)).join(", ")}`,
  );
}

for (const [step, said] of [
  [2.5, "7.5"],
  [2, "6"],
  [0.25, "0.75"],
  [1e-6, "0.000003"],
  [2.5e-8, "0.000000075"],
]) {
  check(`times ${step} s apart have their digits`, secondsText(3 * step, step) === said, secondsText(3 * step, step));
}

for (const [name, last] of [
  ["a", true],
  ["b", false],
]) {
  writeFileSync(`${own}/${name}.text`, text(last));
  execFileSync(`${build}/tests/trace-of-text`, [`${name}.text`, `${name}.mmio`], { cwd: own });
}
// One that lost records.
writeFileSync(`${own}/lossy.text`, text(true).replace("3.000000 cpu0", "2.995 cpu0 gap value=3\n3.000000 cpu0"));
execFileSync(`${build}/tests/trace-of-text`, ["lossy.text", "lossy.mmio"], { cwd: own });
spawnSync(`${build}/mmioscope`, ["report", "lossy.mmio", "-o", "lossy.html"], { cwd: own }); // exit status 1
// A file's name is shown, too.
const named = `${own}/${hostile.replaceAll("/", "_")}.mmio`;
writeFileSync(named, readFileSync(`${own}/a.mmio`));
mmioscope("report", ...registers, named, "-o", "a.html");
mmioscope("report", "--from", "2", "--to", "3", "a.mmio", "-o", "part.html");
mmioscope("report", ...registers, "--against", "a.mmio", "b.mmio", "-o", "both.html");

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  page.requests = [];
  page.errors = [];
  page.on("request", (request) => page.requests.push(request.url()));
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
  await page.goto(pathToFileURL(`${own}/${file}`).href);
  await page.waitForSelector("html[data-ready]", { timeout: 20000 });
  return page;
}
const outside = (page) => page.requests.filter((url) => !/^(file|data):/.test(url));
const dataOf = (page) => page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
const said = (page, selector) => page.locator(selector).first().innerText();

const page = await open("a.html");
const data = (await dataOf(page)).traces[0];
check("it opens from a file without an error", page.errors.length === 0 && page.url().startsWith("file:"), page.errors);
check(
  "the verdict is that of stat",
  (await said(page, ".verdict")) === "✓ complete: 603 events, 0 lost",
  await said(page, ".verdict"),
);

// Nothing that was counted is lost where it is drawn.
const counted = rowsOf(mmioscope("stat", "--by", "device", "--limit", "0", "--format", "jsonl", "a.mmio"));
for (const row of counted) {
  const cells = data.lanes.filter((lane) => lane.device === row.name).map((lane) => lane.cells);
  const sum = (of) => cells.flat().reduce((all, number, i) => all + (of.includes(i % 7) ? number : 0), 0);
  check(`the timeline has all accesses of ${row.name}`, sum([2, 3]) === row.reads + row.writes, sum([2, 3]), row);
  const longest = Math.max(...cells.flatMap((of) => of.filter((_, i) => i % 7 === 5))) * 1000;
  check(`and the longest of ${row.name}`, longest === row.longest_ns, longest, row.longest_ns);
}
const values = data.values.find((one) => one.register === "STATUS").cells;
check(
  "and the values of a register",
  values.filter((_, i) => i % 10 === 3).includes(0x50) && values.filter((_, i) => i % 10 === 4).includes(0x51),
);

check(
  "no text of a trace becomes markup",
  await page.evaluate(
    () => window.hacked === undefined && document.querySelector("#page img, #page script, #page b") === null,
  ),
);
check(
  "but is shown",
  (await said(page, "h1")).includes("onerror") && (await said(page, ".events")).includes("<b>evil</b>"),
);

// The timeline.
const inView = async () => {
  // by the search's own filter
  await page.getByLabel("in the timeline's view").check();
  const text = await page.locator("[role=status]").innerText();
  await page.getByLabel("in the timeline's view").uncheck();
  return Number(text.split(" of ")[1]?.replace(",", "") ?? 0);
};
const over = page.locator(".lanes .u-over");
const place = async (time, row) => {
  // on the screen, when the whole trace is in view
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  return [box.x + ((box.width * time) / data.end) * 1e9, box.y + 26 * (row + 0.5)];
};
const keys = async (...pressed) => {
  await page.locator(".lanes").focus();
  for (const key of pressed) await page.keyboard.press(key);
};
const all = await inView();
await page.mouse.move(...(await place(1, 1)));
await page.mouse.down();
await page.mouse.move(...(await place(2, 1)), { steps: 4 });
await page.mouse.up();
const dragged = await inView();
check("a drag zooms", dragged > 95 && dragged < 105, dragged);
await page.mouse.dblclick(...(await place(3, 1)));
check("a double click shows all", (await inView()) === all, await inView(), all);
await page.mouse.click(...(await place(6.15, 0)));
check("a click on a phase shows it alone", (await inView()) === 3, await inView());
await keys("0");
await page.locator("#timeline summary").click();
await page.locator("#timeline li .link").click();
check("a mark leads to its event", (await said(page, "#detail strong")) === "event 601", await said(page, "#detail"));
await page.keyboard.press("Escape");
const part = (await dataOf(await open("part.html"))).traces[0];
check(
  "of a part of a trace the timeline is that part",
  part.begin === 2e9 && part.end === 2.99e9,
  part.begin,
  part.end,
);
await keys("+", "+");
const closer = await inView();
check("keys zoom", closer > all * 0.2 && closer < all * 0.3, closer, all);
await keys(...Array(30).fill("+"));
check("down to single accesses", (await inView()) <= 1, await inView());
await keys("0", "Enter");
check("a key chooses an access", /^event \d+$/m.test(await said(page, "#detail")), await said(page, "#detail"));
await page.keyboard.press("Escape");
check("and another closes it", await page.locator("#detail").isHidden());

// Click-through: the slow access at 3 s, which a triangle marks, is number 301 and in the excerpts.
await page.mouse.click(...(await place(3, 1)));
check(
  "a click on the timeline shows the access",
  (await said(page, "#detail")).includes("event 301\n"),
  await said(page, "#detail"),
);
check(
  "and turns the table to it",
  (await said(page, "tr.chosen")).startsWith("301\t3.000000\t0\tW4\tdev@1000\tCTRL"),
  await said(page, "tr.chosen"),
);
check("with the write before it", (await said(page, "#detail")).includes("event 251"), await said(page, "#detail"));
await page.locator("#detail summary").click();
await page.locator("#detail details dd").first().waitFor();
check(
  "and the registers as they were then",
  (await said(page, "#detail details dl")).replaceAll("\n", " ") === "CTRL 0x6 STATUS 0x50",
  await said(page, "#detail details"),
);
await page.locator("#detail").getByText("event 251").click();
check("which a click shows", (await said(page, "#detail strong")) === "event 251", await said(page, "#detail"));
const poll = await page.locator("#polls td .link").first().innerText();
await page.locator("#polls td .link").first().click();
check("a click on a table's event shows it", (await said(page, "#detail strong")) === `event ${poll}`, poll);
await page.keyboard.press("Escape");

// Values.
await page.locator("#values input").fill("dev@1000 CTRL");
await page.locator("#values input").press("Enter");
check(
  "a register can be chosen",
  /^0 reads, 13 writes/.test(await said(page, "#values .note")),
  await said(page, "#values .note"),
);
await page.locator("#values select").selectOption({ label: "MODE" });
await page.locator("#values .u-over").scrollIntoViewIfNeeded();
const plot = await page.locator("#values .u-over").boundingBox();
await page.mouse.move(plot.x + ((plot.width * 2.05) / data.end) * 1e9, plot.y + 50);
check(
  "a field's values have their names",
  (await said(page, "#values .says")) === "2.000000 s: fast",
  await said(page, "#values .says"),
);

// The search.
await keys("/");
check("a key goes to the search", await page.evaluate(() => document.activeElement.id === "search"));
await page.locator("#search").fill("ctrl w4");
const found = await page.locator(".events tbody tr").allInnerTexts();
check(
  "the search finds what it says",
  found.length === 13 && found.every((row) => row.includes("CTRL") && row.includes("W4")),
  found.length,
);
await page.locator("#search").fill("no such words");
check("and says when there is nothing", (await said(page, "[role=status]")) === "no event in the excerpts");
await page.locator("#search").fill("");

await page.locator("#regs").getByText("offset").click();
const offsets = await page.locator("#regs tbody tr td:nth-child(2)").allInnerTexts();
check(
  "a table can be sorted",
  offsets.length > 1 &&
    offsets.join() ===
      offsets
        .slice()
        .sort((a, b) => b - a)
        .join(),
  offsets,
);

check("no request leaves", outside(page).length === 0, outside(page));
const open_ = await open("a.html", { bypassCSP: true });
await open_.evaluate(() => fetch("http://127.0.0.1:9/").catch(() => {}));
check("which would be seen", outside(open_).length === 1, open_.requests);
const strict = await open("a.html");
await strict.evaluate(() => fetch("http://127.0.0.1:9/").catch(() => {}));
check(
  "and which the page forbids itself",
  strict.errors.some((error) => error.includes("Content Security Policy")),
  strict.errors,
);

// Looks.
const contrast = (one) =>
  one.evaluate(() => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
      const hex = style
        .getPropertyValue(`--${name}`)
        .trim()
        .replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3");
      const [r, g, b] = [1, 3, 5]
        .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    return {
      text: Math.min(...["ink", "soft", "link"].map((name) => Math.min(ratio(name, "paper"), ratio(name, "card")))),
      marks: Math.min(...["read", "write", "mark"].map((name) => ratio(name, "paper"))),
      apart: ratio("read", "write"),
      paper: light("paper"),
    };
  });
// The colour in the middle of an element, as it is seen.
async function colourOf(page, selector) {
  const picture = (await page.locator(selector).first().screenshot()).toString("base64");
  return page.evaluate(async (source) => {
    const image = new Image();
    image.src = `data:image/png;base64,${source}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), {
      width: image.width,
      height: image.height,
    }).getContext("2d");
    canvas.drawImage(image, 0, 0);
    return [...canvas.getImageData(image.width / 2, image.height / 2, 1, 1).data.slice(0, 3)];
  }, picture);
}
for (const colorScheme of ["light", "dark"]) {
  for (const [width, height] of [
    [1280, 900],
    [390, 844],
  ]) {
    for (const file of ["a.html", "both.html"]) {
      const shown = await open(file, { colorScheme, viewport: { width, height } });
      const wide = await shown.evaluate(() => document.scrollingElement.scrollWidth);
      check(`${file} fits ${width} pixels, ${colorScheme}`, wide <= width, wide);
      await shown.screenshot({ path: `${own}/${file.replace(".html", "")}-${width}-${colorScheme}.png` });
      if (file === "a.html" && width === 1280) {
        // WCAG 2.1: 4.5 for text, 3 for graphics.
        const { text, marks, apart, paper } = await contrast(shown);
        check(
          `contrast, ${colorScheme}`,
          text >= 4.5 && marks >= 3 && (colorScheme === "dark") === paper < 0.5,
          text,
          marks,
          paper,
        );
        check(`reads and writes differ without colours, ${colorScheme}`, apart >= 1.8, apart);
        const session = await shown.context().newCDPSession(shown);
        for (const type of ["protanopia", "deuteranopia", "tritanopia"]) {
          await session.send("Emulation.setEmulatedVisionDeficiency", { type });
          const [a, b] = [await colourOf(shown, ".note .bar.read"), await colourOf(shown, ".note .bar.write")];
          check(`and with ${type}, ${colorScheme}`, Math.hypot(...a.map((one, i) => one - b[i])) >= 100, a, b);
        }
      }
      await shown.context().close();
    }
  }
}
await page.emulateMedia({ media: "print" });
check(
  "what only a screen can do is not printed",
  (await page.locator(".lanes").isVisible()) &&
    (await page.locator("nav").isHidden()) &&
    (await page.getByText("whole trace", { exact: true }).isHidden()),
);

const lossy = await open("lossy.html");
check(
  "a loss is in the verdict",
  (await said(lossy, ".verdict")).startsWith("✗ incomplete: 603 events, 3 records lost"),
  await said(lossy, ".verdict"),
);
await lossy.locator("#timeline summary").click();
check(
  "and in the list",
  (await said(lossy, "#timeline li")).endsWith("3 records of cpu 0 lost"),
  await said(lossy, "#timeline li"),
);
await lossy.locator("#timeline li .link").first().click();
check(
  "which leads to no event",
  (await lossy.locator("#detail").isHidden()) && lossy.errors.length === 0,
  lossy.errors,
);

// Two traces.
const both = await open("both.html");
const findings = await both.locator("#diff tbody tr").allInnerTexts();
let differs = "";
try {
  mmioscope("diff", "--format", "jsonl", "a.mmio", "b.mmio");
} catch (error) {
  differs = error.stdout;
}
check(
  "the findings are those of diff",
  findings.length > 0 && findings.length === rowsOf(differs).length,
  findings,
  differs,
);
check(
  "the traces stand side by side",
  await both.evaluate(() => {
    const [a, b] = [...document.querySelectorAll("#timeline .side")].map((side) => side.getBoundingClientRect());
    return a.top === b.top && a.right <= b.left;
  }),
);
await both.locator("#diff .link").first().click();
check(
  "a finding leads to its event",
  /^A: event \d+$/.test(await said(both, "#detail strong")),
  await said(both, "#detail"),
);
check(
  "without an error or a request",
  both.errors.length === 0 && outside(both).length === 0,
  both.errors,
  both.requests,
);

// A long trace.
const events = process.argv[3];
if (events) {
  execFileSync(`${build}/tests/make-cost-trace`, ["boot", events, "long.mmio"], { cwd: own });
  mmioscope("report", "long.mmio", "-o", "long.html");
  rmSync(`${own}/long.mmio`);
  const size = statSync(`${own}/long.html`).size;
  const start = performance.now();
  const long = await open("long.html");
  await long.locator(".lanes").focus();
  await long.keyboard.press("+");
  const took = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${events} events: ${(size / 1e6).toFixed(1)} MB, zoomed ${took} s after it was opened`);
  check("a long trace makes a page of at most 25 MB", size <= 25e6, size);
  const accesses = (await dataOf(long)).traces[0].lanes
    .flatMap((lane) => lane.cells)
    .reduce((sum, number, i) => sum + ([2, 3].includes(i % 7) ? number : 0), 0);
  check("which has all accesses", accesses === Number(events) && long.errors.length === 0, accesses, long.errors);
}

await browser.close();
console.log(`report: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
