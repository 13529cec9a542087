#!/bin/sh
# Draws docs/pictures/report.png from the trace of `make demo`. Usage: docs/pictures/report.sh [BUILD]; needs `make page`
# and Chromium.
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build}")
(cd "$build" && ./mmioscope report demo.mmio -o demo.html 2>/dev/null)
node --input-type=module - "$build" docs/pictures/report.png <<'END'
import { createRequire } from "node:module";
const [, , build, picture] = process.argv;
const { chromium } = createRequire(`${build}/page/app/`)("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.goto(`file://${build}/demo.html#q=dev%3D%3Dethernet&open=ethernet@202000000`);
await page.waitForSelector("body[data-ready]");
await page.fill("#filter", "dev==ethernet && TX_DATA_FIFO.Data > 0xffff");
await page.press("#filter", "Enter");
await page.evaluate(() => document.activeElement.blur());
for (const key of ["n", "f", "s", "s", "s", "s", "s"]) await page.keyboard.press(key);
await page.fill("#filter", "dev==ethernet");
await page.press("#filter", "Enter");
await page.evaluate(() => document.activeElement.blur());
await page.waitForTimeout(500); // until all is drawn
await page.screenshot({ path: picture });
await browser.close();
END
