/** The figures of issue 24, as lines for people. */
import { costOf, type LogCost } from "./log_cost.ts";
import type { ProofReport } from "./log_proof.ts";
import type { PhaseResult } from "./measure.ts";
import type { Figure } from "./policy_report.ts";

export const logTargets = { cpu: 1.1, p99: 1.2, start: 1.1, hashes: 21, proof: 1 } as const;

export type LogReport = { commit: string; proof: ProofReport; databases: LogCost[] };

export function logFigures({ proof, databases }: LogReport): Figure[] {
  return [
    [`hashes in a proof of one leaf among ${proof.leaves}`, proof.hashes, logTargets.hashes],
    ["ratio of a proof to one stamp's verification", proof.ratio, logTargets.proof],
    ...databases.flatMap(({ database, cpuRatio, p99Ratio, startRatio }): Figure[] => [
      [`${database}: CPU ratio of a signature with the log`, cpuRatio, logTargets.cpu],
      [`${database}: p99 ratio of a signature with the log`, p99Ratio, logTargets.p99],
      [`${database}: ratio of a second start with the log`, startRatio, logTargets.start],
    ]),
  ];
}

export function logText({ commit, proof, databases }: LogReport): string {
  const lines = [
    "Signatures of a payload at 16 connections, with the log and without it: this version, and the last one that had no log",
    `(${commit}), side by side and in turn. Microseconds of CPU per request, all threads; \`database\`: PostgreSQL's own`,
    "processes. `CPU ratio`: the sum with the log over that without, in the same round; `p99 ratio` and `start ratio`",
    "likewise. A start is the second one of a data folder, from spawn until `/readyz` says so.",
    "",
    columns("on", "log", "gateway", "signer", "database", "sum", "p99 ms", "start ms"),
  ];
  for (const measured of databases) {
    for (const side of ["without", "with"] as const) {
      lines.push(rowOf(measured.database, side, measured[side], measured.startMs[side]));
    }
    const { database, cpuRatio, p99Ratio, startRatio } = measured;
    lines.push(
      ratioLine(`${database}: CPU ratio`, cpuRatio, logTargets.cpu),
      ratioLine(`${database}: p99 ratio`, p99Ratio, logTargets.p99),
      ratioLine(`${database}: start ratio`, startRatio, logTargets.start),
    );
  }
  const { leaves, hashes, proofUs, stampUs, ratio } = proof;
  lines.push(
    "",
    "A proof, from the bytes of the leaf to the root, beside one bare P-256 verification of a stamp, in one process.",
    "",
    `hashes of a proof among ${leaves} leaves: ${hashes}   (target ${logTargets.hashes})`,
    `proof ${proofUs.toFixed(1)} µs, stamp ${stampUs.toFixed(1)} µs: ${ratio.toFixed(2)}   (target ${logTargets.proof})`,
  );
  return lines.join("\n");
}

function rowOf(database: string, side: string, phase: PhaseResult, startMs: number): string {
  const { gatewayUs, signerUs, databaseUs, p99Ms } = phase;
  const costs = [gatewayUs, signerUs, databaseUs, costOf(phase)].map((us) => us.toFixed(0));
  return columns(database, side, ...costs, p99Ms.toFixed(2), startMs.toFixed(0));
}

function ratioLine(name: string, ratio: number, target: number): string {
  return `${name.padEnd(24)}${ratio.toFixed(2)}   (target ${target})`;
}

const widths = [10, 9, 9, 8, 10, 7, 9, 10] as const;

function columns(...cells: string[]): string {
  return cells
    .map((cell, index) => (index < 2 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)))
    .join("");
}
