/** What an organization's members can see of it: the effect of an activity is what differs, and a refusal changes nothing. */
import assert from "node:assert/strict";
import { type SeenActivity, seenActivities } from "../activities.ts";
import type { Fixture, Json } from "./fixture.ts";
import type { Place } from "./stage.ts";

export type Look = {
  organizationName: string;
  users: Json[];
  userTags: Json[];
  wallets: Json[];
  accounts: Json[];
  privateKeys: Json[];
  privateKeyTags: Json[];
  policies: Json[];
  interfaces: Json[];
  sessionProfiles: Json[];
  ipAllowlist: Json;
  oauth2Credentials: Json[];
  features: Json[];
  quorum: Json;
  subOrganizationIds: string[];
};

/** Everything but the activities. */
export async function look(fixture: Fixture, place: Place = fixture.place): Promise<Look> {
  const ask = (path: string, parameters?: object) => fixture.ask(path, parameters, place.root, place);
  const [{ organizationName }, { users }, { userTags }, { configs }] = await Promise.all([
    ask("whoami"),
    ask("list_users"),
    ask("list_user_tags"),
    ask("get_organization_configs"),
  ]);
  const [{ wallets }, { privateKeys }, { privateKeyTags }, accounts] = await Promise.all([
    ask("list_wallets"),
    ask("list_private_keys"),
    ask("list_private_key_tags"),
    allAccounts(ask),
  ]);
  const [
    { policies },
    { smartContractInterfaces: interfaces },
    { sessionProfiles },
    { allowlist },
    { oauth2Credentials },
  ] = await Promise.all([
    ask("list_policies"),
    ask("list_smart_contract_interfaces"),
    ask("get_session_profiles"),
    ask("get_ip_allowlist"),
    ask("list_oauth2_credentials"),
  ]);
  const { features, quorum } = configs;
  return {
    organizationName,
    users,
    userTags,
    wallets,
    accounts,
    privateKeys,
    privateKeyTags,
    policies,
    interfaces,
    sessionProfiles,
    ipAllowlist: allowlist,
    oauth2Credentials,
    features,
    quorum,
    subOrganizationIds: await subOrganizations(ask, place),
  };
}

type Ask = (path: string, parameters?: object) => Promise<Json>;

async function allAccounts(ask: Ask): Promise<Json[]> {
  const all: Json[] = [];
  for (;;) {
    const after = all.at(-1)?.walletAccountId;
    const paginationOptions = { limit: "100", ...(after !== undefined && { after }) };
    const { accounts } = await ask("list_wallet_accounts", { paginationOptions });
    all.push(...accounts);
    if (accounts.length < 100) return all;
  }
}

async function subOrganizations(ask: Ask, { parentId }: Place) {
  if (parentId !== undefined) return []; // They cannot nest.
  const { organizationIds } = await ask("list_suborgs", { paginationOptions: { limit: "100" } });
  return organizationIds.toSorted();
}

function activitiesIn(fixture: Fixture, place: Place): Promise<SeenActivity[]> {
  return seenActivities((paginationOptions) =>
    fixture.ask("list_activities", { paginationOptions }, place.root, place),
  );
}

/** Runs `attempt`, after which the place must look as before, with exactly these activities more. */
export async function assertOnlyKept(
  fixture: Fixture,
  attempt: () => Promise<void>,
  kept: () => readonly Omit<SeenActivity, "id">[] = () => [],
  place: Place = fixture.place,
): Promise<void> {
  const [seenBefore, before] = [await activitiesIn(fixture, place), await look(fixture, place)];
  await attempt();
  const known = new Set(seenBefore.map(({ id }) => id));
  const added = (await activitiesIn(fixture, place)).filter(({ id }) => !known.has(id));
  assert.deepEqual(added.map(({ id: _, ...activity }) => activity).reverse(), kept());
  assert.deepEqual(await look(fixture, place), before);
}
