import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { maxBodyBytes } from "../gateway/http/http_limits.ts";
import { activities } from "../generated/activities.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { costOf, costOfAccounts, maxRequestCost, refuseTooCostly, unitCosts } from "./cost.ts";
import type { AnyActivity } from "./define_activity.ts";
import { withLimits } from "./limits.ts";

type Schema = {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  maxItems?: number;
  maxLength?: number;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
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

const { longLivedApiKeysPerUser, expiringApiKeysPerUser, ...perUser } = withLimits({});
const networks = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"];

/** The dearest that rules allow, where the schema alone allows more or does not tell what is dear. By the names of fields. */
const dearest: Readonly<Record<string, unknown>> = {
  // A thousand steps in all.
  path: "m/0/1/2/3/4/5/6/7/8/9",
  curve: "CURVE_SECP256K1",
  addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR",
  addressFormats: networks.map((network) => `ADDRESS_FORMAT_BITCOIN_${network}_P2TR`),
  encoding: "PAYLOAD_ENCODING_EIP712",
  // The one text that must have a form.
  privateKeyId: randomUUID(),
};

const mostItems: Readonly<Record<string, number>> = {
  apiKeys: longLivedApiKeysPerUser + expiringApiKeysPerUser,
  authenticators: perUser.authenticatorsPerUser,
  oauthProviders: perUser.oauthProvidersPerUser,
};

/** Full lists, with this part of their items, and long texts of this length. */
function filled(schema: Schema, size: { items: number; text: number }, name = ""): unknown {
  const { type, anyOf: [first] = [], enum: words, items = {}, properties = {}, maxItems = 10, maxLength = 0 } = schema;
  const known = dearest[name];
  if (known !== undefined && (words ?? [known]).includes(known)) return known;
  if (schema.const !== undefined) return schema.const;
  if (words !== undefined) return words.find((word) => String(word).endsWith("_BITCOIN")) ?? words[0];
  if (first !== undefined) return filled(first, size, name);
  if (type === "object")
    return Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, filled(each, size, key)]));
  if (type === "array") {
    const count = Math.ceil(Math.min(maxItems, mostItems[name] ?? maxItems) * size.items);
    return Array.from({ length: count }, () => filled(items, size));
  }
  if (type === "string") return "x".repeat(maxLength > 5_000 ? Math.min(maxLength, size.text) : 1);
  return type === "boolean" ? true : 1;
}

type Filled = { parameters: unknown; length: number };

/** As much as goes into a body: all items, and texts as long as there is room for; of users with all their credentials, fewer. */
function largest(schema: Schema): Filled {
  const withSize = (items: number, text: number): Filled => {
    const parameters = filled(schema, { items, text });
    return { parameters, length: JSON.stringify(parameters).length };
  };
  let [items, text] = [1, 1];
  let found = withSize(items, text);
  for (; found.length > maxBodyBytes; found = withSize(items, text)) items *= 0.9;
  for (;;) {
    text = Math.ceil(text * 1.2);
    const next = withSize(items, text);
    // No text of it grows any more.
    if (next.length > maxBodyBytes || next.length === found.length) return found;
    found = next;
  }
}

test("the dearest that the limits of each activity allow, in each of its versions, is within what a request may cost", (t) => {
  const costs = new Map<string, number>();
  for (const activity of Object.values<AnyActivity>(activities)) {
    const newest = { type: activity.type, params: activity.params, translate: (same: unknown) => same };
    for (const { type, params, translate } of [newest, ...(activity.versions ?? [])]) {
      const { parameters, length } = largest(params as Schema);
      assert.equal(activityValidators[type]?.(parameters), true, type);
      const form = { activity, translate: translate as (params: unknown) => unknown };
      costs.set(type, costOf(form, { parameters, generateAppProofs: true }, length));
    }
  }
  const [most] = [...costs].sort(([, a], [, b]) => b - a);
  t.diagnostic(`${costs.size} types, at most ${Math.round(most?.[1] ?? 0)} of ${maxRequestCost}: ${most?.[0]}`);
  for (const [type, cost] of costs) assert.ok(cost <= maxRequestCost, `${type}: ${cost}`);
  // That it is full indeed, of what the limits were made for.
  const { CURVE_P256: signature } = unitCosts.sign;
  assert.ok((costs.get("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS") ?? 0) > 1_000 * signature);
  assert.ok((costs.get("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2") ?? 0) > 400 * unitCosts.taprootAddress);
  assert.ok((costs.get("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS") ?? 0) > 1_000 * unitCosts.derive.CURVE_SECP256K1);
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
