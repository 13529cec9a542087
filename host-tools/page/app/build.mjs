// Makes the page of `mmioscope open`, without data: one file with its style and script. Usage: node build.mjs OUTPUT
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const here = import.meta.dirname;

async function bundled(file) {
  const made = await build({
    entryPoints: [join(here, file)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "utf8",
  });
  return made.outputFiles[0].text.trim();
}

const style = await bundled("page.css");
// The end of the element may not be in a string of the script.
const script = (await bundled("src/main.ts")).replaceAll("</script", "<\\/script");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const put = {
  // Nothing may be fetched; a saved file is a blob.
  POLICY: `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`,
  STYLE: style,
  SCRIPT: script,
  LICENCE: await readFile(join(here, "node_modules/fzstd/LICENSE"), "utf8"),
};
const page = await readFile(join(here, "page.html"), "utf8");
await writeFile(process.argv[2], page.replace(/@(POLICY|STYLE|LICENCE|SCRIPT)@/g, (_, name) => put[name]));
