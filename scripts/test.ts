/**
 * `npm test`: the static checks, then every suite that is not long. `npm run test:all`: the long suites, and nothing that
 * `npm test` ran already. `npm test -- FILE…` runs these files alone, whatever their tier; `--list` prints the files and runs none.
 *
 * Skipped tests are listed with their reasons and the slowest files with their times, right above the runner's own summary,
 * which stays last. KEYSTEAD_CI=1 makes a skip a failure, except for vectors that are not there.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { vectorsAbsent } from "../core/test/vectors.ts";
import { root } from "./packages.ts";
import { runStaticChecks } from "./static_checks.ts";
import { type Outcome, runSuites, slowestFiles } from "./suites.ts";
import { filesOf, minimumTests, type Tier } from "./tiers.ts";

const usage = `usage: npm test                  static checks and all suites but the long ones
       npm run test:all          the long suites
       npm test -- --list        the files of \`npm test\`; of the long suites: npm run test:all -- --list
       npm test -- FILE…         these test files alone`;

type Order = { tier: Tier; named: string[]; isList: boolean };

/** Anything that is not understood is answered with the usage. */
function parseOrder(): Order {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { long: { type: "boolean", default: false }, list: { type: "boolean", default: false } },
    });
    // npm changes to the root; a file is named from where it was typed.
    const named = positionals.map((path) => resolve(process.env.INIT_CWD ?? process.cwd(), path));
    return { tier: values.long ? "long" : "quick", named, isList: values.list };
  } catch {
    return stop(usage);
  }
}

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

/** What makes the run a failure although its tests passed. */
function objectionsTo({ tests, skipped }: Outcome, fewest: number): string[] {
  const objections: string[] = [];
  if (tests < fewest) objections.push(`only ${tests} tests ran; there are at least ${fewest}`);
  const avoidable = skipped.filter((test) => !test.includes(vectorsAbsent));
  if (process.env.KEYSTEAD_CI === "1" && avoidable.length > 0) {
    objections.push(`KEYSTEAD_CI=1: a skipped test is a failure (${avoidable.length})`);
  }
  return objections;
}

const { tier, named, isList } = parseOrder();
const isPart = named.length > 0;
const absent = named.filter((path) => !existsSync(path));
if (absent.length > 0) stop(`no such test file: ${absent.join(", ")}`);
const files = isPart ? named : filesOf(tier);
if (isList) {
  console.log(files.join("\n"));
  process.exit(0);
}

const failedChecks = isPart || tier !== "quick" ? [] : await runStaticChecks();
await runSuites({ files, cwd: root, globalSetupPath: join(root, "scripts/test_setup.ts") }, (outcome) => {
  const objections = [
    ...failedChecks.map((name) => `failed before the suites: ${name}`),
    ...objectionsTo(outcome, isPart ? 0 : minimumTests[tier]),
  ];
  if (!outcome.success || objections.length > 0) process.exitCode = 1;
  return [
    ...outcome.skipped.map((test) => `skipped ${test}`),
    ...(isPart ? [] : slowestFiles(outcome, 20)),
    ...objections,
  ];
});
