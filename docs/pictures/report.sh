#!/bin/sh
# Draws docs/pictures/report.png from the trace of `make demo`. Usage: docs/pictures/report.sh [BUILD]; needs `make report`
# and Chromium.
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build}")
(cd "$build" && ./mmioscope report demo.mmio -o demo.html 2>/dev/null)
node --input-type=module - "$build" docs/pictures/report.png <<'END'
import { createRequire } from "node:module";
const [, , build, picture] = process.argv;
const { chromium } = createRequire(`${build}/report/page/`)("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1100, height: 880 } });
await page.goto(`file://${build}/demo.html`);
await page.waitForSelector("html[data-ready]");
await page.locator("#timeline").evaluate((section) => scrollTo(0, section.offsetTop - 20));
await page.screenshot({ path: picture });
await browser.close();
END
