import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { KeyFacts } from "./entities.ts";
import { findInPage, type KeyFactsPage, keyFactsCodec, weightOfFacts, withFacts } from "./key_facts_page.ts";

const newId = () => `ab${randomUUID().slice(2)}`;
const exported = (id: string): KeyFacts => ({ id, kind: "privateKey", exported: true, updatedAtMs: 1 });
const deleted = (id: string): KeyFacts => ({ id, kind: "privateKey", deleted: true, updatedAtMs: 2 });

function readAgain(page: KeyFactsPage): KeyFactsPage {
  return keyFactsCodec.decode(JSON.parse(`{"format":2,${keyFactsCodec.encode(page)}`) as never);
}

test("a page has the same bytes whether it was read again in between or not, in whatever order keys go", () => {
  const [a = "", b = "", c = "", d = ""] = Array.from({ length: 4 }, newId);
  const batches = [[exported(a)], [deleted(b)], [exported(c)], [deleted(a)], [deleted(d), deleted(c)]];
  let [kept, read] = [keyFactsCodec.empty, keyFactsCodec.empty];
  for (const batch of batches) {
    kept = withFacts(kept, batch);
    read = readAgain(withFacts(read, batch));
    assert.equal(keyFactsCodec.encode(kept), keyFactsCodec.encode(read));
  }
  for (const id of [a, b, c, d]) assert.deepEqual(findInPage(kept, id), { id, deleted: true });
  const text = (id: string) => Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url");
  assert.equal(kept.gone, [c, a, b, d].map(text).join(""), "those that had facts come first, as ever");
});

test("among 3,000 deleted keys each is found, and no other, whatever their ids read like together", () => {
  const ids = Array.from({ length: 3_000 }, newId);
  const page = withFacts(keyFactsCodec.empty, ids.map(deleted));
  for (const id of ids) assert.deepEqual(findInPage(page, id), { id, deleted: true });
  for (let i = 0; i < 1_000; i++) assert.equal(findInPage(page, newId()), undefined);
  // Characters of two neighbours, read together, are an id that nobody deleted.
  const across = Buffer.from(page.gone.slice(11, 33), "base64url").toString("hex");
  const stranger = across.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  assert.equal(findInPage(page, stranger), undefined);
  assert.equal(findInPage(page, "no id at all"), undefined);
});

test("a deleted key does not come back, and its name is not kept", () => {
  const id = newId();
  const page = withFacts(withFacts(keyFactsCodec.empty, [{ ...exported(id), name: "Treasury" }]), [deleted(id)]);
  assert.equal(keyFactsCodec.encode(page).includes("Treasury"), false);
  assert.throws(() => withFacts(page, [exported(id)]), { code: "internal" });
  assert.throws(() => withFacts(keyFactsCodec.empty, [deleted(id), exported(id)]), { code: "internal" });
});

test("a page of format 1 has its deleted keys among the facts, and is written as format 2", () => {
  const [a = "", b = ""] = Array.from({ length: 2 }, newId);
  const page = keyFactsCodec.decode({ format: 1, facts: [deleted(a), exported(b)] } as never);
  assert.deepEqual(findInPage(page, a), { id: a, deleted: true });
  assert.deepEqual(findInPage(page, b), exported(b));
  assert.deepEqual(readAgain(page), page);
});

test("a page that was cut off is refused", () => {
  const { gone } = withFacts(keyFactsCodec.empty, [deleted(newId())]);
  assert.throws(() => keyFactsCodec.decode({ facts: [], gone: gone.slice(1) } as never), /cut off/);
});

test("what is kept at hand of deleted keys counts", () => {
  const page = withFacts(
    keyFactsCodec.empty,
    Array.from({ length: 1_000 }, () => deleted(newId())),
  );
  assert.ok(weightOfFacts(page) >= 22_000);
});
