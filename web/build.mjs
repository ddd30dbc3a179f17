// node build.mjs [OUTPUT]: all of the page in one file, dist/page.html. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const output = process.argv[2] ?? join(here, "dist/page.html");

async function bundle(entry, options) {
  const built = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    legalComments: "none",
    charset: "ascii", // the same text, whatever a server says of its encoding
    target: ["chrome100", "firefox100", "safari15.4"],
    ...options,
  });
  return built.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = await bundle("src/main.ts", { format: "iife" });
const style = await bundle("src/style.css", {});
if (/<\/(script|style)|<!--/i.test(script + style)) throw new Error("the bundle would end its own element");

// No script but this one, and no text of a document ever becomes markup (trusted types); nothing is loaded, nothing sent.
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)}`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "connect-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const parts = {
  POLICY: policy,
  NOTICE: readFileSync(join(here, "node_modules/uplot/LICENSE"), "utf8").trim(),
  STYLE: style,
  SCRIPT: script,
};
const page = readFileSync(join(here, "src/page.html"), "utf8").replace(/%([A-Z]+)%/g, (_, name) => parts[name]);

const placeholder = '<script type="application/json" id="podere-report">null</script>';
if (page.split(placeholder).length !== 2) throw new Error("the place of the document must be there once");
if (page.split("connect-src 'none'").length !== 2) throw new Error("a server replaces this, so it must be there once");
mkdirSync(dirname(output), { recursive: true });
writeFileSync(output, page);
