/** What leaves name by digest, as a check of the database sees it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig, type GatewayRig, inProcess } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { accounts, addAccount } from "../../../test/policy_rig.ts";
import { checkingSigner } from "../../../test/signer_rig.ts";
import { protocolVersion } from "../../frames/frame.ts";
import { checkDatabase } from "./check_database.ts";

async function check({ signer, store }: GatewayRig): Promise<string> {
  const operations = checkingSigner(signer);
  const { log } = JSON.parse(operations.hello({ protocol: protocolVersion, keyring: signer.keyring }).publicKeys);
  const { ok, lines } = await checkDatabase(store, inProcess({ operations }), log, { rebuilds: false });
  return ok ? "" : lines.join("\n");
}

for (const dialect of dialects) {
  test(`on ${dialect} contents and what was made are those that leaves name, or are named as lost`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { store, organizationId } = rig;
    await addAccount(rig, { account: accounts.solana });
    await rig.dependencies.committer.settle();
    assert.equal(await check(rig), "");
    const leaf = await store.db
      .selectFrom("leaves")
      .selectAll()
      .where("organization_id", "=", organizationId)
      .where("made", "is not", null)
      .executeTakeFirstOrThrow();
    const rows = await store.db.selectFrom("disclosures").selectAll().execute();
    const isContents = ({ content }: { content: Uint8Array }) => Buffer.from(content).includes('"walletAccount"');
    const contents = rows.find(isContents) ?? assert.fail();
    const of = (table: "disclosures") => store.db.updateTable(table).where("digest", "=", contents.digest);

    await of("disclosures")
      .set({ content: Buffer.from("else") })
      .execute();
    assert.match(await check(rig), new RegExp(`disclosures ${contents.digest}: its content is another`));
    await store.db.deleteFrom("disclosures").where("digest", "=", contents.digest).execute();
    const missing = `disclosures ${contents.digest}: it is missing, and leaves ${leaf.boot} ${leaf.number} names it`;
    assert.match(await check(rig), new RegExp(missing));
    await store.db.insertInto("disclosures").values(contents).execute();

    const setMade = (made: Uint8Array | null) =>
      store.db.updateTable("leaves").set({ made }).where("number", "=", leaf.number).where("boot", "=", leaf.boot);
    for (const made of [null, Buffer.from("else")]) {
      await setMade(made).execute();
      assert.match(await check(rig), new RegExp(`leaves ${leaf.boot} ${leaf.number}: made is not what the leaf names`));
    }
    await setMade(leaf.made).execute();
    assert.equal(await check(rig), "");
  });
}
