import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { after, organization } from "../../test/members.ts";
import type { PrivateKeyParams } from "../fields/private_keys.ts";
import { tagsOf } from "../rules/private_key_tags.ts";
import { put } from "../state/entities.ts";
import { createPrivateKeys } from "./create_private_keys.ts";

const tags = ["hot", "cold"].map((tagId) =>
  put("privateKeyTag", { tagId, tagName: tagId, createdAtMs: 1, updatedAtMs: 1 }),
);
const acme = after(organization(), { changes: [...tags, put("keyCounts", { wallets: 7, privateKeys: 2 })] });

function key(privateKeyName: string, changes: Partial<PrivateKeyParams> = {}): PrivateKeyParams {
  return { privateKeyName, curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: [], ...changes };
}

function run(privateKeys: PrivateKeyParams[], context: ContextChanges = {}) {
  return runActivity(createPrivateKeys, acme, { privateKeys }, context);
}

test("records, counts and tags change, and the result names keys and addresses in the order asked", () => {
  const outcome = run([
    key("a", { privateKeyTags: ["cold", "hot", "cold"], addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] }),
    key("b", { curve: "CURVE_P256" }),
  ]);
  const records = outcome.records ?? [];
  assert.deepEqual(
    records.map(({ record }) => record.kind === "privateKey" && [record.privateKeyId, record.privateKeyName]),
    [
      ["new 0", "a"],
      ["new 1", "b"],
    ],
  );
  const [a, b] = outcome.result.privateKeys;
  assert.deepEqual([a?.privateKeyId, b], ["new 0", { privateKeyId: "new 1", addresses: [] }]);
  assert.match(a?.addresses[0]?.address ?? "", /^0x[0-9a-fA-F]{40}$/);
  const { keyCounts, privateKeyTags } = after(acme, outcome);
  assert.deepEqual(keyCounts, { wallets: 7, privateKeys: 4 });
  assert.deepEqual([tagsOf(privateKeyTags, "new 0"), tagsOf(privateKeyTags, "new 1")], [["cold", "hot"], []]);
});

test("secrets are 32 bytes of the signer's own randomness, one for each key, and stand nowhere else", () => {
  let drawn = 0;
  const keys = { ...testKeyAccess(), random: (length: number) => new Uint8Array(length).fill(++drawn) };
  const outcome = run([key("a"), key("b", { curve: "CURVE_ED25519" })], { keys });
  assert.deepEqual(
    outcome.records?.map(({ secret }) => secret),
    [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)],
  );
  const said = JSON.stringify([outcome.changes, outcome.result, outcome.records?.map(({ record }) => record)]);
  for (const byte of ["01", "02"]) assert.ok(!said.includes(byte.repeat(32)));
});

test("bytes that are no key of the curve are drawn again", () => {
  const draws = [0, 255, 3];
  const keys = { ...testKeyAccess(), random: (length: number) => new Uint8Array(length).fill(draws.shift() ?? 0) };
  const [made] = run([key("a")], { keys }).records ?? [];
  assert.equal(made?.secret[0], 3);
});

test("everything that can be refused is refused before the first secret is drawn", () => {
  const records = run([key("Taken")]).records ?? [];
  const random = () => assert.fail("a secret was drawn");
  const keys = { ...testKeyAccess({ records }), random };
  const refusals: [PrivateKeyParams[], string, string][] = [
    [[key("x"), key("taken")], "invalid_argument", "private key label must be unique: `taken` exists"],
    [[key("x"), key("ｘ")], "invalid_argument", "private key label must be unique: `ｘ` exists"],
    [
      [key("x"), key("y", { privateKeyTags: ["hot", "lost"] })],
      "not_found",
      "unable to find private key tag lost in organization acme",
    ],
    [
      [key("x"), key("y", { addressFormats: ["ADDRESS_FORMAT_SOLANA"] })],
      "invalid_argument",
      "invalid curve: ADDRESS_FORMAT_SOLANA needs CURVE_ED25519",
    ],
  ];
  for (const [privateKeys, code, message] of refusals)
    assert.throws(() => run(privateKeys, { keys }), { code, message });
});

test("the name of a deleted key is free, and so is one that a renamed key has left", () => {
  const records = run([key("old"), key("gone")]).records ?? [];
  const facts = [
    { id: "new 0", kind: "privateKey", name: "renamed", updatedAtMs: 1 },
    { id: "new 1", kind: "privateKey", deleted: true, updatedAtMs: 1 },
  ] as const;
  const keys = testKeyAccess({ records, facts });
  assert.equal(run([key("old"), key("gone")], { keys }).records?.length, 2);
  assert.throws(() => run([key("Renamed")], { keys }), { code: "invalid_argument" });
});

test("the limit counts what is there and what is asked for: the last that fits is made, the next refused", () => {
  const limits = { privateKeysPerOrganization: 4 };
  assert.equal(run([key("a"), key("b")], { limits }).records?.length, 2);
  const full = { code: "resource_exhausted", message: /^organization has reached its limit of 4 private keys; / };
  assert.throws(() => run([key("a"), key("b"), key("c")], { limits }), full);
  const sub = { parentId: "parent", limits: { privateKeysPerSubOrganization: 2 } };
  assert.throws(() => run([key("a")], sub), { code: "resource_exhausted" });
});

test("tags that are left out are none, and the older form answers ids alone", () => {
  const { privateKeyTags: _, ...untagged } = key("a");
  const { result, changes } = run([untagged]);
  assert.deepEqual(changes, [put("keyCounts", { wallets: 7, privateKeys: 3 })]);
  const [v1] = createPrivateKeys.versions ?? [];
  assert.deepEqual(v1?.answer?.(result), { privateKeyIds: ["new 0"] });
});

test("records are of the moment and the organization", () => {
  const [made] = run([key("a")]).records ?? [];
  assert.deepEqual([made?.record.organizationId, made?.record.createdAtMs], ["acme", nowMs]);
});
