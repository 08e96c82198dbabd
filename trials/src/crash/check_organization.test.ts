/** The checks of the crash tests find what they are there to find: rows that were in order are put out of order, one at a time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig, type GatewayRig } from "../../../server/test/gateway_rig.ts";
import { checkOrganization } from "./check_organization.ts";
import { type Rows, readDeployment } from "./deployment_rows.ts";

/** Something of every kind, with an activity that waits and one that was voted through. */
async function live(rig: GatewayRig): Promise<void> {
  const { root } = rig;
  const deputy = await rig.newPerson("Deputy");
  await rig.submit(root, "create_user_tag", { userTagName: "tag", userIds: [deputy.userId] });
  const account = {
    curve: "CURVE_SECP256K1",
    pathFormat: "PATH_FORMAT_BIP32",
    path: "m/44'/60'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  };
  await rig.submit(root, "create_wallet", { walletName: "wallet", accounts: [account] });
  const key = { privateKeyName: "key", curve: "CURVE_P256", addressFormats: [], privateKeyTags: [] };
  await rig.submit(root, "create_private_keys", { privateKeys: [key] });
  const policy = {
    policyName: "policy",
    effect: "EFFECT_DENY",
    condition: "activity.resource == 'NOTHING'",
    notes: "",
  };
  await rig.submit(root, "create_policy", policy);
  await rig.submit(root, "update_root_quorum", { threshold: 2, userIds: [root.userId, deputy.userId] });
  const proposed = await rig.submit(root, "update_organization_name", { organizationName: "Renamed" });
  await rig.submit(deputy, "approve_activity", { fingerprint: proposed.fingerprint });
  await rig.submit(root, "create_user_tag", { userTagName: "waits", userIds: [] });
}

/** What a crash could leave behind if commits were not whole. */
const damages: Readonly<Record<string, (rows: Rows) => void>> = {
  "a leaf is missing": ({ leaves }) => void leaves.pop(),
  "a leaf is there twice": ({ leaves }) =>
    void leaves.push({ ...leaves.at(-1), number: 999 } as Rows["leaves"][number]),
  "an activity is missing": ({ activities }) => void activities.pop(),
  "an activity is there twice": ({ activities }) =>
    void activities.push({ ...activities[0], activity_id: "other" } as Rows["activities"][number]),
  "a result is missing": ({ activities }) => {
    for (const row of activities.slice(0, 1)) row.result = null;
  },
  "a vote is missing": ({ votes }) => void votes.pop(),
  "what waited runs no more": ({ activities }) => {
    for (const row of activities) if (row.status.endsWith("NEEDED")) row.status = "ACTIVITY_STATUS_REJECTED";
  },
  "the head is older than the leaves": ({ organization }) => {
    organization.version -= 1;
  },
  "a page is missing": ({ pages }) => void pages.pop(),
  "a user is missing": ({ users }) => void users.pop(),
  "a credential is missing": ({ credentials }) => void credentials.pop(),
  "a tag is there that nobody made": ({ user_tags }) =>
    void user_tags.push({ ...user_tags[0], tag_id: "other" } as Rows["user_tags"][number]),
  "a wallet is missing": ({ wallets }) => void wallets.pop(),
  "an account has another address": ({ wallet_accounts }) => {
    for (const row of wallet_accounts) row.address = "0x0";
  },
  "a private key is missing": ({ private_keys }) => void private_keys.pop(),
  "a policy is missing": ({ policies }) => void policies.pop(),
  "the name is the one before": ({ organization }) => {
    organization.organization_name = "Before";
  },
};

test("an organization in order is in order, and every damage is named", async (t) => {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  await live(rig);
  const { organizations } = await readDeployment(rig.store);
  const rows = organizations.get(rig.organizationId);
  assert.ok(rows);
  assert.deepEqual(checkOrganization(rows), []);
  const missed = Object.entries(damages).filter(([, damage]) => {
    const damaged = structuredClone(rows);
    damage(damaged);
    return checkOrganization(damaged).length === 0;
  });
  assert.deepEqual(
    missed.map(([name]) => name),
    [],
  );
});
