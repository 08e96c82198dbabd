import assert from "node:assert/strict";
import { test } from "node:test";
import { activityContext, nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { after, organization } from "../../test/members.ts";
import { putTags } from "../rules/private_key_tags.ts";
import { newPrivateKeyRecord } from "../rules/private_keys.ts";
import { type KeyFacts, put } from "../state/entities.ts";
import { deletePrivateKeys } from "./delete_private_keys.ts";

const [a, b, c] = ["0a", "0b", "0c"].map((digits) => `${digits}000000-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];

const records = [a, b, c].map((privateKeyId, index) => {
  const context = activityContext({ nowMs: 1, newId: () => privateKeyId });
  const names = { organizationId: "acme", privateKeyName: privateKeyId };
  const rest = { curve: "CURVE_P256", addressFormats: [], imported: false } as const;
  return newPrivateKeyRecord(context, { ...names, ...rest }, new Uint8Array(32).fill(index + 1));
});
const exported: KeyFacts = { id: a, kind: "privateKey", name: "renamed", exported: true, updatedAtMs: 1 };

const acme = after(organization(), {
  changes: [
    put("keyCounts", { wallets: 1, privateKeys: 3 }),
    put("privateKeyTag", { tagId: "hot", tagName: "hot", createdAtMs: 1, updatedAtMs: 1 }),
    ...putTags(
      [
        [a, ["hot"]],
        [b, ["hot"]],
      ],
      1,
    ),
  ],
});

function run(privateKeyIds: string[], deleteWithoutExport?: boolean | null, facts: KeyFacts[] = [exported]) {
  const params = { privateKeyIds, ...(deleteWithoutExport !== undefined && { deleteWithoutExport }) };
  return runActivity(deletePrivateKeys, acme, params, { keys: testKeyAccess({ records, facts }) });
}

test("an exported key is deleted: nothing but that stays for ever, its tags and its count go", () => {
  const outcome = run([a]);
  assert.deepEqual(outcome.result, { privateKeyIds: [a] });
  assert.deepEqual(
    outcome.changes[0],
    put("keyFacts", { id: a, kind: "privateKey", deleted: true, updatedAtMs: nowMs }),
  );
  const { keyCounts, privateKeyTags } = after(acme, outcome);
  assert.deepEqual(keyCounts, { wallets: 1, privateKeys: 2 });
  assert.deepEqual([...privateKeyTags.keys], [[b, ["hot"]]]);
});

test("one that was not exported keeps all of them, unless that is waived", () => {
  const refusal = {
    code: "invalid_argument",
    message: `private key has not been exported: \`${b}\`; export it first, or set deleteWithoutExport`,
  };
  for (const waived of [undefined, null, false]) assert.throws(() => run([a, b], waived), refusal);
  assert.deepEqual(run([b, a, b], true).result, { privateKeyIds: [b, a] });
  assert.deepEqual(after(acme, run([a, b, c], true)).keyCounts, { wallets: 1, privateKeys: 0 });
});

test("an unknown key is named, and a deleted one is unknown", () => {
  const missing = (id: string) => ({
    code: "not_found",
    message: `unable to find private key ${id} in organization acme`,
  });
  assert.throws(() => run([a, "z"], true), missing("z"));
  assert.throws(() => run([a], true, [{ ...exported, deleted: true }]), missing(a));
});

test("the gateway is asked for each key by its id", () => {
  assert.deepEqual(deletePrivateKeys.records?.({ privateKeyIds: [a] }), [{ by: "id", kind: "privateKey", id: a }]);
});
