/** What it takes to check that a leaf is in a log of a million, beside one stamp: in this process, in turn, as the verifier does it. */
import { randomBytes } from "node:crypto";
import { entryOf } from "@keystead/core/tlog/entry.ts";
import { hashReaderOf, inclusionProof, leafHash, rootOf, verifyInclusion } from "@keystead/core/tlog/tree.ts";
import { nodeCurves } from "@keystead/server/curves/node_curves.ts";
import { type Computation, measureUs, prepareVerification } from "./baselines.ts";
import { median } from "./statistics.ts";

export type ProofPlan = { leaves: number; rounds: number; seconds: number };

/** `hashes` is the most that any proof has. */
export type ProofReport = { leaves: number; hashes: number; proofUs: number; stampUs: number; ratio: number };

/** Until the compilers have settled. */
const warmUpRounds = 20;

/** About what the leaf of a signature has. */
const leafLength = 600;

export function measureProof({ leaves, rounds, seconds }: ProofPlan): ProofReport {
  const { hashes, check } = prepareProofs(leaves, seconds);
  // Bare: one that was also read and whose key was imported would cost more, and flatter the proof.
  const stamp = prepareVerification(seconds);
  const measured: { proofUs: number; stampUs: number }[] = [];
  for (let round = -warmUpRounds; round < rounds; round++) {
    const costs = { proofUs: check.measureUs(), stampUs: stamp.measureUs() };
    if (round >= 0) measured.push(costs);
  }
  return {
    leaves,
    hashes,
    proofUs: median(measured.map(({ proofUs }) => proofUs)),
    stampUs: median(measured.map(({ stampUs }) => stampUs)),
    ratio: median(measured.map(({ proofUs, stampUs }) => proofUs / stampUs)),
  };
}

/** Everything from the bytes of a leaf to the root: its digest, its entry, and the way up. */
function prepareProofs(size: number, seconds: number): { hashes: number; check: Computation } {
  const { sha256 } = nodeCurves;
  const bytes = Array.from({ length: 64 }, () => new Uint8Array(randomBytes(leafLength)));
  /** Spread over the log, with the first and the last. */
  const indexes = bytes.map((_, i) => Math.round((i * (size - 1)) / (bytes.length - 1)));
  const entries = Array.from({ length: size }, (): Uint8Array => new Uint8Array(randomBytes(32)));
  indexes.forEach((index, i) => {
    entries[index] = entryOf(sha256(bytes[i] as Uint8Array), i + 1, sha256);
  });
  const root = rootOf(entries, sha256);
  const read = hashReaderOf(
    entries.map((entry) => leafHash(entry, sha256)),
    sha256,
  );
  const proofs = indexes.map((index) => inclusionProof(index, size, read, sha256));
  let next = 0;
  const checkNext = () => {
    const i = next++ % indexes.length;
    const leaf = leafHash(entryOf(sha256(bytes[i] as Uint8Array), i + 1, sha256), sha256);
    const isThere = verifyInclusion(indexes[i] as number, size, leaf, proofs[i] as Uint8Array[], root, sha256);
    if (!isThere) throw new Error("a good proof was refused");
  };
  return {
    hashes: Math.max(...proofs.map(({ length }) => length)),
    check: { measureUs: () => measureUs(seconds, checkNext) },
  };
}
