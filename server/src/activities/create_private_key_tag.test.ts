/** The three activities on private key tags. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { activityContext, type ContextChanges, nowMs, runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { after, organization } from "../../test/members.ts";
import { putTags, tagsOf } from "../rules/private_key_tags.ts";
import { newPrivateKeyRecord } from "../rules/private_keys.ts";
import { put } from "../state/entities.ts";
import { createPrivateKeyTag } from "./create_private_key_tag.ts";
import { deletePrivateKeyTags } from "./delete_private_key_tags.ts";
import { updatePrivateKeyTag } from "./update_private_key_tag.ts";

const records = ["a", "b", "c", "gone"].map((privateKeyId, index) => {
  const context = activityContext({ nowMs: 1, newId: () => privateKeyId });
  const names = { organizationId: "acme", privateKeyName: privateKeyId };
  const rest = { curve: "CURVE_P256", addressFormats: [], imported: false } as const;
  return newPrivateKeyRecord(context, { ...names, ...rest }, new Uint8Array(32).fill(index + 1));
});
const keys = testKeyAccess({ records, facts: [{ id: "gone", kind: "privateKey", deleted: true, updatedAtMs: 1 }] });

const hot = { tagId: "hot", tagName: "Hot", createdAtMs: 1, updatedAtMs: 1 };
const cold = { ...hot, tagId: "cold", tagName: "Cold" };
const acme = after(organization(), {
  changes: [
    put("privateKeyTag", hot),
    put("privateKeyTag", cold),
    ...putTags(
      [
        ["a", ["hot"]],
        ["b", ["cold", "hot"]],
      ],
      1,
    ),
  ],
});

const missing = (id: string) => ({
  code: "not_found",
  message: `unable to find private key ${id} in organization acme`,
});

function create(privateKeyTagName: string, privateKeyIds: string[], context: ContextChanges = {}) {
  return runActivity(createPrivateKeyTag, acme, { privateKeyTagName, privateKeyIds }, { keys, ...context });
}

function update(privateKeyTagId: string, added: string[], removed: string[], newPrivateKeyTagName?: string | null) {
  const lists = { addPrivateKeyIds: added, removePrivateKeyIds: removed };
  const params = { privateKeyTagId, ...lists, ...(newPrivateKeyTagName !== undefined && { newPrivateKeyTagName }) };
  return runActivity(updatePrivateKeyTag, acme, params, { keys });
}

function tagsAfter(outcome: Parameters<typeof after>[1]) {
  const { privateKeyTags } = after(acme, outcome);
  return ["a", "b", "c"].map((id) => tagsOf(privateKeyTags, id));
}

test("a new tag is put on each key it names, once, behind the tags that are there", () => {
  const outcome = create("new", ["c", "b", "c"]);
  assert.deepEqual(outcome.result, { privateKeyTagId: "new 0", privateKeyIds: ["c", "b"] });
  assert.deepEqual(
    outcome.changes[0],
    put("privateKeyTag", { tagId: "new 0", tagName: "new", createdAtMs: nowMs, updatedAtMs: nowMs }),
  );
  assert.deepEqual(tagsAfter(outcome), [["hot"], ["cold", "hot", "new 0"], ["new 0"]]);
  assert.equal(create("alone", []).changes.length, 1);
});

test("a tag is not made for keys that are unknown or deleted", () => {
  assert.throws(() => create("new", ["a", "z"]), missing("z"));
  assert.throws(() => create("new", ["gone"]), missing("gone"));
});

test("tag names are unique, whatever their case or form", () => {
  const refusal = { code: "invalid_argument", message: "private key tag label must be unique: `Hot` exists" };
  for (const name of ["Hot", "HOT", "ｈot"]) {
    assert.throws(() => create(name, []), refusal);
    assert.throws(() => update("cold", [], [], name), refusal);
  }
  assert.equal(update("hot", [], [], "HOT").changes.length, 1);
});

test("the limit is the one configured, a sub-organization's its own", () => {
  const full = (limit: number) => ({
    code: "resource_exhausted",
    message: new RegExp(`^organization has reached its limit of ${limit} private key tags; `),
  });
  const limits = { privateKeyTagsPerOrganization: 3, privateKeyTagsPerSubOrganization: 2 };
  assert.equal(create("third", [], { limits }).changes.length, 1);
  assert.throws(() => create("third", [], { limits, parentId: "parent" }), full(2));
  assert.throws(() => create("third", [], { limits: { privateKeyTagsPerOrganization: 2 } }), full(2));
});

test("an update renames, adds and removes at once; what is named twice ends up without the tag", () => {
  const outcome = update("hot", ["a", "c", "b"], ["b"], "Warm");
  assert.deepEqual(outcome.result, { privateKeyTagId: "hot" });
  assert.deepEqual(outcome.changes[0], put("privateKeyTag", { ...hot, tagName: "Warm", updatedAtMs: nowMs }));
  assert.deepEqual(tagsAfter(outcome), [["hot"], ["cold"], ["hot"]]);
});

test("an update that changes no key leaves the keys as they are", () => {
  for (const name of [undefined, null]) {
    assert.deepEqual(update("hot", ["a"], ["c"], name).changes, [put("privateKeyTag", { ...hot, updatedAtMs: nowMs })]);
  }
});

test("an update names what is unknown, tag or key, on either list", () => {
  assert.throws(() => update("lost", [], []), {
    code: "not_found",
    message: "unable to find private key tag lost in organization acme",
  });
  assert.throws(() => update("hot", ["a", "z"], []), missing("z"));
  assert.throws(() => update("hot", [], ["gone"]), missing("gone"));
});

test("the gateway is asked for each key once", () => {
  const params = { privateKeyTagId: "hot", addPrivateKeyIds: ["a", "b"], removePrivateKeyIds: ["b"] };
  assert.deepEqual(
    updatePrivateKeyTag.records?.(params).map((wish) => wish.by === "id" && wish.id),
    ["a", "b"],
  );
});

test("a deleted tag comes off every key, though the request names none and no record was brought", () => {
  const remove = (...privateKeyTagIds: string[]) => runActivity(deletePrivateKeyTags, acme, { privateKeyTagIds });
  const outcome = remove("hot", "hot");
  assert.deepEqual(outcome.result, { privateKeyTagIds: ["hot"], privateKeyIds: ["a", "b"] });
  assert.deepEqual(tagsAfter(outcome), [[], ["cold"], []]);
  assert.deepEqual([...after(acme, outcome).privateKeyTags.tags.keys()], ["cold"]);
  assert.deepEqual(tagsAfter(remove("cold", "hot")), [[], [], []]);
  assert.throws(() => remove("hot", "lost"), { code: "not_found" });
});
