/** Questions, each about as much as an organization may have. */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { authenticatorParams } from "../../passkeys.ts";
import { longExpression } from "../expressions.ts";
import type { Json } from "../lanes.ts";
import type { QueryPath, Tenant } from "../tenant.ts";
import { asking, type Flood } from "./flood.ts";
import {
  accounts,
  apiKey,
  cheapAccounts,
  contractInterface,
  crowd,
  interfaceParams,
  oauth2Credentials,
  plainUsers,
  policies,
  privateKeys,
} from "./parts.ts";
import { payloads, signingPolicies, taprootPsbt } from "./signing.ts";

const paginationOptions = { limit: "100" };

/** The question, once what it is about is there. */
function about(path: QueryPath, prepare: (tenant: Tenant) => Promise<object | undefined> | object, more = {}): Flood {
  return { ...more, begin: async (tenant) => asking(path, (await prepare(tenant)) ?? {}) };
}

/** A root user with as many keys and passkeys as one may have. */
async function credentials({
  act,
  roots: [user],
}: Tenant): Promise<{ userId: string; apiKeyId: string; authenticatorId: string }> {
  const userId = user?.userId ?? "";
  const apiKeys = [...Array.from({ length: 9 }, () => apiKey({})), ...Array.from({ length: 10 }, () => apiKey())];
  const { apiKeyIds } = (await act("create_api_keys", { userId, apiKeys })).result;
  const authenticators = Array.from({ length: 10 }, () => authenticatorParams());
  const { authenticatorIds } = (await act("create_authenticators", { userId, authenticators })).result;
  return { userId, apiKeyId: apiKeyIds[0], authenticatorId: authenticatorIds[0] };
}

