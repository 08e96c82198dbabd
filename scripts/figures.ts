/**
 * `npm run figures`: the suites that CI runs as samples, with full counts, and the bench; writes docs/figures.json and from it
 * docs/figures.md. What was measured stands there as it came out, met or not, and from the moment it is there. All of it takes
 * hours, and costs want a quiet machine: with `--only PATTERN` the suites and benches whose names match are done anew, and the rest
 * stays as it is.
 */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { benchNames } from "./figures/bench_names.ts";
import { addFigures, type SuiteFigures } from "./figures/record.ts";
import { findTestFiles, root } from "./packages.ts";
import { type Outcome, runSuites, type SuiteOutcome } from "./suites.ts";

/** Suites that count something, whether or not CI runs fewer. */
const alwaysShown =
  /\.vectors\.test\.ts$|hostile_gateway|hostile_log|signer_sandbox|two_gateways|courier_kills|exchange_kills|hostile_codes|node_curves|noble_curves|matrix(_\w+)?\.test|consensus\.test|policy_rows|e2e\/src\/authorisation\/|cli\/src\/policy\.test/;

/** What a hostile gateway tries without a stamp, or with somebody else's token. */
const withoutStamps = /hostile\/hostile_(auth_proxy|identity_logins|linking|oauth2_orders|proxy_user|sign_ups)\.test/;

process.env.KEYSTEAD_FIGURES = "1";
const machine = { node: process.version, cores: cpus().length, architecture: process.arch };
const commit = measuredCommit();
const files = findTestFiles().filter(
  (path) =>
    alwaysShown.test(path) ||
    withoutStamps.test(path) ||
    readFileSync(join(root, path), "utf8").includes('test/samples.ts"'),
);

const { values: options } = parseArgs({ options: { only: { type: "string" } } });
const only = new RegExp(options.only ?? "");
if (![...files, ...benchNames].some((name) => only.test(name))) {
  console.error(
    `no suite and no bench is called like \`${options.only}\`. There are:\n${[...files, ...benchNames].join("\n")}`,
  );
  process.exit(2);
}
await runAll(files.filter((path) => only.test(path)));
for (const name of benchNames.filter((name) => only.test(name))) {
  const lines = (await runBench(...name.split(" ").slice(1))).split("\n");
  addFigures(machine, { benches: { [name]: { commit, lines } } });
}

/** The commit that is measured: figures of different days stand side by side. */
function measuredCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
  try {
    const isChanged = git("status", "--porcelain", "--", ".", ":!docs/figures.md", ":!docs/figures.json") !== "";
    return `${git("rev-parse", "--short", "HEAD")}${isChanged ? " with changes" : ""}`;
  } catch {
    return "no commit";
  }
}

async function runAll(chosen: readonly string[]): Promise<void> {
  if (chosen.length === 0) return;
  const setup = { cwd: root, globalSetupPath: join(root, "scripts/test_setup.ts") };
  await runSuites({ files: [...chosen], ...setup }, conclude, (path, suite) => {
    // What was left out here may have been measured elsewhere; a suite without tests of its own runs shared ones.
    const { passed, failed, skipped } = suite;
    if (skipped.length === 0 && passed.length + failed.length > 0) {
      addFigures(machine, { suites: { [path]: figuresOf(suite) } });
    }
  });

  function conclude({ success, skipped, files: all }: Outcome): string[] {
    // Tests that several suites share count where they are written.
    const shared = [...all].filter(([path]) => !chosen.includes(path));
    addFigures(machine, { suites: Object.fromEntries(shared.map(([path, suite]) => [path, figuresOf(suite)])) });
    if (!success || skipped.length > 0) process.exitCode = 1;
    return skipped.map((test) => `skipped, so its suite's figures stay as they were: ${test}`);
  }
}

function figuresOf({ passed, failed, said }: SuiteOutcome): SuiteFigures {
  return { commit, passed: passed.length, failed: failed.length, said };
}

function runBench(...options: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ["bench/src/main.ts", ...options], { cwd: root, maxBuffer: 2 ** 24 }, (error, stdout) =>
      error === null ? resolve(stdout.trim()) : reject(error),
    );
  });
}
