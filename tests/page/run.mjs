// Opens the page of `mmioscope open` in headless Chromium, and uses it by clicks and keys: node tests/page/run.mjs BUILD
// [EVENTS]. With EVENTS also that of a made-up trace of so many: its memory and times are compared with an empty page's.
// Screenshots are in BUILD/tests/page/. The last line is "page: N passed, M failed".
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { bootText, hostile, registers } from "./boot.mjs";

const build = resolve(process.argv[2]);
const packages = createRequire(`${build}/page/app/`);
const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
const own = `${build}/tests/page`;
mkdirSync(own, { recursive: true });
const mmioscope = (...words) => spawnSync(`${build}/mmioscope`, words, { cwd: own, encoding: "utf8", maxBuffer: 1 << 28 });

let passed = 0;
let failed = 0;
function check(name, good, ...seen) {
  if (good) passed++;
  else failed++;
  console.log(good ? `ok page: ${name}` : `FAILED page: ${name}: ${seen.map((one) => JSON.stringify(one)).join(", ")}`);
}

// The page in the repository is the one that its sources make.
check("host-tools/page/page.html is that of its sources (make page)",
  readFileSync("host-tools/page/page.html").equals(readFileSync(`${build}/page/page.html`)));

// A file's name is shown, too.
const name = `${hostile.replaceAll("/", "_")}.mmio`;
writeFileSync(`${own}/dev.regs`, registers);
writeFileSync(`${own}/boot.text`, bootText());
execFileSync(`${build}/tests/trace-of-text`, ["boot.text", name], { cwd: own });
writeFileSync(`${own}/dmesg.txt`, `[    3.000000] acme: ready ${hostile}\n`);
rmSync(`${own}/${name}.notes`, { force: true });
const given = `was <b>${hostile}</b>`;
mmioscope("note", name, "102", given);
mmioscope("note", name, "9", "to be removed");
const made = mmioscope("report", "--registers", "dev.regs", "--dmesg", "dmesg.txt", "--dmesg-offset", "0.5", name, "-o", "boot.html");
check("a page is made", made.status === 0, made.status, made.stderr);
mmioscope("report", "--from", "2s", "--to", "3s", "-F", "dev==dev", name, "-o", "part.html");
writeFileSync(`${own}/lossy.text`, bootText().replace("4.000000 cpu0", "3.995 cpu0 gap value=3\n4.000000 cpu0"));
execFileSync(`${build}/tests/trace-of-text`, ["lossy.text", "lossy.mmio"], { cwd: own });
const lossy = mmioscope("report", "lossy.mmio", "-o", "lossy.html");
check("an incomplete trace ends with status 1", lossy.status === 1, lossy.status);
const cache = `${own}/cache`;
rmSync(cache, { recursive: true, force: true });
const opened = spawnSync(`${build}/mmioscope`, ["open", "lossy.mmio"], { cwd: own, encoding: "utf8", env: { PATH: process.env.PATH, XDG_CACHE_HOME: cache } });
check("open without a screen says the page's path", opened.stdout === `${cache}/mmioscope/pages/lossy.mmio.html\n`, opened.stdout, opened.stderr);
check("that is a page of this user alone", (statSync(`${cache}/mmioscope/pages`).mode & 0o777) === 0o700);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--enable-precise-memory-info", "--js-flags=--expose-gc"],
});

