/** A gateway that wants app proofs of what never happened: they are worth something alone, to whoever checks their signature. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readProof } from "../../../test/app_proofs.ts";
import {
  activityBody,
  checkingSigner,
  createSignerRig,
  createTagBody,
  prepareOn,
  releaseRows,
  type SignerRig,
  signerUnder,
} from "../../../test/signer_rig.ts";
import type { Prepared } from "../../frames/messages.ts";
import type { AppProof } from "../../state/app_proof.ts";

const account = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};

const walletBody = (rig: SignerRig, walletName = "Proven") =>
  activityBody(rig, "ACTIVITY_TYPE_CREATE_WALLET", { walletName, accounts: [account] }, { generateAppProofs: true });

const boxOf = ({ proofs }: Prepared) => proofs ?? assert.fail("there are no proofs");

function open({ operations }: Pick<SignerRig, "operations">, { leaf }: Prepared, proofs: Uint8Array) {
  const [reply] = operations.openProofs({ rows: [{ leaf, proofs }] });
  return reply ?? assert.fail();
}

const stillSealed = {
  kind: "refused",
  value: { message: "the app proofs of a leaf that is not released stay sealed" },
} as const;
const noBox = { kind: "refused", value: { message: "a sealed record does not open" } } as const;

function everythingIn(row: Prepared): string {
  return JSON.stringify(row, (_key, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  );
}

test("proofs of what was prepared and never released are nowhere, and are opened to nobody", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, walletBody(rig));
  assert.ok(!everythingIn(row).includes("APP_PROOF_TYPE"));
  for (const signer of [rig, rig.restart()]) assert.deepEqual(open(signer, row, boxOf(row)), stillSealed);
});

test("released, they open as the same text, as often as they are asked for and after a restart", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, walletBody(rig));
  assert.equal(releaseRows(rig, [row])[0]?.kind, "released");
  const first = open(rig, row, boxOf(row));
  assert.ok(first.kind === "opened");
  const proofs = JSON.parse(first.value.proofs) as AppProof[];
  assert.deepEqual(
    proofs.map((proof) => Object.keys(readProof(proof))),
    [
      ["timestampMs", "activity", "address"],
      ["timestampMs", "activity", "outcome"],
    ],
  );
  assert.deepEqual(open(rig, row, boxOf(row)), first);
  assert.deepEqual(open(rig.restart(), row, boxOf(row)), first);
});

test("a body that is prepared twice has one proof that counts: the released one's", () => {
  const rig = createSignerRig();
  const body = walletBody(rig);
  const [first, second] = [prepareOn(rig, rig.born, body), prepareOn(rig, rig.born, body)];
  assert.equal(releaseRows(rig, [first])[0]?.kind, "released");
  assert.equal(releaseRows(rig, [second])[0]?.kind, "refused");
  assert.equal(open(rig, first, boxOf(first)).kind, "opened");
  assert.deepEqual(open(rig, second, boxOf(second)), stillSealed);
  // The twin's box beside the released leaf is as good as none.
  assert.deepEqual(open(rig, first, boxOf(second)), noBox);
});

test("a box opens beside its own leaf, of its own deployment, and as nothing else", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, walletBody(rig));
  const plain = prepareOn(rig, rig.born, createTagBody(rig, "plain"));
  releaseRows(rig, [plain]);
  assert.deepEqual(open(rig, plain, boxOf(row)), noBox, "a released leaf of another act");
  const other = createSignerRig();
  const foreign = prepareOn(other, other.born, walletBody(other));
  releaseRows(other, [foreign]);
  assert.equal(open(rig, foreign, boxOf(foreign)).kind, "refused", "another deployment's");
  const bent = Uint8Array.from(boxOf(foreign));
  bent[60] = (bent[60] ?? 0) ^ 1;
  for (const box of [bent, new Uint8Array(), other.keyring]) assert.deepEqual(open(other, foreign, box), noBox);
  const leaf = Uint8Array.from(foreign.leaf);
  leaf[30] = (leaf[30] ?? 0) ^ 1;
  assert.equal(open(other, { ...foreign, leaf }, boxOf(foreign)).kind, "refused", "a leaf that was changed");
});

test("no other request brings them out: neither a release, nor sealing anew", () => {
  const rig = createSignerRig();
  const row = prepareOn(rig, rig.born, walletBody(rig));
  const boxed = { leaf: row.leaf, sealed: boxOf(row) };
  assert.throws(() => rig.operations.reseal({ boxes: [{ kind: "proofs", value: boxed }] }), {
    code: "permission_denied",
  });
  const [again] = signerUnder(rig, { reseal: true }).reseal({ boxes: [{ kind: "proofs", value: boxed }] });
  assert.deepEqual(again, boxed.sealed, "it is under the current key");
  assert.deepEqual(open({ operations: checkingSigner(rig) }, row, boxed.sealed), stillSealed);
  const [released] = rig.operations.release({ rows: [boxed], links: [] });
  assert.deepEqual(released, { kind: "refused", value: { message: "a sealed record does not open" } });
});

test("a flag that is not in the stamped bytes makes no proofs, and one in the parameters is none", () => {
  const rig = createSignerRig();
  for (const overrides of [{}, { generateAppProofs: false }, { generateAppProofs: null }]) {
    const body = activityBody(rig, "ACTIVITY_TYPE_CREATE_WALLET", { walletName: "w", accounts: [account] }, overrides);
    const row = prepareOn(rig, rig.born, body);
    assert.deepEqual([row.proofs, row.context], [undefined, undefined]);
  }
  const inside = { walletName: "w", accounts: [account], generateAppProofs: true };
  const row = prepareOn(rig, rig.born, activityBody(rig, "ACTIVITY_TYPE_CREATE_WALLET", inside));
  assert.deepEqual([row.proofs, row.context], [undefined, undefined]);
});
