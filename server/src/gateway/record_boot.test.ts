import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeBootProof } from "@keystead/core/attestation/boot_proof.ts";
import { readCertificatePem } from "@keystead/core/attestation/read_certificate.ts";
import { verifyBootProof } from "@keystead/core/attestation/verify_boot_proof.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { sql } from "kysely";
import { createGatewayRig, type GatewayRig } from "../../test/gateway_rig.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { nodeP384 } from "../curves/node_p384.ts";
import { decodeBootOrder } from "../rules/boot_order.ts";
import { rulesVersion } from "../rules/rules_version.ts";
import { withoutMac } from "../state/authenticity.ts";
import { sha256 } from "../state/digest.ts";
import { findBootProof, findNewestBootProof } from "../store/across.ts";
import { recordBoot } from "./record_boot.ts";

const record = ({ store, link, dependencies }: GatewayRig) => recordBoot(store, link, dependencies.committer);

/** The signer of the rig, started again beside the same database. */
function restart(rig: GatewayRig): void {
  const next = rig.signer.restart();
  Object.assign(rig.signer.operations, next.operations);
  rig.signer.memory = next.memory;
}

async function leavesOf({ store, organizationId }: GatewayRig) {
  const rows = await store.db
    .selectFrom("leaves")
    .select(["leaf", "version"])
    .where("organization_id", "=", organizationId)
    .execute();
  return rows.map(({ leaf, version }) => ({ leaf: decodeLeaf(withoutMac(leaf)), version }));
}

for (const dialect of ["sqlite", "postgres"] as const) {
  test(`${dialect}: a start commits its leaf and its proof together, and the leaf names both proof and order`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { attestationRoot } = await record(rig);
    const row = await findNewestBootProof(rig.store);
    assert.ok(row);
    const proof = decodeBootProof(row.proof);
    const root = readCertificatePem(attestationRoot);
    assert.equal(verifyBootProof({ ...nodeP384, ...nodeCurves }, proof, row.loadedFiles, root).kind, "software");
    const booted = (await leavesOf(rig)).filter(({ leaf }) => leaf.event === "BOOTED");
    assert.equal(booted.length, 1);
    const { prepared } = rig.signer.operations.boot({});
    const [order = new Uint8Array()] = prepared.disclosed;
    const { leaf, version } = booted[0] ?? assert.fail();
    assert.deepEqual([leaf.grounds, leaf.header, leaf.states, version], ["OPERATOR", undefined, [], null]);
    assert.equal(toHex(leaf.outcome), toHex(sha256(row.proof)));
    assert.equal(toHex(leaf.fingerprint), toHex(sha256(order)));
    assert.equal(decodeBootOrder(order).rulesVersion, rulesVersion);
    assert.ok(rig.signer.memory.wasReleased(leaf.boot, leaf.number));
  });

  test(`${dialect}: joined again, a signer has one leaf; each start has its own key, and old ones stay under one root`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const first = await record(rig);
    assert.deepEqual(await record(rig), first);
    const before = await findNewestBootProof(rig.store);
    rig.signer.clock.nowMs += 1000;
    restart(rig);
    assert.deepEqual(await record(rig), first, "the root and the apps are the deployment's, not the start's");
    const after = await findNewestBootProof(rig.store);
    assert.ok(before && after);
    const keys = [before, after].map(({ proof }) => toHex(decodeBootProof(proof).ephemeralKey));
    assert.notEqual(keys[0], keys[1]);
    assert.deepEqual((await findBootProof(rig.store, keys[0] ?? ""))?.proof, before.proof);
    assert.equal((await leavesOf(rig)).filter(({ leaf }) => leaf.event === "BOOTED").length, 2);
    assert.equal((await rig.store.db.selectFrom("loaded_files").selectAll().execute()).length, 1, "one list for both");
  });

  test(`${dialect}: a version that was changed so that nobody can read it keeps no start from being recorded`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    await sql`update organizations set version = 4611686018427387905`.execute(rig.store.db);
    await record(rig);
    assert.equal((await leavesOf(rig)).filter(({ leaf }) => leaf.event === "BOOTED").length, 1);
  });
}

test("a start is recorded whatever state its first organization is in, also while that moves on", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  await rig.submit(rig.root, "create_user_tag", { userTagName: "a", userIds: [] });
  const { committer } = rig.dependencies;
  let moved = false;
  const overtaken: typeof committer = {
    ...committer,
    async commit(item, run) {
      if (!moved) {
        moved = true;
        await rig.submit(rig.root, "create_user_tag", { userTagName: "b", userIds: [] });
      }
      return committer.commit(item, run);
    },
  };
  await recordBoot(rig.store, rig.link, overtaken);
  assert.ok(await findNewestBootProof(rig.store));
});

test("a signer whose clock is wrong is unavailable, and records its start once the clock is right", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const right = rig.signer.clock.nowMs;
  rig.signer.clock.nowMs = right - 3_600_000;
  await assert.rejects(record(rig), { code: "unavailable", message: /^the signer's clock is 3600 s behind/ });
  assert.equal(await findNewestBootProof(rig.store), undefined);
  rig.signer.clock.nowMs = right;
  await record(rig);
  assert.ok(await findNewestBootProof(rig.store));
});