async function open(file, { hash = "", ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(5000);
  page.requests = [];
  page.errors = [];
  page.on("request", (request) => page.requests.push(request.url()));
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
  await page.goto(pathToFileURL(`${own}/${file}`) + hash);
  await page.waitForSelector("body[data-ready]", { timeout: 60_000 });
  return page;
}
const text = (page, id) => page.locator(`#${id}`).textContent();
const hash = async (page) => {
  await page.waitForTimeout(300); // the address follows a little later
  return new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
};
const range = async (page) => (await hash(page)).get("t")?.split("-").map(Number) ?? null;
/** The events of the lines in sight. */
const lines = (page) => page.locator("#list-lines .number").allTextContents();
const filterBy = async (page, filter) => {
  await page.fill("#filter", filter);
  await page.press("#filter", "Enter");
};
/** Whether it is there with the next frames. */
const appears = (locator) => locator.waitFor().then(() => true, () => false);
/** The number of events that the program prints. */
const printed = (...words) => mmioscope("print", "--format", "csv", "--registers", "dev.regs", ...words, name).stdout.trim().split("\n").length - 1;

// The screen of a desk, light.
{
  const page = await open("boot.html");
  await page.screenshot({ path: `${own}/1440-light.png` });
  check("nothing is fetched, and nothing is wrong", page.requests.length === 1 && page.errors.length === 0, page.requests, page.errors);
  check("texts of the trace are no markup", (await page.evaluate(() => window.hacked)) === undefined);
  check("the file's name is shown", (await text(page, "trace-name")) === name, await text(page, "trace-name"));
  check("the verdict is shown", (await text(page, "verdict")).includes("complete"), await text(page, "verdict"));
  const all = printed("-F", "type!=own");
  check("all events but the hypervisor's own", (await text(page, "matches")) === `${all} events`, await text(page, "matches"), all);
  check("time begins at the guest's first access", (await range(page)) === null && (await lines(page))[0] === "2", await lines(page));
  const size = await page.evaluate(() => document.documentElement.scrollHeight);
  check("the page is as tall as the window", size === 900, size);

  await filterBy(page, "reg==CTRL && w");
  const some = printed("-F", "reg==CTRL && w");
  check("a filter shows as many as print", (await text(page, "matches")) === `${some} matches, of ${all} events`, await text(page, "matches"), some);
  await page.click("#next");
  check("the next match is the first", (await text(page, "matches")).startsWith("1 of "), await text(page, "matches"));
  await page.locator("body").press("n");
  await page.locator("body").press("n");
  await page.locator("body").press("p");
  check("n and p step", (await text(page, "matches")).startsWith("2 of "), await text(page, "matches"));
  check("the selected event is in sight", (await page.locator("#list-lines .selected").count()) === 1);
  const values = await hash(page);
  check("the address has filter and event", values.get("q") === "reg==CTRL && w" && values.get("e") === "52", String(values));
  const link = page.url();
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector("body[data-ready]");
  check("a link opens the page there", (await text(page, "matches")).startsWith("2 of ") && (await page.inputValue("#filter")) === "reg==CTRL && w");

  const inspector = await text(page, "inspector");
  check("the inspector names fields, code, caller and task", ["EN=1", "dev_start+0x10", "probe+0x20 [acme_dev]", "mmioscope why 52"].every((word) => inspector.includes(word)), inspector);
  check("a changed bit is marked", (await page.locator(".bit.changed").count()) === 1, await page.locator(".bit.changed").count());
  await page.locator("#inspector dt:text-is('last write') + dd button").click();
  check("the last write is a click away", (await text(page, "inspector")).includes("event2 of "), await text(page, "inspector"));
  const [trace] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  await trace.saveAs(`${own}/saved.mmio`);
  check("the trace is sound, and has all events", mmioscope("check", "saved.mmio").status === 0 &&
    execFileSync(`${build}/tests/same-records`, [`${own}/saved.mmio`, `${own}/${name}`], { encoding: "utf8" }) !== null);
  await page.fill("#note", "LED\ton");
  await page.press("#note", "Tab");
  check("a note is in the list", await appears(page.locator("#list-lines", { hasText: "LED on" })));
  await page.locator("body").press("Escape");
  await page.locator("#inspector button", { hasText: given }).click();
  check("notes of the trace's file are there, and in the list", await appears(page.locator("#list-lines .selected", { hasText: given })));
  await page.locator("body").press("Escape");
  await page.locator("#inspector button", { hasText: "to be removed" }).click();
  check("a note's click goes to its event", (await hash(page)).get("e") === "9", String(await hash(page)));
  await page.locator("body").press("e");
  await page.keyboard.press("Control+A");
  await page.keyboard.press("Delete");
  await page.keyboard.press("Tab");
  await page.reload();
  await page.waitForSelector("body[data-ready]");
  check("notes stay", await appears(page.locator("#list-lines", { hasText: "LED on" })));
  check("a removed note stays removed", (await page.locator("#list-lines", { hasText: "to be removed" }).count()) === 0);
  const [notes] = await Promise.all([page.waitForEvent("download"), page.click("#save-notes")]);
  await notes.saveAs(`${own}/saved.notes`);
  check("notes are a file", readFileSync(`${own}/saved.notes`, "utf8") === `2\tLED on\n102\t${given}\n`, readFileSync(`${own}/saved.notes`, "utf8"));
  check("which the program takes", mmioscope("note", "--import", "saved.notes", "saved.mmio").status === 0 &&
    mmioscope("print", "--at", "2", "saved.mmio").stdout.includes("# LED on"));
  await page.context().close();
}

// The first screen has what `mmioscope advise` says.
{
  const page = await open("boot.html");
  const advice = JSON.parse(`[${mmioscope("advise", "--format", "jsonl", "--registers", "dev.regs", name).stdout.trim().replaceAll("\n", ",")}]`);
  const shown = await page.locator("#inspector .findings").first().locator("li").allTextContents();
  check("findings are on the first screen", advice.length > 1 && shown.join("\n") === advice.map((one) => `${one.finding} ${one.text}`).join("\n"), shown, advice);
  await page.locator("#inspector .findings button").first().press("Enter");
  check("a finding goes to its event", (await hash(page)).get("e") === String(advice[0].event) && (await page.locator("#list-lines .selected").count()) === 1, String(await hash(page)), advice[0]);
  await page.click('[role=tab]:has-text("Findings")');
  check("findings are a table, too", (await page.locator("#table-panel tbody tr").count()) === advice.length);
  await page.context().close();
  const part = await open("part.html");
  check("a part has no notes: its events have other numbers", !(await text(part, "inspector")).includes("Notes"));
  await part.context().close();
}

// Errors and completion of filters.
{
  const page = await open("boot.html");
  await filterBy(page, "dev==dev && regg==CTRL");
  check("an error is at its column, with a suggestion", (await text(page, "filter-error")).startsWith("column 13: there is no field 'regg', did you mean 'reg'?"), await text(page, "filter-error"));
  await filterBy(page, "@plugin()");
  check("plug-ins are refused", (await text(page, "filter-error")).includes("plug-ins"), await text(page, "filter-error"));
  await filterBy(page, "reg =~ '(?=x)'");
  check("a regular expression that differs is refused", (await text(page, "filter-error")).includes("(?"), await text(page, "filter-error"));
  await filterBy(page, "reg =~ '[^]$'"); // any character to JavaScript, without an end to RE2
  check("a class of nothing is refused", (await text(page, "filter-error")).startsWith("column 8: "), await text(page, "filter-error"));
  await page.click("#clear");
  check("the filter goes", (await page.inputValue("#filter")) === "" && (await text(page, "filter-error")) === "");
  await page.focus("#filter");
  await page.keyboard.type("reg==ST");
  check("names are completed", (await page.locator("#filter-offers li").allTextContents()).includes("STATUS"), await page.locator("#filter-offers li").allTextContents());
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  check("Enter takes the completion", (await page.inputValue("#filter")) === "reg==STATUS", await page.inputValue("#filter"));
  check("the completed filter is applied", (await text(page, "matches")).includes("matches"), await text(page, "matches"));
  await page.context().close();
}

// Devices, lanes, zoom, measuring.
{
  const page = await open("boot.html", { colorScheme: "dark" });
  await page.screenshot({ path: `${own}/1440-dark.png` });
  await page.click('button[aria-label="Registers of dev@1000"]');
  await page.locator("#devices button", { hasText: /^CTRL$/ }).click();
  check("a click on a register filters", (await page.inputValue("#filter")) === "dev==dev@1000 && reg==CTRL", await page.inputValue("#filter"));
  const counts = await page.locator("#devices .count").allTextContents();
  check("counts say of how many", counts.some((count) => / of /.test(count)), counts);
  check("lanes without a match go", (await page.locator(".lane .name").allTextContents()).includes("dev") && !(await page.locator(".lane .name").allTextContents()).includes("gic.cpu"), await page.locator(".lane .name").allTextContents());
  await page.click("#clear");
  const plot = await page.locator("#plot").boundingBox();
  const middle = { x: plot.x + plot.width / 2, y: plot.y + 33 };
  await page.mouse.move(middle.x, middle.y);
  await page.mouse.wheel(0, -600);
  const near = await range(page);
  check("the wheel zooms", near !== null && near[1] - near[0] < 3.5, near);
  await page.mouse.down();
  await page.mouse.move(middle.x + 200, middle.y, { steps: 4 });
  await page.mouse.up();
  const moved = await range(page);
  check("dragging moves", moved[0] < near[0] && Math.abs(moved[1] - moved[0] - (near[1] - near[0])) < 1e-6, near, moved);
  for (const [key, better] of [
    ["w", (now, old) => now[1] - now[0] < old[1] - old[0]],
    ["s", (now, old) => now[1] - now[0] > old[1] - old[0]],
    ["d", (now, old) => now[0] > old[0]],
    ["a", (now, old) => now[0] < old[0]],
  ]) {
    const old = await range(page);
    await page.locator("body").press(key);
    const now = await range(page);
    check(`${key} moves the window`, better(now, old), old, now);
  }
  await page.locator("body").press("0");
  check("0 shows the whole trace", (await range(page)) === null, await range(page));
  await page.keyboard.down("Shift");
  await page.mouse.move(plot.x + 100, middle.y);
  await page.mouse.down();
  await page.mouse.move(plot.x + 300, middle.y, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  check("Shift and dragging measures", /^\S+ s from .* matching events/.test(await text(page, "measure-text")), await text(page, "measure-text"));
  // The lane of the device: its access nearest to the pointer is shown, and selected by a click.
  const row = await page.locator(".lane .name", { hasText: /^dev$/ }).boundingBox();
  await page.mouse.move(plot.x + plot.width / 3, row.y + 8);
  check("hover shows the access", /^\d+ {2}[\d.]+ s/.test(await text(page, "tip")) && (await text(page, "tip")).includes("dev"), await text(page, "tip"));
  await page.mouse.click(plot.x + plot.width / 3, row.y + 8);
  check("a click selects it everywhere", await appears(page.locator("#list-lines .selected")) && (await hash(page)).has("e"));
  await page.click('button[aria-label="Open dev@1000"]');
  await page.click('button[aria-label="Open dev@1000/STATUS"]');
  const labels = await page.locator(".lane .name").allTextContents();
  check("a device opens to CPUs, registers and fields", ["cpu0", "cpu1", "CTRL", "STATUS", "BUSY", "LEVEL"].every((label) => labels.includes(label)), labels);
  await page.locator('button[aria-label="Pin dev@1000/STATUS/BUSY"]').click();
  check("a pinned lane is the first", (await page.locator(".lane .name").allTextContents())[0] === "BUSY");
  await page.locator('button[aria-label="Hide uart@2,2000"]').click();
  check("a hidden lane goes, and can come back", !(await page.locator(".lane .name").allTextContents()).includes("uart") && (await text(page, "hidden-lanes")).includes("1"));
  check("lanes are in the address", (await hash(page)).get("pinned") === "dev@1000/STATUS/BUSY" && (await hash(page)).get("hidden") === "uart@2,2000", String(await hash(page)));
  // A name with a comma; the order of pinned lanes by the mouse and by keys, which stay where they were.
  await page.click("#hidden-lanes");
  const names = () => page.locator(".lane .name").allTextContents();
  await page.evaluate(() => document.getElementById("lanes-scroll").scrollTo(0, 0));
  await page.locator(".lane", { hasText: "polls" }).dragTo(page.locator(".lane", { hasText: "BUSY" }));
  check("a lane is dragged to its place", (await names()).slice(0, 2).join() === "polls,BUSY", await names());
  await page.locator('button[aria-label="Pin polls"]').press("Enter");
  await page.locator('button[aria-label="Pin uart@2,2000"]').press("Enter");
  await page.locator('button[aria-label="Pin uart@2,2000"]').press("ArrowUp");
  await page.keyboard.press("ArrowDown");
  check("keys move it", (await names()).slice(0, 2).join() === "BUSY,uart", await names());
  await page.keyboard.press("ArrowUp");
  check("the focus moves along", (await names()).slice(0, 2).join() === "uart,BUSY", await names());
  check("the address has the order", (await hash(page)).getAll("pinned").join(" ") === "uart@2,2000 dev@1000/STATUS/BUSY", String(await hash(page)));
  await page.reload();
  await page.waitForSelector("body[data-ready]");
  check("and gives it back", (await names()).slice(0, 2).join() === "uart,BUSY", await names());
  await page.locator('button[aria-label="Registers of dev@1000"]').press("Enter");
  await page.keyboard.press("Enter");
  check("a device opens and closes by keys", (await page.locator("#devices ul").count()) === 0);
  await page.screenshot({ path: `${own}/1440-lanes.png` });
  const log = await page.locator(".lane .name", { hasText: "kernel log" }).boundingBox();
  await page.locator("body").press("0");
  await page.mouse.move(plot.x + plot.width * (3.5 - 0.5) / 6.3, log.y + 8);
  check("the kernel's log has a lane, at its time", (await text(page, "tip")).includes("acme: ready"), await text(page, "tip"));
  const span = async (lane, seconds) => {
    const label = page.locator(".lane .name", { hasText: lane });
    await label.scrollIntoViewIfNeeded();
    const box = await label.boundingBox();
    await page.mouse.move(plot.x + (plot.width * (seconds - 0.5)) / 6.305, box.y + 8);
    return text(page, "tip");
  };
  const outer = await span(/^calls modprobe:8$/, 6.588);
  check("calls have lanes by task, with arguments, result and duration", /^dev_start\(0x1, 0x2, 0x0, 0x0\) = 0x5, 35 ms\n/.test(outer), outer);
  const inner = await span(/^calls modprobe:8 2$/, 6.575);
  check("what they call is a lane below, and what never returns is none", /^dev_wait\(0x3, 0x0, 0x0, 0x0\) = 0x4, 10 ms\n/.test(inner), inner);
  const marks = await span(/^marks$/, 6.78);
  check("pages that never move have no lane, and moves are no marks", !(await names()).includes("page 0x80002000") && !marks.includes("store"), marks, await names());
  const holder = await span(/^page 0x80001000$/, 6.785);
  check("pages that move have lanes, with who has them", /^cpu1: store from cpu0\n.*\nmove W1 memory \+0x1f04 *\nstore from cpu0\nprobe\+0x18 \[acme_dev\] \[modprobe:8\]$/.test(holder), holder);
  await page.mouse.down();
  await page.mouse.up();
  const shown = await text(page, "inspector");
  check("a click there shows the page, from whom, by what, and what came before", ["store from cpu0", "page0x80001000", "10 ms before: cpu0, store, first, dev_start+0x10", "probe+0x18 [acme_dev]", "modprobe:8"].every((word) => shown.includes(word)) && !shown.includes("last write"), shown);
  await page.locator("#inspector dt:text-is('page') + dd button").click();
  check("its moves are a click away", (await text(page, "matches")).includes("3 matches"), await text(page, "matches"));
  await page.click("#clear");
  check("interrupts have lanes, and the console", labels.some((label) => label.startsWith("irq 41")) && labels.includes("console") && labels.includes("polls"), labels);
  check("pixels of the plot are drawn", await page.evaluate(() => {
    const plot = document.getElementById("plot");
    const { data } = plot.getContext("2d").getImageData(0, 0, plot.width, plot.height);
    return new Set(new Uint32Array(data.buffer)).size > 4;
  }));
  await page.context().close();
}

// Tables and the list by keys.
{
  const page = await open("boot.html", { viewport: { width: 1280, height: 800 } });
  await page.screenshot({ path: `${own}/1280-light.png` });
  await page.click('[role=tab]:has-text("Phases")');
  check("a table is behind the list", (await page.locator("#table-panel tbody tr").count()) > 0 && !(await page.locator("#list").isVisible()));
  await filterBy(page, "w");
  check("a table says that it is about the whole trace", (await text(page, "table-panel")).includes("Whole trace"));
  await page.locator('[role=tab][aria-selected=true]').press("ArrowRight");
  check("the arrow keys change the table", (await page.locator('[role=tab][aria-selected=true]').textContent()) === "Interrupts");
  check("interrupts have the time to their end", (await page.locator("#table-panel tbody tr").first().locator("td").allTextContents())[3] === "100000.00");
  await page.click('[role=tab]:has-text("Recording")');
  check("the recorder's facts are one click away", (await text(page, "table-panel")).includes("records"), await text(page, "table-panel"));
  await page.click('[role=tab]:has-text("Events")');
  await page.focus("#list");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  check("the list goes by keys", (await text(page, "matches")).startsWith("2 of "), await text(page, "matches"));
  await page.keyboard.press("End");
  check("to its end", /^(\d+) of \1 matches/.test(await text(page, "matches")), await text(page, "matches"));
  await page.locator("body").press("?");
  check("? shows the keys", await page.locator("#help").isVisible());
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  check("without a selection the verdict is shown", (await text(page, "inspector")).includes("complete: "));
  await page.context().close();
}
{
  const page = await open("boot.html");
  await page.keyboard.press("Tab");
  check("the first Tab skips to the events", (await page.evaluate(() => document.activeElement.className)) === "skip");
  await page.keyboard.press("Enter");
  check("the skip link works", (await page.evaluate(() => document.activeElement.id)) === "list");
  await page.context().close();
}

// Two fingers.
{
  const page = await open("boot.html", { hasTouch: true });
  const plot = await page.locator("#plot").boundingBox();
  const fingers = await page.context().newCDPSession(page);
  const touch = (type, ...xs) => fingers.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((x, id) => ({ x: plot.x + x, y: plot.y + 33, id })) });
  await touch("touchStart", 300);
  await touch("touchStart", 300, 400);
  await touch("touchMove", 200, 400);
  await touch("touchMove", 200, 500);
  await touch("touchEnd");
  const [from, to] = await range(page);
  // 100 pixels have become 300; what was under the fingers still is.
  check("two fingers zoom at their place", Math.abs((to - from) * 3 - 6.3) < 0.1, from, to);
  await touch("touchStart", 300);
  await touch("touchMove", 400);
  await touch("touchEnd");
  check("one finger moves", (await range(page))[0] < from, await range(page), from);
  await page.context().close();
}

