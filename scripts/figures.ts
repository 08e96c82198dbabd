/**
 * `npm run figures`: the suites that CI runs as samples, with full counts, and the bench; writes docs/figures.md. What was
 * measured stands there as it came out, met or not.
 */
import { execFile } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { type Outcome, runSuites } from "./suites.ts";

const root = join(import.meta.dirname, "..");

/** Suites that count something, whether or not CI runs fewer. */
const alwaysShown =
  /\.vectors\.test\.ts$|hostile_gateway|signer_sandbox|two_gateways|node_curves|noble_curves|matrix\.test/;

process.env.KEYSTEAD_FIGURES = "1";
const files = ["core", "server", "e2e"]
  .flatMap((name) => globSync(`${name}/**/*.test.ts`, { cwd: root, exclude: ["**/node_modules"] }))
  .filter((path) => alwaysShown.test(path) || readFileSync(join(root, path), "utf8").includes("KEYSTEAD_FIGURES"))
  .sort();

let outcome: Outcome | undefined;
await runSuites({ files, cwd: root, globalSetupPath: join(root, "scripts/test_setup.ts") }, (ended) => {
  outcome = ended;
  if (!ended.success) process.exitCode = 1;
  return ended.skipped.map((test) => `skipped ${test}`);
});
const bench = [await runBench(), await runBench("--scale")].join("\n\n");
writeFileSync(join(root, "docs/figures.md"), toPage(outcome, bench));

function runBench(...options: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ["bench/src/main.ts", ...options], { cwd: root, maxBuffer: 2 ** 24 }, (error, stdout) =>
      error === null ? resolve(stdout.trim()) : reject(error),
    );
  });
}

function toPage(ended: Outcome | undefined, benchText: string): string {
  const suites = [...(ended?.files ?? [])].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = suites.map(([path, { passed, said }]) => {
    const words = said.map((line) => line.replaceAll("|", "\\|")).join("<br>");
    return `| \`${path}\` | ${passed.length} | ${words} |`;
  });
  return `<!-- Written by \`npm run figures\`. Do not edit. -->
# Figures

Measured with Node ${process.version} on ${cpus().length} cores (${process.arch}). Ratios travel between machines; times do not.

## Suites with full counts

| suite | tests passed | what they counted |
|---|---|---|
${rows.join("\n")}

## Cost

\`\`\`
${benchText}
\`\`\`
`;
}
