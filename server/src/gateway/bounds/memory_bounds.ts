/**
 * Everything that may wait in the gateway, and how much of it, in bytes as they came. However slow the processor, the signer, the
 * database or a client is, no more is kept: beyond a bound callers are answered 429, or the slowest client is let go. What was read
 * weighs a few times its bytes, as text, values and frames.
 */
import type { AdmissionLimits } from "./admission_limits.ts";

const mebibyte = 1024 * 1024;

export const memoryBounds = {
  /** Requests behind others on their connections: their headers, and what has arrived of their bodies. */
  pipelined: 64 * mebibyte,
  /** Bodies, from their first bytes to their answers. */
  bodies: 64 * mebibyte,
  /** Requests that wait for their turn in the signer. Their bodies are among those above. */
  waiting: 32 * mebibyte,
  /** Queries that wait for their turn. Their bodies are among those above, too. */
  queries: 24 * mebibyte,
  /** Those that have turned out to take long, and wait to go on. */
  longQueries: 8 * mebibyte,
  /** Requests of the auth proxy that wait to be read. Their bodies are among those above, as long as their connections are open. */
  proxy: 8 * mebibyte,
  /** Those that are under way to the signer, with the states that they offer; what it does not read yet of them is also bounded by itself. */
  underWay: 32 * mebibyte,
  signerQueue: 32 * mebibyte,
  /** What the signer has answered, until it is committed and released. Room for it is taken before the signer is asked. */
  commits: 32 * mebibyte,
  /** Answers that their clients have not read. */
  answers: 64 * mebibyte,
} as const;

/** All of them together. */
export const memoryBoundsSum = Object.values(memoryBounds).reduce((sum, bytes) => sum + bytes, 0);

/** Costs are microseconds. The signer's deadline is five seconds: four of work are done by then, the pauses between them included. */
export const admissionLimits: AdmissionLimits = {
  inFlight: 64,
  cost: 250_000,
  allInFlight: 900,
  allCost: 4_000_000,
  allBytes: memoryBounds.underWay,
  allReplies: memoryBounds.commits,
  waiting: 1_000,
  waitingBytes: memoryBounds.waiting,
  waitMs: 5_000,
};

/** Costs are microseconds that an organization's last queries took. One that takes longer than this is answered alone. */
export const queryLimits: AdmissionLimits = {
  inFlight: 16,
  cost: 4_000,
  allInFlight: 64,
  allCost: 1_000_000,
  allBytes: memoryBounds.queries,
  allReplies: Number.POSITIVE_INFINITY,
  waiting: 1_000,
  waitingBytes: memoryBounds.queries,
  waitMs: 5_000,
};

/** Each of these holds megabytes until it is answered, and PostgreSQL has four connections for lists. */
export const longQueryLimits: AdmissionLimits = {
  ...queryLimits,
  inFlight: 1,
  allInFlight: 3,
  waitingBytes: memoryBounds.longQueries,
};
