/** Runs test files as `node --test` does, and can add lines between the results and the summary. */
import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

export type Suites = {
  files: string[];
  cwd: string;
  /** Known to `run`, though not yet to its type. */
  globalSetupPath?: string;
};

export type Outcome = {
  /** False also when a suite failed before its first test, which the counts do not show. */
  success: boolean;
  tests: number;
  /** File, name and reason of each skipped test. */
  skipped: string[];
  files: Map<string, SuiteOutcome>;
};

/** What the tests of one file said about themselves, and the names of those that passed, failed or were skipped. */
export type SuiteOutcome = Record<"passed" | "failed" | "skipped" | "said", string[]> & {
  /** Zero for a file whose tests ran as part of others. */
  durationMs: number;
};

/**
 * `conclude` gets the outcome and returns lines to be shown right above the summary, which stays last; `ended` gets what became of
 * each file when it is over.
 */
export async function runSuites(
  suites: Suites,
  conclude: (outcome: Outcome) => string[],
  ended: (file: string, outcome: SuiteOutcome) => void = () => undefined,
): Promise<void> {
  const events = run({ ...suites, concurrency: availableParallelism() });
  const reporter = new spec();
  reporter.pipe(process.stdout);
  const outcome: Outcome = { success: false, tests: 0, skipped: [], files: new Map() };
  const summary: object[] = [];
  for await (const event of events) {
    const { type, data } = event;
    if (type === "test:diagnostic" && isSummaryLine(data)) {
      summary.push(event);
      continue;
    }
    if ((type === "test:pass" || type === "test:fail") && data.skip !== undefined && data.skip !== false) {
      const reason = typeof data.skip === "string" && data.skip !== "" ? data.skip : "no reason given";
      outcome.skipped.push(`${relative(suites.cwd, data.file ?? "")}: ${data.name}: ${reason}`);
    }
    note(outcome, suites.cwd, event);
    if (type === "test:summary" && data.file === undefined) {
      outcome.success = data.success;
      outcome.tests = data.counts.tests;
    } else if (type === "test:summary" && data.file !== undefined) {
      const name = relative(suites.cwd, data.file);
      const suite = suiteOf(outcome, name);
      suite.durationMs = data.duration_ms;
      ended(name, suite);
    }
    reporter.write(event);
  }
  for (const message of conclude(outcome)) {
    reporter.write({ type: "test:diagnostic", data: { nesting: 0, message, level: "warn" } });
  }
  for (const event of summary) reporter.write(event);
  reporter.end();
}

/** A line for each of the `count` files that took longest, the slowest first. */
export function slowestFiles({ files }: Outcome, count: number): string[] {
  return [...files]
    .filter(([, { durationMs }]) => durationMs > 0)
    .sort(([, a], [, b]) => b.durationMs - a.durationMs)
    .slice(0, count)
    .map(([name, { durationMs }]) => `slow: ${(durationMs / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

/** The runner's totals: `tests 12`, `duration_ms 34.5`. */
function isSummaryLine({ message, nesting, file }: { message: string; nesting: number; file?: string }): boolean {
  return (
    nesting === 0 &&
    file === undefined &&
    /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [0-9.]+$/.test(message)
  );
}

type Event = {
  type: string;
  data: { file?: string; name?: string; message?: string; skip?: unknown; details?: object };
};

function suiteOf({ files }: Outcome, name: string): SuiteOutcome {
  const suite = files.get(name) ?? { passed: [], failed: [], skipped: [], said: [], durationMs: 0 };
  files.set(name, suite);
  return suite;
}

function note(outcome: Outcome, cwd: string, event: unknown): void {
  const { type, data } = event as Event;
  if (data?.file === undefined) return;
  const suite = suiteOf(outcome, relative(cwd, data.file));
  if (type === "test:diagnostic" && data.message !== undefined) suite.said.push(data.message);
  if (data.name === undefined) return;
  if (type === "test:fail") suite.failed.push(data.name);
  else if (type === "test:pass") (data.skip === undefined ? suite.passed : suite.skipped).push(data.name);
}
