/** The figures, as a table for people and as a value for machines. */
import type { Bare } from "./baselines.ts";
import type { DatabaseName } from "./databases.ts";
import type { DecisionReport } from "./decision.ts";
import type { GuardedReport } from "./guarded.ts";
import type { endpoints, PhaseResult, ServerMemory } from "./measure.ts";
import { type PasskeyReport, passkeyFigures, passkeyLines } from "./passkey_stamps.ts";
import {
  decisionFigures,
  decisionLines,
  type Figure,
  guardedFigures,
  guardedLines,
  withRatios,
} from "./policy_report.ts";
import type { Memory } from "./processes.ts";
import { type SignInReport, signInLines } from "./sign_ins.ts";
import type { StartTimes } from "./start_time.ts";
import { median } from "./statistics.ts";

export type DatabaseReport = {
  database: DatabaseName;
  /** Measured beside busy neighbours, as the server is. */
  bare: Bare;
  /** Nothing is held against these. */
  atRest: Bare;
  phases: PhaseResult[];
  guarded: GuardedReport[];
  passkey: PasskeyReport;
  signIns: SignInReport;
  starts: StartTimes;
  memory: ServerMemory;
};

export type Report = {
  decision: DecisionReport;
  databases: DatabaseReport[];
};

type Measured = (typeof endpoints)[number];

/** What each endpoint cannot do without beside one verification, and how much more it may cost (issues 2 and 4). */
const figures: Record<Measured, { signs: boolean; inserts: boolean; target: number }> = {
  whoami: { signs: false, inserts: false, target: 2.5 },
  create_user_tag: { signs: false, inserts: true, target: 3 },
  sign_raw_payload: { signs: true, inserts: true, target: 2.5 },
};

function figureOf({ endpoint }: PhaseResult) {
  return figures[endpoint as Measured];
}

/** What a phase costs against what it cannot do without. */
export function ratiosOf(costs: Bare, phase: PhaseResult) {
  const { signs, inserts } = figureOf(phase);
  const { verificationUs, signatureUs, insert } = costs;
  const own = phase.gatewayUs + phase.signerUs;
  const bare = verificationUs + (signs ? signatureUs : 0) + (inserts ? insert.clientUs : 0);
  return {
    /** Our processes over our share: what is computed, and the insert as its client pays for it. */
    own: own / bare,
    /** The database's processes counted on both sides; they are none with SQLite. */
    withDatabase: (own + phase.databaseUs) / (bare + (inserts ? insert.databaseUs : 0)),
  };
}

export function toJson(report: Report): string {
  const databases = report.databases.map((database) => ({
    ...database,
    phases: database.phases.map((phase) => ({ ...phase, ratios: ratiosOf(database.bare, phase) })),
  }));
  return JSON.stringify({ ...report, decision: withRatios(report.decision), databases }, undefined, 2);
}

/** The other figures of issue 2. */
const targets = { readyMs: 3_000, pssMb: 300 } as const;

/** One line for each figure above its target. */
export function missedTargets(report: Report): string[] {
  const ofDatabases = report.databases.flatMap((measured) => {
    const { database, phases, guarded, passkey, starts, memory } = measured;
    const figures: Figure[] = [
      ...phases
        .filter(({ connections }) => connections === 16)
        .map(
          (phase): Figure => [
            `ratio of ${phase.endpoint} at 16 connections`,
            ratiosOf(measured.bare, phase).own,
            figureOf(phase).target,
          ],
        ),
      ...guardedFigures(guarded),
      ...passkeyFigures(passkey),
      ["ms until ready, first start", median(starts.firstMs), targets.readyMs],
      ["ms until ready, second start", median(starts.secondMs), targets.readyMs],
      ["MB of memory", together(memory).pssMb, targets.pssMb],
    ];
    return missedAmong(figures).map((missed) => `${database}: ${missed}`);
  });
  return [...missedAmong(decisionFigures(report.decision)), ...ofDatabases];
}

