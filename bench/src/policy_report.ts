/** The figures of issue 5: what policies cost beside the signature that they guard. */
import type { DecisionCost, DecisionReport } from "./decision.ts";
import { type GuardedReport, policyCount } from "./guarded.ts";

/** A figure, and what it may be at most. */
export type Figure = [name: string, value: number, target: number];

/** Of one bare signature, by the number of policies. Reasons are paid for once more, and have no target of their own. */
const decisionTargets: Readonly<Record<number, number>> = { 10: 0.2, 100: 1 };

/** Of the root user's cost. */
const guardedTarget = 1.2;

/** Each decision as a part of the signature that was measured beside it. */
export function withRatios({ signatureUs, decisions }: DecisionReport) {
  return { signatureUs, decisions: decisions.map((cost) => ({ ...cost, ratio: cost.us / signatureUs })) };
}

export function decisionFigures(report: DecisionReport): Figure[] {
  return withRatios(report).decisions.flatMap((cost): Figure[] => {
    const target = targetOf(cost);
    return target === undefined ? [] : [[`ratio of a decision over ${cost.policies} policies`, cost.ratio, target]];
  });
}

export function guardedFigures(reports: readonly GuardedReport[]): Figure[] {
  return reports.map(({ endpoint, ratio }) => [
    `ratio of ${endpoint} under ${policyCount} policies`,
    ratio,
    guardedTarget,
  ]);
}

function targetOf({ policies, isExplained }: DecisionCost): number | undefined {
  return isExplained ? undefined : decisionTargets[policies];
}

export function decisionLines(report: DecisionReport): string[] {
  return [
    "One decision on a token's transfer, from the hex of the transaction to the verdict, in one process: CPU time over one",
    "bare secp256k1 signature. `with reasons`: and why each policy said what it said.",
    "",
    `bare signature         ${us(report.signatureUs)}`,
    ...withRatios(report).decisions.map((cost) => {
      const name = `${cost.policies} policies${cost.isExplained ? ", with reasons" : ""}`;
      return `${name.padEnd(26)}${us(cost.us)}  ${cost.ratio.toFixed(2)}${mark(targetOf(cost))}`;
    }),
  ];
}

export function guardedLines(databases: readonly { database: string; guarded: readonly GuardedReport[] }[]): string[] {
  return [
    `Signing under ${policyCount} policies at 16 connections, by a root user, whom they do not bind, and by a member whom one of them allows.`,
    "`gateway` and `signer`: CPU microseconds per request. `ratio`: their sum over the root user's, in the same round.",
    "",
    columns("database", "endpoint", "caller", "gateway", "signer", "sum", "ratio"),
    ...databases.flatMap(({ database, guarded }) =>
      guarded.flatMap((report) =>
        (["root", "member"] as const).map((caller) => {
          const { gatewayUs, signerUs } = report[caller];
          const times = [gatewayUs, signerUs, gatewayUs + signerUs].map((time) => time.toFixed(0));
          const line = columns(database, report.endpoint, caller, ...times);
          return caller === "root" ? line : `${line}${report.ratio.toFixed(2).padStart(7)}${mark(guardedTarget)}`;
        }),
      ),
    ),
  ];
}

function mark(target: number | undefined): string {
  return target === undefined ? "" : `  (target ${target})`;
}

function us(value: number): string {
  return `${value.toFixed(1).padStart(6)} µs`;
}

const widths = [10, 17, 7, 9, 8, 7, 7] as const;

function columns(...cells: string[]): string {
  return cells
    .map((cell, index) => (index < 3 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
    .join("");
}
