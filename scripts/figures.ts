/**
 * `npm run figures`: the suites that CI runs as samples, with full counts, and the bench; writes docs/figures.md. What was
 * measured stands there as it came out, met or not, and from the moment it is there. All of it takes hours, and costs want a quiet machine: with `--only PATTERN`
 * the suites and benches whose names match are done anew, and the rest of the page stays as it is.
 */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Outcome, runSuites, type SuiteOutcome } from "./suites.ts";

const root = join(import.meta.dirname, "..");

/** Suites that count something, whether or not CI runs fewer. */
const alwaysShown =
  /\.vectors\.test\.ts$|hostile_gateway|signer_sandbox|two_gateways|node_curves|noble_curves|matrix\.test|consensus\.test|policy_rows|cli\/src\/policy\.test/;

const benchNames = ["bench", "bench --scale", "bench --scale --wallets", "bench --attack"];

process.env.KEYSTEAD_FIGURES = "1";
const code = measuredCode();
const files = ["core", "server", "e2e", "trials", "cli"]
  .flatMap((name) => globSync(`${name}/**/*.test.ts`, { cwd: root, exclude: ["**/node_modules"] }))
  .filter((path) => alwaysShown.test(path) || readFileSync(join(root, path), "utf8").includes("KEYSTEAD_FIGURES"))
  .sort();

const { values: options } = parseArgs({ options: { only: { type: "string" } } });
const only = new RegExp(options.only ?? "");
const page = join(root, "docs/figures.md");
if (![...files, ...benchNames].some((name) => only.test(name))) {
  console.error(
    `no suite and no bench is called like \`${options.only}\`. There are:\n${[...files, ...benchNames].join("\n")}`,
  );
  process.exit(2);
}
await runAll(files.filter((path) => only.test(path)));
for (const name of benchNames.filter((name) => only.test(name))) {
  write({}, { [name]: { code, text: await runBench(...name.split(" ").slice(1)) } });
}

/** The commit that is measured: figures of different days stand side by side. */
function measuredCode(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
  try {
    const isChanged = git("status", "--porcelain", "--", ".", ":!docs/figures.md") !== "";
    return `${git("rev-parse", "--short", "HEAD")}${isChanged ? " with changes" : ""}`;
  } catch {
    return "no commit";
  }
}

/** What a bench said, and of which code. */
type Block = { code: string; text: string };

/** The page is read anew: another part of it may have been measured meanwhile. */
function write(rows: Record<string, string>, blocks: Record<string, Block>): void {
  const before = readFileSync(page, "utf8");
  writeFileSync(page, toPage({ ...rowsOf(before), ...rows }, { ...blocksOf(before), ...blocks }));
}

async function runAll(chosen: readonly string[]): Promise<void> {
  if (chosen.length === 0) return;
  const setup = { cwd: root, globalSetupPath: join(root, "scripts/test_setup.ts") };
  await runSuites({ files: [...chosen], ...setup }, conclude, (path, suite) => {
    // What was left out here may have been measured elsewhere; a suite without tests of its own runs shared ones.
    const { passed, failed, skipped } = suite;
    if (skipped.length === 0 && passed.length + failed.length > 0) write({ [path]: toRow(path, suite) }, {});
  });

  function conclude({ success, skipped, files: all }: Outcome): string[] {
    // Tests that several suites share count where they are written.
    const shared = [...all].filter(([path]) => !chosen.includes(path));
    write(Object.fromEntries(shared.map(([path, suite]) => [path, toRow(path, suite)])), {});
    if (!success || skipped.length > 0) process.exitCode = 1;
    return skipped.map((test) => `skipped, so its suite's figures stay as they were: ${test}`);
  }
}

function toRow(path: string, { passed, failed, said }: SuiteOutcome): string {
  const words = said.map((line) => line.replaceAll("|", "\\|")).join("<br>");
  const count = failed.length === 0 ? String(passed.length) : `${passed.length}, **${failed.length} failed**`;
  return `| \`${path}\` | ${code} | ${count} | ${words} |`;
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
  return Object.fromEntries(rows.filter(([path = ""]) => existsSync(join(root, path))));
}

function blocksOf(text: string): Record<string, Block> {
  const blocks = text.matchAll(/^### `npm run (?<name>[^`]+)`\n\nAt (?<at>.+):\n\n```\n(?<block>[\s\S]*?)\n```$/gm);
  return Object.fromEntries(
    [...blocks].map(([, name = "", at = "", block = ""]) => [name.replace(" -- ", " "), { code: at, text: block }]),
  );
}

function toPage(rows: Readonly<Record<string, string>>, blocks: Readonly<Record<string, Block>>): string {
  const sorted = Object.keys(rows).sort();
  const cost = benchNames.flatMap((name) => {
    const { code, text } = blocks[name] ?? {};
    return text === undefined
      ? []
      : `### \`npm run ${name.replace(" ", " -- ")}\`\n\nAt ${code}:\n\n\`\`\`\n${text}\n\`\`\``;
  });
  return `<!-- Written by \`npm run figures\`. Do not edit. -->
# Figures

Last measured with Node ${process.version} on ${cpus().length} cores (${process.arch}). Ratios travel between machines; times do not.

## Suites with full counts

| suite | at commit | tests passed | what they counted |
|---|---|---|---|
${sorted.map((path) => rows[path]).join("\n")}

## Cost

${cost.join("\n\n")}
`;
}
