import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { withLimits } from "../endpoints/limits.ts";
import { maxFrameLength } from "../frames/frame.ts";
import { applyChanges } from "../state/apply_changes.ts";
import { type PrivateKeyTag, put, remove } from "../state/entities.ts";
import { decodePage, emptyPages, encodePage, maxPagesLength, type Pages } from "../state/pages.ts";
import { putTags, type TaggedKey, tagsOf } from "./private_key_tags.ts";

function tag(tagId: string): PrivateKeyTag {
  return { tagId, tagName: `tag ${tagId}`, createdAtMs: 1_750_000_000_000, updatedAtMs: 1_750_000_000_000 };
}

function withTags(tagIds: readonly string[], keys: readonly TaggedKey[]): Pages {
  return applyChanges(emptyPages, [...tagIds.map((id) => put("privateKeyTag", tag(id))), ...putTags(keys, 1)]).pages;
}

test("a page says after any changes what a model says, and again when it is read back", () => {
  const step = fc.record({ key: fc.nat(5), tags: fc.uniqueArray(fc.nat(3)) });
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 8 }), (groups) => {
      let pages = withTags(["0", "1", "2", "3"], []);
      const model = new Map<string, string[]>();
      for (const group of groups) {
        const keys = group.map(({ key, tags }): [string, string[]] => [`key ${key}`, tags.map(String)]);
        pages = applyChanges(pages, putTags(keys, 1)).pages;
        for (const [id, tagIds] of keys) model.set(id, tagIds);
      }
      const read = decodePage("privateKeyTags", encodePage("privateKeyTags", pages.privateKeyTags));
      assert.deepEqual(read, pages.privateKeyTags);
      for (const [id, tagIds] of model) assert.deepEqual(tagsOf(read, id), tagIds);
      // Keys without tags leave nothing on the page.
      assert.equal(read.keys.size, [...model.values()].filter((tagIds) => tagIds.length > 0).length);
    }),
  );
});

test("a tag that is deleted while a key carries it is a mistake that is never written", () => {
  const pages = applyChanges(withTags(["a"], [["key", ["a"]]]), [remove("privateKeyTag", "a")]).pages;
  assert.throws(() => encodePage("privateKeyTags", pages.privateKeyTags), { code: "internal" });
});

test("every tag on every key fits into the pages, and taking one off all of them into a frame", () => {
  const { privateKeysPerOrganization, privateKeyTagsPerOrganization } = withLimits({});
  const tagIds = Array.from({ length: privateKeyTagsPerOrganization }, () => randomUUID() as string);
  const keys = Array.from({ length: privateKeysPerOrganization }, (): TaggedKey => [randomUUID(), tagIds]);
  const page = encodePage("privateKeyTags", withTags(tagIds, keys).privateKeyTags).length;
  assert.ok(page < maxPagesLength, `a page of ${page} bytes`);
  const stripped = keys.map(([id, own]): TaggedKey => [id, own.slice(1)]);
  const change = JSON.stringify(putTags(stripped, 1)).length;
  const result = JSON.stringify(keys.map(([id]) => id)).length;
  assert.ok(page + change + result < maxFrameLength, `${page} + ${change} + ${result} bytes`);
});
