// Makes the page of `mmioscope report`: one file with its styles and scripts. Usage: node build.mjs OUTPUT
import { build } from "esbuild";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2];

async function bundled(file) {
  const made = await build({
    entryPoints: [join(here, file)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2020",
    charset: "utf8",
  });
  return made.outputFiles[0].text;
}

const put = {
  STYLE: await bundled("page.css"),
  // The end of the element may not be in a string of the script.
  LICENCE: await readFile(join(here, "node_modules/uplot/LICENSE"), "utf8"),
  SCRIPT: (await bundled("page.js")).replaceAll("</script", "<\\/script"),
};
const page = await readFile(join(here, "page.html"), "utf8");
await mkdir(dirname(output), { recursive: true });
await writeFile(
  output,
  page.replace(/@(STYLE|LICENCE|SCRIPT)@/g, (_, name) => put[name]),
);
