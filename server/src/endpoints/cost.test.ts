import assert from "node:assert/strict";
import { test } from "node:test";
import { activities } from "../generated/activities.ts";
import { costOf, costOfAccounts, maxRequestCost, refuseTooCostly, unitCosts } from "./cost.ts";
import type { AnyActivity } from "./define_activity.ts";

type Schema = {
  type?: string;
  maxItems?: number;
  maxLength?: number;
  properties?: object;
  items?: object;
  anyOf?: object[];
};

/** Whether a caller can make it a lot longer. */
function grows(schema: Schema): boolean {
  if ((schema.maxItems ?? 0) > 10 || (schema.maxLength ?? 0) > 5_000) return true;
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  return parts.some(grows);
}

test("every activity whose parameters can grow says what it costs", () => {
  for (const [path, activity] of Object.entries(activities) as [string, AnyActivity][]) {
    if (!grows(activity.params as Schema)) continue;
    assert.ok(activity.cost !== undefined, path);
  }
});

test("the dearest of what limits allow is within what a request may cost", () => {
  const { sign_raw_payloads: payloads, create_private_keys: keys, create_wallet_accounts: derive } = activities;
  const cost = (activity: { cost?: unknown }, params: object) => (activity.cost as (params: object) => number)(params);
  assert.ok(cost(payloads, { payloads: Array(1_000).fill("00") }) <= maxRequestCost);
  const addressFormats = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"].map((net) => `ADDRESS_FORMAT_BITCOIN_${net}_P2TR`);
  const key = { curve: "CURVE_SECP256K1", addressFormats };
  assert.ok(cost(keys, { privateKeys: Array(100).fill(key) }) <= maxRequestCost);
  const account = { curve: "CURVE_SECP256K1", path: "m/0/1/2/3/4/5/6/7/8/9", addressFormat: addressFormats[0] };
  assert.ok(cost(derive, { accounts: Array(100).fill(account) }) <= maxRequestCost);
});

test("a deeper path and a dearer curve cost more", () => {
  const account = { curve: "CURVE_SECP256K1", path: "m/0/1", addressFormat: "ADDRESS_FORMAT_ETHEREUM" } as const;
  const plain = costOfAccounts([account]);
  assert.equal(costOfAccounts([{ ...account, path: "m/0/1/2" }]) - plain, unitCosts.derive.CURVE_SECP256K1);
  assert.ok(costOfAccounts([{ ...account, curve: "CURVE_ED25519" }]) < plain);
  assert.ok(costOfAccounts([{ ...account, addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" }]) > plain);
});

test("what costs more than a request may is refused", () => {
  refuseTooCostly(maxRequestCost);
  assert.throws(() => refuseTooCostly(maxRequestCost + 1), { code: "invalid_argument", message: /split it/ });
});

test("app proofs cost a signature for the decision and one for each account that is derived", () => {
  const accounts = Array(5).fill({ curve: "CURVE_ED25519", path: "m/0'", addressFormat: "ADDRESS_FORMAT_SOLANA" });
  const wallet = { walletName: "w", accounts };
  const rootUsers = [{ userName: "u", apiKeys: [], authenticators: [], oauthProviders: [] }];
  const child = { subOrganizationName: "child", rootUsers, rootQuorumThreshold: 1 };
  const cases: [keyof typeof activities, object, number][] = [
    ["create_user_tag", { userTagName: "t", userIds: [] }, 1],
    ["create_wallet", wallet, 6],
    ["create_wallet_accounts", { walletId: "w", accounts }, 6],
    ["create_sub_organization", child, 1],
    ["create_sub_organization", { ...child, wallet }, 6],
  ];
  for (const [path, parameters, signatures] of cases) {
    const form = { activity: activities[path] as AnyActivity, translate: (same: unknown) => same };
    const cost = (generateAppProofs: boolean) => costOf(form, { parameters, generateAppProofs }, 1_000);
    assert.equal(cost(true) - cost(false), signatures * unitCosts.sign.CURVE_P256, path);
  }
});
