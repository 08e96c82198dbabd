/** Policies over gateway, signer and database: what tests of them do again and again. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { QueryDefinition } from "../src/endpoints/define_query.ts";
import type { Static, TObject } from "../src/fields/schema.ts";
import { getActivity } from "../src/queries/get_activity.ts";
import { getPolicyEvaluations } from "../src/queries/get_policy_evaluations.ts";
import { listActivities } from "../src/queries/list_activities.ts";
import { dialectOf } from "../src/views/dialect.ts";
import type { Failure } from "../src/views/error_body.ts";
import { testCaller } from "./caller.ts";
import {
  type Activity,
  type ActivityPath,
  createGatewayRig,
  type GatewayRig,
  type Person,
  Refused,
} from "./gateway_rig.ts";
import { dialects } from "./open_test_store.ts";

/** The same guarantee on each database. */
export function onBothDatabases(name: string, run: (rig: GatewayRig, t: TestContext) => Promise<void>): void {
  for (const dialect of dialects) {
    test(`on ${dialect} ${name}`, async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig !== undefined) await run(rig, t);
    });
  }
}

export type Where = { organizationId?: string };

/** What a query answers to this person. */
export async function ask<P extends TObject, R extends TObject>(
  rig: GatewayRig,
  { userId, userName }: Person,
  query: QueryDefinition<P, R>,
  request: object = {},
  { organizationId = rig.organizationId }: Where = {},
): Promise<Static<R>> {
  const caller = testCaller({ organizationId, userId, userName });
  return await query.run(rig.store, caller, { organizationId, ...request } as Static<P>, dialectOf(undefined));
}

/** The result of what must be done at once. */
export async function done<T extends object>(
  rig: GatewayRig,
  person: Person,
  path: ActivityPath,
  parameters: object,
  where: Where = {},
): Promise<T> {
  const { status, result } = await rig.submit(person, path, parameters, where);
  assert.equal(status, "ACTIVITY_STATUS_COMPLETED");
  return Object.values(result)[0] as T;
}

/** The failure that a request is answered with. */
export async function refusalOf(request: Promise<unknown>): Promise<Failure> {
  const error = await request.then(
    (answer) => assert.fail(`it was accepted: ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof Refused) return error.failure;
  throw error;
}

export type Draft = { effect?: "EFFECT_ALLOW" | "EFFECT_DENY"; condition?: string; consensus?: string; time?: string };

let count = 0;

/** A policy of the first organization, or of another by its own root user. */
export async function addPolicy(rig: GatewayRig, draft: Draft, root = rig.root, where: Where = {}): Promise<string> {
  count += 1;
  const parameters = { policyName: `Policy ${count}`, effect: "EFFECT_ALLOW", notes: "", ...draft };
  const { policyId } = await done<{ policyId: string }>(rig, root, "create_policy", parameters, where);
  return policyId;
}

export type Account = { walletId: string; address: string };

const bip32 = { pathFormat: "PATH_FORMAT_BIP32" };
export const accounts = {
  ethereum: {
    ...{ curve: "CURVE_SECP256K1", path: "m/44'/60'/0'/0/0", addressFormat: "ADDRESS_FORMAT_ETHEREUM" },
    ...bip32,
  },
  solana: { curve: "CURVE_ED25519", path: "m/44'/501'/0'/0'", addressFormat: "ADDRESS_FORMAT_SOLANA", ...bip32 },
} as const;

export async function addAccount(
  rig: GatewayRig,
  { root = rig.root, account = accounts.ethereum }: { root?: Person; account?: object } = {},
  where: Where = {},
): Promise<Account> {
  count += 1;
  const parameters = { walletName: `Wallet ${count}`, accounts: [account] };
  const made = await done<{ walletId: string; addresses: [string] }>(rig, root, "create_wallet", parameters, where);
  return { walletId: made.walletId, address: made.addresses[0] };
}

export const hexPayload = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };

/** Of each vote, the oldest first: the outcome of every policy. */
export async function evaluationsOf(rig: GatewayRig, activityId: string, where: Where = {}) {
  const { policyEvaluations } = await ask(rig, rig.root, getPolicyEvaluations, { activityId }, where);
  return policyEvaluations.map(({ policyEvaluations: each }) =>
    Object.fromEntries(each.map(({ policyId, outcome }) => [policyId, outcome])),
  );
}

/** An activity as this person sees it. */
export async function seenBy(
  rig: GatewayRig,
  person: Person,
  activityId: string,
  where: Where = {},
): Promise<Activity> {
  const { activity } = await ask(rig, person, getActivity, { activityId }, where);
  return activity as unknown as Activity;
}

/** Activities as this person sees them, the newest first. */
export async function listedBy(
  rig: GatewayRig,
  person: Person,
  request: object,
  where: Where = {},
): Promise<Activity[]> {
  const { activities } = await ask(rig, person, listActivities, request, where);
  return activities as unknown as Activity[];
}

/** `approvers` has each of these people. */
export function all(...people: readonly Person[]): string {
  return people.map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(" && ");
}