export function missedAmong(figures: readonly Figure[]): string[] {
  return figures
    .filter(([, value, target]) => !(value <= target))
    .map(([name, value, target]) => `${name} is ${value.toFixed(2)}, the target is ${target}`);
}

export function toText(report: Report): string {
  const lines = [
    "CPU time, medians of one run. `gateway` and `signer`: microseconds per request, all threads. `ratio`: their sum over",
    "one bare P-256 verification (whoami), over verification + one durable insert committed alone (create_user_tag",
    "alternating with delete_user_tags), or over both + one bare secp256k1 signature (sign_raw_payload with a wallet",
    "account). `with db`: the same with PostgreSQL's own processes counted on both sides. Bare costs are measured while the",
    "other CPUs work half of the time; `busy` is how much all of them did under the load.",
    "",
    ...report.databases.flatMap(({ database, bare, atRest }) => [
      `${database.padEnd(9)} bare: ${bareText(bare)}`,
      `${"".padEnd(9)} on a machine at rest: ${bareText(atRest)}`,
    ]),
    "",
    columns(
      "database",
      "endpoint",
      "conn",
      "req/s",
      "p50 ms",
      "p99 ms",
      "gateway",
      "signer",
      "sum",
      "ratio",
      "with db",
      "busy",
    ),
  ];
  for (const database of report.databases) {
    for (const phase of database.phases) {
      const { own, withDatabase } = ratiosOf(database.bare, phase);
      const mark = phase.connections === 16 ? `  (target ${figureOf(phase).target})` : "";
      lines.push(
        columns(
          database.database,
          phase.endpoint,
          String(phase.connections),
          phase.requestsPerSecond.toFixed(0),
          phase.p50Ms.toFixed(2),
          phase.p99Ms.toFixed(2),
          phase.gatewayUs.toFixed(0),
          phase.signerUs.toFixed(0),
          (phase.gatewayUs + phase.signerUs).toFixed(0),
          own.toFixed(2),
          withDatabase.toFixed(2),
          phase.busyShare.toFixed(2),
        ) + mark,
      );
    }
  }
  lines.push(
    "",
    ...guardedLines(report.databases),
    "",
    ...passkeyLines(report.databases),
    "",
    ...signInLines(report.databases),
    "",
    ...decisionLines(report.decision),
    "",
  );
  for (const { database, starts, memory } of report.databases) {
    lines.push(
      `${database.padEnd(9)} ready after ${median(starts.firstMs).toFixed(0)} ms (first start), ` +
        `${median(starts.secondMs).toFixed(0)} ms (second)   (target ${targets.readyMs})`,
      `${"".padEnd(9)} after the load: ${memoryText(together(memory))} together   (target ${targets.pssMb} PSS)`,
      ...Object.entries(memory).map(([name, own]) => `${"".padEnd(9)}   ${name.padEnd(9)} ${memoryText(own)}`),
    );
  }
  return lines.join("\n");
}

/** PSS counts a page that several processes share once, RSS in each of them: Node's own binary three times. */
function together(memory: ServerMemory): Memory {
  const sum = (pick: (one: Memory) => number) => Object.values(memory).reduce((total, one) => total + pick(one), 0);
  return { pssMb: sum(({ pssMb }) => pssMb), rssMb: sum(({ rssMb }) => rssMb) };
}

function memoryText({ pssMb, rssMb }: Memory): string {
  return `${pssMb.toFixed(0).padStart(3)} MB PSS, ${rssMb.toFixed(0).padStart(3)} MB RSS`;
}

function bareText({ verificationUs, signatureUs, insert }: Bare): string {
  const inDatabase = insert.databaseUs > 0 ? ` + ${us(insert.databaseUs)} in PostgreSQL` : "";
  return `verification ${us(verificationUs)}, signature ${us(signatureUs)}, insert ${us(insert.clientUs)}${inDatabase}`;
}

function us(value: number): string {
  return `${value.toFixed(1)} µs`;
}

const widths = [10, 17, 5, 7, 8, 8, 9, 8, 7, 7, 9, 6] as const;

function columns(...cells: string[]): string {
  return cells
    .map((cell, index) => (index < 2 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
    .join("");
}
