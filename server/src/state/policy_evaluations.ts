/**
 * What every policy of an organization said about one vote, as it is stored: most activities are signatures, and each keeps
 * this for ever. 17 bytes per policy, in the order of evaluation. Layout: SPEC.md in this folder.
 */
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Outcome } from "@keystead/core/policy/decision/decide.ts";

export type PolicyOutcome = { policyId: string; outcome: Outcome };

/** Numbers are stored: one that was given once keeps its meaning. */
const outcomeNumbers = {
  OUTCOME_ALLOW: 1,
  OUTCOME_DENY_EXPLICIT: 2,
  OUTCOME_DENY_IMPLICIT: 3,
  OUTCOME_REQUIRES_CONSENSUS: 4,
  OUTCOME_REJECTED: 5,
  OUTCOME_ERROR: 6,
  OUTCOME_REQUIRES_AUTHENTICATORS: 7,
  OUTCOME_TIME_INACTIVE: 8,
} as const satisfies Record<Outcome, number>;

export const outcomes = Object.keys(outcomeNumbers) as Outcome[];

const idLength = 16;
const rowLength = idLength + 1;

/** The same policies speak about every activity, and reading an id takes longer than asking its policy. */
const knownIds = new Map<string, Uint8Array>();
const maxKnownIds = 10_000;

function idBytes(policyId: string): Uint8Array {
  const known = knownIds.get(policyId);
  if (known !== undefined) return known;
  if (knownIds.size >= maxKnownIds) knownIds.clear();
  const bytes = uuidToBytes(policyId);
  knownIds.set(policyId, bytes);
  return bytes;
}

export function encodeEvaluations(evaluations: readonly PolicyOutcome[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(evaluations.length * rowLength);
  evaluations.forEach(({ policyId, outcome }, index) => {
    bytes.set(idBytes(policyId), index * rowLength);
    bytes[index * rowLength + idLength] = outcomeNumbers[outcome];
  });
  return bytes;
}

export function decodeEvaluations(bytes: Uint8Array): PolicyOutcome[] {
  if (bytes.length % rowLength !== 0) throw new Fault("internal", "stored policy evaluations are cut off");
  return Array.from({ length: bytes.length / rowLength }, (_, index) => {
    const row = bytes.subarray(index * rowLength, (index + 1) * rowLength);
    const outcome = outcomes.find((name) => outcomeNumbers[name] === row[idLength]);
    if (outcome === undefined) throw new Fault("internal", `stored policy evaluations hold outcome ${row[idLength]}`);
    return { policyId: uuidFromBytes(row.subarray(0, idLength)), outcome };
  });
}
