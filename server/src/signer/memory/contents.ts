/** Everything that the records of a memory add up to. Only `record_kinds.ts` changes it, one record at a time. */
import { type CodeAttempts, createCodeAttempts } from "./code_attempts.ts";
import { type CodeStarts, createCodeStarts } from "./code_starts.ts";
import { createIdSet, type IdSet } from "./id_set.ts";
import { createPins, type Pins } from "./pins.ts";
import { createReleasedNumbers, type ReleasedNumbers } from "./released_numbers.ts";
import type { SignerLog } from "./signer_log.ts";
import { createTakenBodies, type TakenBodies } from "./taken_bodies.ts";

export type MemoryContents = {
  readonly pins: Pins;
  readonly released: ReleasedNumbers;
  /** Undefined until the first is opened. */
  log: SignerLog | undefined;
  /** Released numbers that are in no log of this memory yet. */
  readonly owed: ReleasedNumbers;
  /** Processes of this signer. Leaves of others are released here too, but not all of them. */
  readonly ownBoots: IdSet;
  /** Deployments that this signer has made. */
  readonly born: IdSet;
  deploymentId: Uint8Array | undefined;
  /** The newest time of any record. */
  lastTimeMs: number;
  /** 0 until the operator accepts a database. */
  acceptedAtMs: number;
  /** Bodies were taken that name a time up to this one; 0 when none was ahead of the clock. */
  aheadMs: number;
  /** Which organization took a body that names a parent. */
  readonly taken: TakenBodies;
  /** One-time codes from before this time are unknown here; 0 until the first. */
  codesSinceMs: number;
  readonly codeStarts: CodeStarts;
  readonly codeAttempts: CodeAttempts;
};

export function createContents(): MemoryContents {
  return {
    pins: createPins(),
    released: createReleasedNumbers(),
    log: undefined,
    owed: createReleasedNumbers(),
    ownBoots: createIdSet(),
    born: createIdSet(),
    deploymentId: undefined,
    lastTimeMs: 0,
    acceptedAtMs: 0,
    aheadMs: 0,
    taken: createTakenBodies(),
    codesSinceMs: 0,
    codeStarts: createCodeStarts(),
    codeAttempts: createCodeAttempts(),
  };
}
