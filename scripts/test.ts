/**
 * `npm test`: everything that can be checked without running, then every suite. What was skipped is listed with its
 * reason right above the runner's own summary, which stays last. KEYSTEAD_CI=1 makes a skip a failure, but for vectors that
 * are not there. `npm test -- FILE…` runs these files alone.
 */
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { vectorsAbsent } from "../core/test/vectors.ts";
import { runSuites } from "./suites.ts";

/** Raise it with the suite: a glob that matches nothing, or a file that dies early, must not pass for success. */
const minimumTests = 3750;

const root = join(import.meta.dirname, "..");
const packages = ["core", "server", "sdk", "cli", "e2e", "bench", "scripts"];

/** There are no options: one that is named is answered with the usage. */
function parseFiles(): string[] {
  try {
    return parseArgs({ allowPositionals: true }).positionals;
  } catch {
    console.error("usage: npm test [-- FILE…]   runs everything, or these test files alone");
    process.exit(2);
  }
}

type Check = { name: string; args: string[] };

/** tsc refuses a project without files, so a package counts from its first file on. */
function staticChecks(): Check[] {
  const projects = packages
    .filter((name) => globSync(`${name}/**/*.ts`, { cwd: root, exclude: ["**/node_modules"] }).length > 0)
    .flatMap((name) => [name, `${name}/tsconfig.test.json`].filter((path) => existsSync(join(root, path))));
  return [
    { name: "biome check", args: ["node_modules/@biomejs/biome/bin/biome", "check", "."] },
    { name: "generate --check", args: ["scripts/generate.ts", "--check"] },
    ...projects.map((path) => ({ name: `tsc -p ${path}`, args: ["node_modules/typescript/bin/tsc", "-p", path] })),
  ];
}

/** Runs all checks, two at a time, and returns the names of those that failed. */
async function runChecks(checks: Check[]): Promise<string[]> {
  const failed: string[] = [];
  const waiting = [...checks];
  const worker = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const { name, args } = check;
      const output = await runCheck(args);
      console.log(`${output === undefined ? "✔" : "✖"} ${name}`);
      if (output === undefined) continue;
      console.log(output);
      failed.push(name);
    }
  };
  await Promise.all([worker(), worker()]);
  return failed;
}

/** The output of a check that failed; undefined when it passed. */
function runCheck(args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: root, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve(error === null ? undefined : `${stdout}${stderr}`.trim() || error.message);
    });
  });
}

const positionals = parseFiles();
const isPart = positionals.length > 0;

const failedChecks = await runChecks(isPart ? [] : staticChecks());
// npm changes to the root; a file is named from where it was typed.
const named = positionals.map((path) => resolve(process.env.INIT_CWD ?? process.cwd(), path));
const absent = named.filter((path) => !existsSync(path));
if (absent.length > 0) {
  console.error(`no such test file: ${absent.join(", ")}`);
  process.exit(2);
}
const all = packages.flatMap((name) => globSync(`${name}/**/*.test.ts`, { cwd: root, exclude: ["**/node_modules"] }));
const files = isPart ? named : all.sort();
await runSuites({ files, cwd: root, globalSetupPath: join(root, "scripts/test_setup.ts") }, (outcome) => {
  const { success, tests, skipped } = outcome;
  const objections = failedChecks.map((name) => `failed before the suites: ${name}`);
  if (!isPart && tests < minimumTests) objections.push(`only ${tests} tests ran; there are at least ${minimumTests}`);
  const avoidable = skipped.filter((test) => !test.includes(vectorsAbsent));
  if (process.env.KEYSTEAD_CI === "1" && avoidable.length > 0) {
    objections.push(`KEYSTEAD_CI=1: a skipped test is a failure (${avoidable.length})`);
  }
  if (!success || objections.length > 0) process.exitCode = 1;
  return [...skipped.map((test) => `skipped ${test}`), ...objections];
});
