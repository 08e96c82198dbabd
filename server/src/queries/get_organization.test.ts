import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { token, tokenInterface } from "../../test/contract_calls.ts";
import { addAccount, addPolicy, ask, done, onBothDatabases } from "../../test/policy_rig.ts";
import { inSnapshot } from "../store/snapshot.ts";
import { getOrganization, maxListed } from "./get_organization.ts";
import { listUsers } from "./list_users.ts";

onBothDatabases(
  "get_organization gives everything an organization has, and of interfaces not their texts",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const { walletId } = await addAccount(rig);
    const policyId = await addPolicy(rig, { condition: "false" });
    const made = await done<{ smartContractInterfaceId: string }>(rig, rig.root, "create_smart_contract_interface", {
      smartContractAddress: token,
      smartContractInterface: tokenInterface,
      type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
      label: "Token",
    });
    await done(rig, rig.root, "create_private_key_tag", { privateKeyTagName: "cold", privateKeyIds: [] });
    const answer = await inSnapshot(rig.store, (store) => ask({ ...rig, store }, dave, getOrganization));
    const { organizationData: data } = answer;
    assert.equal(data.organizationId, rig.organizationId);
    assert.deepEqual(data.users, (await ask(rig, dave, listUsers)).users);
    assert.deepEqual(
      [data.policies.map((one) => one.policyId), data.wallets.map((one) => one.walletId)],
      [[policyId], [walletId]],
    );
    assert.deepEqual(
      data.tags.map(({ tagName, tagType }) => [tagName, tagType]),
      [["cold", "TAG_TYPE_PRIVATE_KEY"]],
    );
    assert.deepEqual(data.smartContractInterfaceReferences, [
      { smartContractInterfaceId: made.smartContractInterfaceId, smartContractAddress: token.toLowerCase() },
    ]);
    assert.deepEqual([data.rootQuorum, data.invitations], [{ threshold: 1, userIds: [rig.root.userId] }, []]);
    assert.ok(!JSON.stringify(data).includes("transfer"));
  },
);

onBothDatabases("get_organization refuses what would be too long an answer, and names the lists", async (rig) => {
  const { organizationId, store } = rig;
  const times = { created_at_ms: 0, updated_at_ms: 0 };
  const rows = Array.from({ length: 1_000 }, (_, at) => ({ at, organization_id: organizationId, ...times }));
  for (let part = 0; part * rows.length < maxListed; part++) {
    const tags = rows.map(({ at, ...row }) => ({ ...row, tag_id: randomUUID(), tag_name: `tag ${part} ${at}` }));
    await store.db.insertInto("user_tags").values(tags).execute();
  }
  const asked = inSnapshot(store, (snapshot) => ask({ ...rig, store: snapshot }, rig.root, getOrganization));
  await assert.rejects(asked, {
    code: "resource_exhausted",
    message:
      /^organization has 100\d\d users, credentials, .* more than the 10000 that one answer may have: use list_users,/,
  });
});
