/** To whom contacts lead, as a check of the database sees it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { newHome, provenEmail } from "../../../test/code_login_rig.ts";
import { createGatewayRig, type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { checkDatabase } from "./check_database.ts";

async function check({ signer, store }: GatewayRig, rebuilds = false) {
  const operations = checkingSigner(signer);
  const { log } = JSON.parse(operations.hello({ protocol: protocolVersion, keyring: signer.keyring }).publicKeys);
  const { ok, lines } = await checkDatabase(store, inProcess({ operations }), log, { rebuilds });
  return { ok, lines: lines.slice(0, -1).join("\n") };
}

for (const dialect of dialects) {
  test(`on ${dialect} claims that are gone are made again, and what an earlier version left is named`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { db } = rig.store;
    const { organizationId, people } = await newHome(rig, {});
    const [{ userId }] = people;
    await rig.submit(people[0], "update_user_email", provenEmail(rig, people[0], "Ann@example.com"), {
      organizationId,
    });
    await rig.dependencies.committer.settle();
    assert.deepEqual(await check(rig), { ok: true, lines: "" });
    const claims = () => db.selectFrom("contact_claims").selectAll().execute();
    const [claim = assert.fail()] = await claims();
    const parts = [claim.organization_id, claim.kind, claim.contact, claim.sub_organization_id, claim.user_id];
    assert.deepEqual(parts, [rig.organizationId, "email", "ann@example.com", organizationId, userId]);

    await db.deleteFrom("contact_claims").execute();
    const gone = await check(rig);
    assert.equal(gone.ok, false);
    assert.match(
      gone.lines,
      new RegExp(`contact_claims of user ${userId}: the verified e-mail address leads to no user`),
    );
    await check(rig, true);
    assert.deepEqual(
      (await claims()).map(({ created_at_ms: _, ...row }) => row),
      [{ ...claim, created_at_ms: undefined }].map(({ created_at_ms: _, ...row }) => row),
    );

    await db.updateTable("contact_claims").set({ proof: "EARLIER" }).execute();
    const earlier = await check(rig);
    assert.equal(earlier.ok, true, "it is no difference");
    assert.match(earlier.lines, new RegExp(`user ${userId}: an earlier version verified the e-mail address`));
    await db.updateTable("contact_claims").set({ user_id: "another" }).execute();
    assert.match(
      (await check(rig)).lines,
      new RegExp(`user ${userId}: the verified e-mail address does not lead here`),
    );
  });
}