/** A long text that was signed: its activity shows it. */
async function longActivity({ act }: Tenant, length = 900_000): Promise<{ activityId: string; sign(): Promise<void> }> {
  const made = (await act("create_private_keys", { privateKeys: [keyOf("CURVE_SECP256K1")] })).result;
  const [{ privateKeyId }] = made.privateKeys as [{ privateKeyId: string }];
  const sign = () =>
    act("sign_raw_payload", {
      signWith: privateKeyId,
      payload: "x".repeat(length),
      ...{ encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_SHA256" },
    });
  const { id } = await sign();
  return { activityId: id, sign: async () => void (await sign()) };
}

const keyOf = (curve: string) => ({ privateKeyName: randomUUID(), curve, privateKeyTags: [], addressFormats: [] });

/** An activity with as many proofs as one may have. */
async function proven({ act, ask }: Tenant): Promise<{ activityId: string; proofs: Json[] }> {
  const { id: activityId } = await act(
    "create_wallet",
    { walletName: randomUUID(), accounts: accounts(0) },
    { appProofs: true },
  );
  return { activityId, proofs: (await ask("list_app_proofs", { activityId })).appProofs };
}

async function someWallets({ act }: Tenant, count: number): Promise<void> {
  const lanes = Array.from({ length: 16 }, async () => {
    for (let made = 0; made < count / 16; made++)
      await act("create_wallet", { walletName: randomUUID(), accounts: [] });
  });
  await Promise.all(lanes);
}

async function walletOfMany({ act }: Tenant): Promise<{ walletId: string; address: string }> {
  const made = (await act("create_wallet", { walletName: randomUUID(), accounts: cheapAccounts(0) })).result;
  return { walletId: made.walletId, address: made.addresses[0] };
}

/** Of the files of a log a full tile of entries is the dearest: it is no row by itself, and put together of 256 each time. */
async function fullTile({ act, ask }: Tenant): Promise<{ logId: string; path: string }> {
  const { logId } = (await ask("list_log_leaves", { paginationOptions })).leaves[0];
  for (let part = 0; part < 16; part++) {
    const change = () => act("update_organization_name", { organizationName: randomUUID() });
    await Promise.all(Array.from({ length: 16 }, change));
  }
  // Checkpoints come once a second.
  for (let size = 0; size < 256; await pause(200)) {
    const { content } = await ask("get_log_file", { logId, path: "checkpoint" });
    size = Number(Buffer.from(content, "base64").toString("utf8").split("\n")[1]);
  }
  return { logId, path: "tile/entries/000" };
}

/** White space is text as well, and quickly read. */
const paddedInterface = () => `${contractInterface(1)}${" ".repeat(400_000)}`;

async function interfaces({ act }: Tenant, count: number): Promise<string> {
  const made: string[] = [];
  for (let index = 0; index < count; index++) {
    const { result } = await act("create_smart_contract_interface", interfaceParams(index, paddedInterface()));
    made.push(result.smartContractInterfaceId);
  }
  return made[0] ?? "";
}

/** A user asks whom policies decide about, all of which are weighed. */
async function weighed(tenant: Tenant): Promise<string> {
  const [by] = await plainUsers(tenant);
  await signingPolicies(tenant);
  const made = (await tenant.act("create_private_keys", { privateKeys: [keyOf("CURVE_P256")] })).result;
  const asked = {
    ...{ signWith: made.privateKeys[0].privateKeyId, payloads: payloads(1, 0) },
    ...{ encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" },
  };
  return (await tenant.act("sign_raw_payloads", asked, by && { by })).id;
}

/** Drafts that visit all inputs of a transaction, and so many long ones beside them. */
async function supposed(tenant: Tenant, long = 0): Promise<object> {
  const { act, ask } = tenant;
  const account = { ...accounts(0, 1)[0] };
  const made = (await act("create_wallet", { walletName: randomUUID(), accounts: [account] })).result;
  const [address] = made.addresses as [string];
  const { account: shown } = await ask("get_wallet_account", { walletId: made.walletId, address });
  const condition = `bitcoin.tx.inputs.any(i, ${Array.from({ length: 120 }, (_, at) => `i.tx_id == '${at}'`).join(" || ")})`;
  return {
    activity: {
      type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
      parameters: {
        ...{ signWith: address, type: "TRANSACTION_TYPE_BITCOIN" },
        unsignedTransaction: taprootPsbt({ address, publicKey: shown.publicKey }, 130),
      },
    },
    proposerId: (await plainUsers(tenant))[0]?.userId,
    policies: {
      add: [...Array.from({ length: 9 }, () => condition), ...Array.from({ length: long }, () => longExpression())].map(
        (each) => ({ policyName: randomUUID(), effect: "EFFECT_ALLOW", condition: each }),
      ),
    },
  };
}

export const queryFloods: Record<QueryPath, Flood> = {
  get_activity: about("get_activity", async (tenant) => ({ activityId: (await longActivity(tenant)).activityId })),
  get_api_key: about("get_api_key", async (tenant) => ({ apiKeyId: (await credentials(tenant)).apiKeyId })),
  get_api_keys: about("get_api_keys", async (tenant) => void (await crowd(tenant, 960, 10))),
  get_authenticator: about("get_authenticator", async (tenant) => ({
    authenticatorId: (await credentials(tenant)).authenticatorId,
  })),
  get_authenticators: about("get_authenticators", async (tenant) => ({ userId: (await credentials(tenant)).userId })),
  get_boot_proof: about("get_boot_proof", async (tenant) => ({
    ephemeralKey: (await proven(tenant)).proofs[0].publicKey,
  })),
  get_latest_boot_proof: about("get_latest_boot_proof", () => ({ appName: "signer" })),
  get_log_file: about("get_log_file", fullTile),
  get_log_statement: about("get_log_statement", () => ({})),
  get_oauth_providers: about("get_oauth_providers", async (tenant) => void (await crowd(tenant, 960, 10))),
  // No answer has more than ten thousand things in it.
  get_organization: about("get_organization", async (tenant) => {
    await crowd(tenant, 760, 10);
    await policies(tenant, 500_000);
    await privateKeys(tenant);
  }),
  get_organization_configs: about("get_organization_configs", () => ({})),
  get_policy: about("get_policy", async (tenant) => ({ policyId: (await policies(tenant, 380_000))[0] })),
  get_policy_evaluations: about("get_policy_evaluations", async (tenant) => ({ activityId: await weighed(tenant) })),
  get_private_key: about("get_private_key", async (tenant) => ({ privateKeyId: (await privateKeys(tenant, 100))[0] })),
  get_proof_context: about("get_proof_context", async (tenant) => {
    await crowd(tenant, 960, 10);
    const { proofs } = await proven(tenant);
    const payloads = proofs.map(({ proofPayload }) => JSON.parse(proofPayload));
    const { policyOutcomeProof } = payloads.find((each) => each.policyOutcomeProof !== undefined);
    return { digest: policyOutcomeProof.decisionContextDigest };
  }),
  get_session_profile: about("get_session_profile", async ({ parent }) => {
    // A flood of new ones may have left no room for another.
    const { sessionProfiles } = await parent.ask("get_session_profiles");
    if (sessionProfiles.length > 0) return { sessionProfileId: sessionProfiles[0].sessionProfileId };
    const asked = { sessionProfileName: randomUUID(), scope: longExpression() };
    return { sessionProfileId: (await parent.act("create_session_profile", asked)).result.sessionProfileId };
  }),
  get_session_profiles: about("get_session_profiles", () => ({})),
  get_smart_contract_interface: about("get_smart_contract_interface", async (tenant) => ({
    smartContractInterfaceId: await interfaces(tenant, 1),
  })),
  get_user: about("get_user", async (tenant) => ({ userId: (await credentials(tenant)).userId })),
  get_wallet: about("get_wallet", async (tenant) => ({ walletId: (await walletOfMany(tenant)).walletId })),
  get_wallet_account: about("get_wallet_account", walletOfMany),
  list_activities: about("list_activities", async (tenant) => {
    const { sign } = await longActivity(tenant, 250_000);
    for (let part = 0; part < 10; part++) await Promise.all(Array.from({ length: 10 }, sign));
    return { paginationOptions };
  }),
  get_ip_allowlist: about("get_ip_allowlist", () => ({}), { atParent: true }),
  get_oauth2_credential: about("get_oauth2_credential", async (tenant) => ({
    oauth2CredentialId: (await oauth2Credentials(tenant, 1))[0],
  })),
  list_oauth2_credentials: about("list_oauth2_credentials", async (tenant) => {
    await oauth2Credentials(tenant, 10);
  }),
  list_app_proofs: about("list_app_proofs", async (tenant) => ({ activityId: (await proven(tenant)).activityId })),
  list_email_events: about("list_email_events", () => ({ email: "user@example.com", paginationOptions })),
  list_log_leaves: about("list_log_leaves", async (tenant) => {
    const { sign } = await longActivity(tenant, 250_000);
    for (let part = 0; part < 10; part++) await Promise.all(Array.from({ length: 10 }, sign));
    return { paginationOptions };
  }),
  list_policies: about("list_policies", async (tenant) => void (await policies(tenant, 500_000))),
  list_private_key_tags: about("list_private_key_tags", async (tenant) => {
    const privateKeyIds = await privateKeys(tenant);
    for (let made = 0; made < 10; made++) {
      await tenant.act("create_private_key_tag", { privateKeyTagName: randomUUID(), privateKeyIds });
    }
  }),
  list_private_keys: about("list_private_keys", async (tenant) => {
    await privateKeys(tenant);
    return { paginationOptions };
  }),
  list_smart_contract_interfaces: about("list_smart_contract_interfaces", async (tenant) => {
    await interfaces(tenant, 40);
  }),
  list_suborgs: about("list_suborgs", () => ({ paginationOptions }), { atParent: true }),
  list_user_tags: about("list_user_tags", async (tenant) => {
    const userIds = await crowd(tenant);
    for (let made = 0; made < 20; made++) {
      await tenant.act("create_user_tag", { userTagName: randomUUID(), userIds });
    }
  }),
  list_verified_suborgs: about("list_verified_suborgs", () => ({ paginationOptions }), { atParent: true }),
  list_users: about("list_users", async (tenant) => void (await crowd(tenant, 960, 10))),
  list_wallet_accounts: about("list_wallet_accounts", async (tenant) => ({
    walletId: (await walletOfMany(tenant)).walletId,
    paginationOptions,
  })),
  list_wallets: about("list_wallets", async (tenant) => void (await someWallets(tenant, 160))),
  simulate_activity: about("simulate_activity", supposed),
  whoami: about("whoami", async (tenant) => void (await credentials(tenant))),
};

export const largeQueryFloods = {
  // Drafts of 128 KiB together are taken.
  "large simulate_activity": about("simulate_activity", (tenant) => supposed(tenant, 30), { isLarge: true }),
} satisfies Record<string, Flood>;
