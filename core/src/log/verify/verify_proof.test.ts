import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeVerifierCurves } from "../../../../server/src/curves/node_verifier_curves.ts";
import { entriesOf, makeDeployment, ordinalsOf, signCheckpoint } from "../../../test/log_export/test_export.ts";
import { seededRandom } from "../../../test/seeded_random.ts";
import { formatProofFile } from "../../tlog/proof_file.ts";
import { hashReaderOf, inclusionProof, leafHash } from "../../tlog/tree.ts";
import { encodeProvenLeaf } from "../export/leaf_record.ts";
import { decodeLeaf } from "../leaf.ts";
import { verifyProof } from "./verify_proof.ts";

const deployment = makeDeployment({ seed: 1, leaves: 100 });
const { key } = deployment;
const [log] = deployment.logs;
if (log === undefined) throw new Error("no log");
const entries = entriesOf(log);
const checkpoint = Buffer.from(signCheckpoint(deployment, log.logId, entries)).toString();
const read = hashReaderOf(entries.map((entry) => leafHash(entry)));

function proofOf(index: number, ordinal = ordinalsOf(log as NonNullable<typeof log>)[index] ?? 0): string {
  const { leaf = new Uint8Array(), bodies = [] } = log?.leaves[index] ?? {};
  const proof = inclusionProof(index, entries.length, read);
  return formatProofFile({ extra: encodeProvenLeaf({ ordinal, leaf, bodies }), index, proof, checkpoint });
}

test("a proof file shows any leaf of a log with its stamp, the operator's included", () => {
  for (let index = 0; index < entries.length; index++) {
    const { verdict, findings, leaf } = verifyProof(nodeVerifierCurves, proofOf(index), { key });
    assert.deepEqual(findings, []);
    assert.equal(verdict, "good");
    assert.deepEqual(leaf, decodeLeaf(log.leaves[index]?.leaf ?? new Uint8Array()));
  }
});

test("no byte of a proof file can be changed", () => {
  const bytes = Buffer.from(proofOf(20));
  const random = seededRandom(1);
  for (let round = 0; round < 300; round++) {
    const copy = Buffer.from(bytes);
    const at = random.below(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
    const { verdict } = verifyProof(nodeVerifierCurves, copy.toString(), { key });
    // A length or a count of the leaf's bodies would show less, never something else.
    assert.equal(verdict, "bad", `byte ${at}`);
  }
});

test("a leaf is not proven under another ordinal, another key or another deployment", () => {
  const refusal = (text: string, other = key): unknown =>
    verifyProof(nodeVerifierCurves, text, { key: other }).findings[0]?.what;
  assert.equal(refusal(proofOf(20, 77)), "the proof does not show the entry in the log");
  const { key: strange } = makeDeployment({ seed: 2, leaves: 5 });
  assert.equal(refusal(proofOf(20), { ...strange, deploymentId: key.deploymentId }), "no signature by a known key");
  assert.equal(refusal(proofOf(20), strange), "the proof is of another deployment");
  const bare = formatProofFile({ index: 20, proof: inclusionProof(20, entries.length, read), checkpoint });
  assert.equal(refusal(bare), "the proof file has no leaf");
});
