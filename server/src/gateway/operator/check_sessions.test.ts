/** What sign-ins leave in the database is sound, wherever they ran; and what a repair brings back holds no bearer value. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { everyValue } from "../../../test/every_value.ts";
import { type Activity, createGatewayRig, type GatewayRig } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { login, newKey, query } from "../../../test/session_rig.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { checkDatabase } from "./check_database.ts";

function check({ signer, store }: GatewayRig, rebuilds: boolean) {
  const operations = checkingSigner(signer);
  const request = async (kind: keyof typeof operations, message: never) => operations[kind](message);
  const none = { preparing: () => 0, queuedBytes: () => 0, attach: () => undefined, close: () => undefined };
  const link: SignerLink = { request: request as SignerLink["request"], ...none };
  const { log } = JSON.parse(operations.hello({ protocol: protocolVersion, keyring: signer.keyring }).publicKeys);
  return checkDatabase(store, link, log, { rebuilds });
}

for (const dialect of dialects) {
  test(`on ${dialect} sessions are found sound, and a read-only one that was touched comes back without its value`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { store, organizationId, root } = rig;
    const child = await rig.newSubOrganization(1, ["ann"]);
    const [ann] = child.people;
    assert.ok(ann);
    // Her own organization has the rows, though the bodies name the parent.
    for (const person of [root, ann]) {
      await login(rig, person);
      await rig.submit(person, "create_read_write_session", { targetPublicKey: newKey().publicKey });
      await rig.submit(person, "create_read_only_session", {});
    }
    const made = await rig.submit(root, "create_read_only_session", {});
    const { session } = made.result.createReadOnlySessionResult as { session: string };
    await rig.dependencies.committer.settle();
    const { ok, lines } = await check(rig, false);
    assert.equal(ok, true, lines.join("\n"));

    await store.db.updateTable("activities").set({ result: "{}" }).where("activity_id", "=", made.id).execute();
    assert.equal((await check(rig, false)).ok, false);
    assert.equal((await check(rig, true)).ok, true);
    await rig.dependencies.committer.releaseLeftovers();
    await rig.dependencies.committer.settle();
    assert.equal((await check(rig, false)).ok, true);
    for (const value of await everyValue(store)) assert.ok(!value.includes(session.slice(60, 120)), "a row holds it");
    const asked = { organizationId, activityId: made.id };
    const { activity }: { activity: Activity } = await query(rig, "get_activity", asked, root);
    assert.deepEqual(activity.result, made.result);
  });
}
