/** Bodies with bearer values as a check of the database sees them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { someToken, tradeCode, useToken } from "../../../test/bearer_endpoints.ts";
import { createGatewayRig, type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { openEnded } from "../jobs/open_bodies.ts";
import { checkDatabase } from "./check_database.ts";

async function check({ signer, store }: GatewayRig, rebuilds = false): Promise<string[]> {
  const operations = checkingSigner(signer);
  const { log } = JSON.parse(operations.hello({ protocol: protocolVersion, keyring: signer.keyring }).publicKeys);
  const { ok, lines } = await checkDatabase(store, inProcess({ operations }), log, { rebuilds });
  return ok ? [] : lines;
}

for (const dialect of dialects) {
  test(`on ${dialect} closed bodies are sound, and so are they once they are opened`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { store, root, signer } = rig;
    const verificationToken = someToken(signer.clock.nowMs + 3_600_000);
    const used = await rig.submit(root, useToken, { verificationToken, note: "" });
    await rig.submit(root, "create_user_tag", { userTagName: "tag", userIds: [] });
    await rig.submit(root, tradeCode, { otpCode: "ABC123XYZ" });
    await rig.dependencies.committer.settle();
    assert.deepEqual(await check(rig), []);

    const ofUsed = (table: "activities" | "sealed_bodies") =>
      store.db.updateTable(table).where("activity_id", "=", used.id);
    const [row] = await store.db.selectFrom("activities").selectAll().where("activity_id", "=", used.id).execute();
    const [box] = await store.db.selectFrom("sealed_bodies").selectAll().where("activity_id", "=", used.id).execute();
    assert.ok(row && box);
    const altered = Buffer.from(Buffer.from(row.body).toString().replace('"note":""', '"note":"x"'));
    await ofUsed("activities").set({ body: altered }).execute();
    assert.match((await check(rig)).join("\n"), new RegExp(`activities ${used.id}: its body was changed`));
    await ofUsed("activities").set({ body: row.body }).execute();

    const bent = Uint8Array.from(box.sealed);
    bent[70] = (bent[70] ?? 0) ^ 1;
    await ofUsed("sealed_bodies").set({ sealed: bent }).execute();
    assert.match((await check(rig)).join("\n"), new RegExp(`activities ${used.id}: its body was changed`));
    await assert.rejects(openEnded(store, rig.link, Number.MAX_SAFE_INTEGER), /1 sealed bodies do not open/);
    await ofUsed("sealed_bodies").set({ sealed: box.sealed }).execute();

    await ofUsed("sealed_bodies").set({ ends_at_ms: 0 }).execute();
    assert.match((await check(rig)).join("\n"), new RegExp(`sealed_bodies ${used.id}: ends_at_ms not as sealed`));
    assert.deepEqual(await check(rig, true), []);

    const [other] = await store.db
      .selectFrom("activities")
      .selectAll()
      .where("type", "like", "%CREATE_USER_TAG")
      .execute();
    assert.ok(other);
    await store.db
      .insertInto("sealed_bodies")
      .values({ ...box, activity_id: other.activity_id })
      .execute();
    assert.match(
      (await check(rig)).join("\n"),
      new RegExp(`sealed_bodies ${other.activity_id}: its body is open already`),
    );
    assert.deepEqual(await check(rig, true), []);

    signer.clock.nowMs += 2 * 3_600_000;
    await openEnded(store, rig.link, signer.clock.nowMs);
    assert.deepEqual(await store.db.selectFrom("sealed_bodies").selectAll().execute(), []);
    assert.deepEqual(await check(rig), []);
  });
}
