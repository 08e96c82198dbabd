/**
 * `npm run figures`: the suites that CI runs as samples, with full counts, and the bench; writes docs/figures.md. What was
 * measured stands there as it came out, met or not. All of it takes hours, and costs want a quiet machine: with `--only PATTERN`
 * the suites and benches whose names match are done anew, and the rest of the page stays as it is.
 */
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runSuites } from "./suites.ts";

const root = join(import.meta.dirname, "..");

/** Suites that count something, whether or not CI runs fewer. */
const alwaysShown =
  /\.vectors\.test\.ts$|hostile_gateway|signer_sandbox|two_gateways|node_curves|noble_curves|matrix\.test|consensus\.test|policy_rows|cli\/src\/policy\.test/;

const benchNames = ["bench", "bench --scale", "bench --scale --wallets"];

process.env.KEYSTEAD_FIGURES = "1";
const files = ["core", "server", "e2e", "cli"]
  .flatMap((name) => globSync(`${name}/**/*.test.ts`, { cwd: root, exclude: ["**/node_modules"] }))
  .filter((path) => alwaysShown.test(path) || readFileSync(join(root, path), "utf8").includes("KEYSTEAD_FIGURES"))
  .sort();

const { values: options } = parseArgs({ options: { only: { type: "string" } } });
const only = new RegExp(options.only ?? "");
const page = join(root, "docs/figures.md");
const before = readFileSync(page, "utf8");
const suites = { ...rowsOf(before), ...(await runAll(files.filter((path) => only.test(path)))) };
const benches = { ...blocksOf(before), ...(await runBenches(benchNames.filter((name) => only.test(name)))) };
writeFileSync(page, toPage(suites, benches));

/** A row of the table for each suite. */
async function runAll(chosen: readonly string[]): Promise<Record<string, string>> {
  const rows: Record<string, string> = {};
  if (chosen.length === 0) return rows;
  await runSuites({ files: [...chosen], cwd: root, globalSetupPath: join(root, "scripts/test_setup.ts") }, (ended) => {
    for (const [path, { passed, said }] of ended.files) {
      const words = said.map((line) => line.replaceAll("|", "\\|")).join("<br>");
      rows[path] = `| \`${path}\` | ${passed.length} | ${words} |`;
    }
    if (!ended.success) process.exitCode = 1;
    return ended.skipped.map((test) => `skipped ${test}`);
  });
  return rows;
}

/** What each bench printed. */
async function runBenches(names: readonly string[]): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for (const name of names) texts[name] = await runBench(...name.split(" ").slice(1));
  return texts;
}

function runBench(...options: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ["bench/src/main.ts", ...options], { cwd: root, maxBuffer: 2 ** 24 }, (error, stdout) =>
      error === null ? resolve(stdout.trim()) : reject(error),
    );
  });
}

/** The rows of a page that was written before, by suite. Suites that are gone take theirs with them. */
function rowsOf(text: string): Record<string, string> {
  const rows = [...text.matchAll(/^\| `(?<path>[^`]+)` \|.*$/gm)].map(([row, path = ""]) => [path, row]);
  return Object.fromEntries(rows.filter(([path = ""]) => files.includes(path)));
}

function blocksOf(text: string): Record<string, string> {
  const blocks = text.matchAll(/^### `npm run (?<name>[^`]+)`\n\n```\n(?<block>[\s\S]*?)\n```$/gm);
  return Object.fromEntries([...blocks].map(([, name = "", block = ""]) => [name.replace(" -- ", " "), block]));
}

function toPage(rows: Readonly<Record<string, string>>, blocks: Readonly<Record<string, string>>): string {
  const sorted = Object.keys(rows).sort();
  const shown = benchNames.filter((name) => blocks[name] !== undefined);
  const cost = shown.map((name) => `### \`npm run ${name.replace(" ", " -- ")}\`\n\n\`\`\`\n${blocks[name]}\n\`\`\``);
  return `<!-- Written by \`npm run figures\`. Do not edit. -->
# Figures

Last measured with Node ${process.version} on ${cpus().length} cores (${process.arch}). Ratios travel between machines; times do not.

## Suites with full counts

| suite | tests passed | what they counted |
|---|---|---|
${sorted.map((path) => rows[path]).join("\n")}

## Cost

${cost.join("\n\n")}
`;
}
