import assert from "node:assert/strict";
import { test } from "node:test";
import type { Work } from "@keystead/core/work.ts";
import { sha256 } from "../../state/digest.ts";
import { emptyPages, encodePageOf, type Pages } from "../../state/pages.ts";
import { longPage, pageBytes } from "./page_bytes.ts";

function pagesOf(length: number): Pages {
  const tag = { tagId: "a", tagName: "x".repeat(length), createdAtMs: 0, updatedAtMs: 0 };
  return { ...emptyPages, privateKeyTags: { tags: new Map([["a", tag]]), keys: new Map() } };
}

function driven<T>(work: Work<T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = work.next();
    if (done === true) return { value: value as T, pauses };
  }
}

test("a long page is written, hashed once and given its digest in steps of their own", () => {
  const pages = pagesOf(longPage);
  let hashed = 0;
  const counting = (_: string, content: Uint8Array) => {
    hashed += 1;
    return sha256(content);
  };
  const content = encodePageOf(pages, "privateKeyTags");
  const expected = { name: "privateKeyTags", content, digest: sha256(content) };
  assert.deepEqual(driven(pageBytes(pages, "privateKeyTags", counting)), { value: expected, pauses: 2 });
  assert.deepEqual(driven(pageBytes({ ...pages }, "privateKeyTags", counting)), { value: expected, pauses: 1 });
  assert.equal(hashed, 1);
  const changed = pagesOf(longPage + 1);
  const { value } = driven(pageBytes(changed, "privateKeyTags", counting));
  assert.deepEqual(value.digest, sha256(encodePageOf(changed, "privateKeyTags")));
});

test("a short page takes one step", () => {
  const pages = pagesOf(100);
  const content = encodePageOf(pages, "privateKeyTags");
  const expected = { name: "privateKeyTags", content, digest: sha256(content) };
  assert.deepEqual(driven(pageBytes(pages, "privateKeyTags")), { value: expected, pauses: 0 });
});
