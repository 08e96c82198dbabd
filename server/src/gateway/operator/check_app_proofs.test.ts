/** App proofs and their contexts as a check of the database sees them. */
import assert from "node:assert/strict";
import { provenBody, readProof } from "../../../test/app_proofs.ts";
import { type GatewayRig, inProcess, newUser } from "../../../test/gateway_rig.ts";
import { onBothDatabases } from "../../../test/policy_rig.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { checkDatabase } from "./check_database.ts";

async function check({ signer, store }: GatewayRig, rebuilds = false): Promise<string> {
  const operations = checkingSigner(signer);
  const { log } = JSON.parse(operations.hello({ protocol: protocolVersion, keyring: signer.keyring }).publicKeys);
  const { ok, lines } = await checkDatabase(store, inProcess({ operations }), log, { rebuilds });
  return ok ? "" : lines.join("\n");
}

onBothDatabases(
  "a changed text is found and rebuilt from its box; a changed box, leaf or context is found",
  async (rig) => {
    const { db } = rig.store;
    // A members page that is kept in pieces.
    const users = Array.from({ length: 100 }, (_, index) => ({ ...newUser(`user ${index}`).user, userTags: [] }));
    await rig.submit(rig.root, "create_users", { users });
    const body = provenBody(rig, "create_user_tag", { userTagName: "tag", userIds: [] });
    const { id, appProofs } = await rig.send(rig.root, "create_user_tag", body);
    const digest = readProof(appProofs[0] ?? assert.fail()).outcome?.decisionContextDigest ?? "";
    await rig.dependencies.committer.settle();
    assert.equal(await check(rig), "");

    const [row] = await db.selectFrom("app_proofs").selectAll().execute();
    assert.ok(row?.proofs);
    const set = (columns: object) => db.updateTable("app_proofs").set(columns).execute();
    await set({ proofs: row.proofs.replace("OUTCOME_ALLOW", "OUTCOME_ERROR") });
    assert.match(await check(rig), new RegExp(`app_proofs ${id}: proofs not as sealed`));
    assert.equal(await check(rig, true), "");
    assert.deepEqual((await db.selectFrom("app_proofs").select("proofs").execute())[0], { proofs: row.proofs });

    const bent = Uint8Array.from(row.sealed);
    bent[70] = (bent[70] ?? 0) ^ 1;
    await set({ sealed: bent });
    assert.match(await check(rig), new RegExp(`app_proofs ${id}: its box does not open`));
    await set({ sealed: row.sealed, number: row.number + 1 });
    assert.match(await check(rig), new RegExp(`app_proofs ${id}: its activity has no such leaf`));
    await set({ number: row.number });

    const contexts = await db.selectFrom("decision_contexts").selectAll().execute();
    assert.ok(contexts.filter(({ owner_id }) => owner_id === "").length > 1);
    for (const context of contexts) {
      const one = () => db.updateTable("decision_contexts").where("digest", "=", context.digest);
      await one()
        .set({ content: Uint8Array.from([...context.content, 0]) })
        .execute();
      assert.match(await check(rig), new RegExp(`decision_contexts ${context.digest}: its content was changed`));
      await one().set({ content: context.content, owner_id: "somebody" }).execute();
      assert.match(await check(rig), new RegExp(`decision_contexts ${context.digest}: owner_id not as in`));
      assert.equal(await check(rig, true), "");
      await db.deleteFrom("decision_contexts").where("digest", "=", context.digest).execute();
      const missing =
        context.digest === digest
          ? "the context of its decision is missing"
          : context.owner_id === ""
            ? "a piece of it is missing"
            : "part [0-9a-f]{64} is missing";
      assert.match(await check(rig), new RegExp(missing));
      await db.insertInto("decision_contexts").values(context).execute();
    }
    assert.equal(await check(rig), "");
  },
);
