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
  const typedData = "x".repeat(256);
  const encoding = "PAYLOAD_ENCODING_EIP712";
  assert.ok(cost(payloads, { payloads: Array(1_000).fill(typedData), encoding }) <= maxRequestCost);
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

const costOfParams = (path: keyof typeof activities, params: object) =>
  (activities[path] as { cost: (params: object) => number }).cost(params);

test("longer payloads cost more, and typed data the most, with as many signatures", () => {
  const costs = (encoding: string, length: number) => [
    costOfParams("sign_raw_payload", { encoding, payload: "x".repeat(length) }),
    costOfParams("sign_raw_payloads", { encoding, payloads: Array(4).fill("x".repeat(length / 4)) }),
  ];
  const [plain, typed] = ["PAYLOAD_ENCODING_TEXT_UTF8", "PAYLOAD_ENCODING_EIP712"];
  const growth = (encoding: string) => {
    const [short, long] = [costs(encoding, 1_000), costs(encoding, 201_000)];
    return long.map((cost, at) => cost - (short[at] ?? 0));
  };
  assert.deepEqual(growth(plain), Array(2).fill(200 * unitCosts.kilobyte));
  assert.deepEqual(growth(typed), Array(2).fill(200 * unitCosts.typedData));
});

test("a transaction of Bitcoin costs what inputs times its length is, until nodes would not relay it", () => {
  const cost = (length: number, type = "TRANSACTION_TYPE_BITCOIN") =>
    costOfParams("sign_transaction", { type, unsignedTransaction: "0".repeat(length) });
  const linear = (length: number) =>
    Math.ceil(length / 180) * unitCosts.sign.CURVE_SECP256K1 + (length * unitCosts.psbt) / 1_000;
  const digests = [36_000, 72_000, 144_000].map((length) => cost(length) - linear(length));
  const [first = 0] = digests;
  assert.ok(first > 0);
  assert.deepEqual(digests, [first, 4 * first, 16 * first]);
  const most = 1_000_000;
  const atMost = 25_000 * unitCosts.legacyDigest;
  assert.equal(cost(most), 2_000 * unitCosts.sign.CURVE_SECP256K1 + (most * unitCosts.psbt) / 1_000 + atMost);
  assert.ok(cost(most) <= maxRequestCost);
  assert.equal(cost(200_000, "TRANSACTION_TYPE_TRON") - cost(100_000, "TRANSACTION_TYPE_TRON"), 10_000);
});

test("longer interfaces and expressions cost more", () => {
  const abi = (length: number) =>
    costOfParams("create_smart_contract_interface", { smartContractInterface: " ".repeat(length) });
  assert.equal(abi(3_000) - abi(1_000), 2 * unitCosts.contractInterface);
  const policy = (length: number) => costOfParams("create_policy", { condition: " ".repeat(length) });
  assert.equal(policy(3_000) - policy(1_000), 2 * unitCosts.expression);
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
