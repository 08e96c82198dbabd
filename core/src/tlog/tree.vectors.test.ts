import assert from "node:assert/strict";
import { test } from "node:test";
import { findVectors, type Vectors } from "../../test/vectors.ts";
import { verifyConsistency, verifyInclusion } from "./tree.ts";

type Inclusion = { leafIdx: number | string; treeSize: number | string; leafHash: string; root: string };
type Consistency = { size1: number | string; size2: number | string; root1: string; root2: string };
type Case<T> = T & { proof: string[] | null; wantErr: boolean };

/** Their base64 is the standard one; some values are no hashes on purpose. */
const bytes = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));

function run<T>(vectors: Vectors, folder: string, verify: (one: T, proof: Uint8Array[]) => boolean) {
  const counts = { accepted: 0, refused: 0 };
  for (const path of vectors.paths().filter((name) => name.startsWith(`${folder}/`))) {
    const one = vectors.json<Case<T>>(path);
    const isAccepted = verify(one, (one.proof ?? []).map(bytes));
    assert.equal(isAccepted, !one.wantErr, path);
    counts[isAccepted ? "accepted" : "refused"]++;
  }
  return counts;
}

test("transparency-dev: inclusion proofs get the verdict that they should", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const folder = "merkle-rfc6962/inclusion";
  assert.equal(vectors.names(folder).length, 5);
  const counts = run<Inclusion>(vectors, folder, (one, proof) =>
    verifyInclusion(Number(one.leafIdx), Number(one.treeSize), bytes(one.leafHash), proof, bytes(one.root)),
  );
  assert.deepEqual(counts, { accepted: 4, refused: 73 });
  t.diagnostic(`published inclusion proofs: ${counts.accepted} accepted, ${counts.refused} refused, as they should be`);
});

test("transparency-dev: consistency proofs get the verdict that they should", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const folder = "merkle-rfc6962/consistency";
  assert.equal(vectors.names(folder).length, 5);
  const counts = run<Consistency>(vectors, folder, (one, proof) =>
    verifyConsistency(Number(one.size1), Number(one.size2), proof, bytes(one.root1), bytes(one.root2)),
  );
  assert.deepEqual(counts, { accepted: 5, refused: 69 });
  t.diagnostic(
    `published consistency proofs: ${counts.accepted} accepted, ${counts.refused} refused, as they should be`,
  );
});