// A part, a loss.
{
  const page = await open("part.html");
  const some = printed("--from", "2s", "--to", "3s", "-F", "dev==dev");
  check("a part has what was chosen", (await text(page, "matches")) === `${some} events` && (await text(page, "trace-name")).includes("a part"), await text(page, "matches"), some);
  await page.context().close();
  const bad = await open("lossy.html");
  check("a loss is seen at once", (await text(bad, "verdict")) === "✗ not complete" && (await text(bad, "inspector")).includes("3 records lost"), await text(bad, "inspector"));
  await bad.context().close();
}

// A telephone, one pane at a time; and what axe-core says of each.
for (const colorScheme of ["light", "dark"]) {
  const page = await open("boot.html", { viewport: { width: 390, height: 800 }, colorScheme, hasTouch: true, reducedMotion: "reduce" });
  await page.screenshot({ path: `${own}/390-${colorScheme}.png` });
  check(`at 390 pixels nothing is wider than the screen, ${colorScheme}`, (await page.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  for (const pane of ["devices-pane", "overview", "behind", "inspector-pane"]) {
    await page.click(`#show-${pane}`);
    const seen = await page.evaluate(() => ["devices-pane", "overview", "behind", "inspector-pane"].filter((id) => document.getElementById(id).offsetHeight > 0));
    check(`pane ${pane}, ${colorScheme}`, seen.join() === pane, seen);
    await page.screenshot({ path: `${own}/390-${pane}-${colorScheme}.png` });
  }
  await page.context().close();
  for (const [width, wanted] of [[1440, "#e=52&open=dev@1000"], [1280, "#table=Phases"], [390, "#q=w"]]) {
    const one = await open("boot.html", { viewport: { width, height: 900 }, colorScheme, hash: wanted });
    // The page's policy forbids scripts, but not those of its inspector.
    const found = await one.evaluate(`${axe}; axe.run(document, { resultTypes: ["violations"] })`);
    check(`axe-core finds nothing at ${width} pixels, ${colorScheme}`, found.violations.length === 0,
      found.violations.map((violation) => [violation.id, violation.nodes.map((node) => node.target.join(" ")).slice(0, 4)]));
    await one.context().close();
  }
}

// Many events: memory and time against an empty page, and a plain loop.
const events = Number(process.argv[3] ?? 0);
if (events > 0) {
  execFileSync(`${build}/tests/make-cost-trace`, ["sd", String(events), `${own}/long.mmio`, "packed"]);
  const long = mmioscope("report", "long.mmio", "-o", "long.html");
  check("a page of a long trace is made", long.status === 0, long.stderr);
  check("above 10 million events it says how to cut", long.stderr.includes("choose a part by --from") === events > 1e7, long.stderr);
  const bytes = statSync(`${own}/long.html`).size / events;
  check("at most 10 bytes for an event", bytes <= 10, bytes);
  const held = /id="trace">([^<]*)</.exec(readFileSync(`${own}/long.html`, "latin1"))[1];
  check("a packed trace is in its page byte for byte", Buffer.from(held, "base64").equals(readFileSync(`${own}/long.mmio`)));
  const empty = await (await browser.newContext()).newPage();
  const heap = (page) => page.evaluate(() => (window.gc(), performance.memory.usedJSHeapSize / 1e6));
  const before = await heap(empty);
  const began = performance.now();
  const page = await open("long.html");
  const ready = performance.now() - began;
  const more = (await heap(page)) - before;
  check("heap: at most 150 MB more than an empty page for a million events", more <= 150 * Math.max(1, events / 1e6), more);
  const times = await page.evaluate(async () => {
    const best = (work) => Math.min(...Array.from({ length: 9 }, () => {
      const from = performance.now();
      work();
      return performance.now() - from;
    }));
    const { data, select } = window.mmioscope;
    const numbers = new Uint32Array(data.trace.count).map((_, i) => i * 2654435761);
    let sum = 0;
    const loop = best(() => {
      for (let i = 0; i < numbers.length; i++) sum += numbers[i] === 7 ? 1 : 0;
    });
    const register = data.names.registers.find((one) => one !== null)[0];
    return { loop, filter: best(() => select(`reg=='${register}'`, data)), sum };
  });
  check("a filter on a register: at most 10 times a plain loop", times.filter <= 10 * times.loop, times);
  console.log(`page: ${events} events: ${bytes.toFixed(1)} bytes each, ready in ${(ready / 1000).toFixed(1)} s, ${more.toFixed(0)} MB more than an empty page, filter ${times.filter.toFixed(1)} ms, loop ${times.loop.toFixed(1)} ms`);
  await page.context().close();
}

await browser.close();
console.log(`page: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
