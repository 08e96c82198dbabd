import assert from "node:assert/strict";
import { test } from "node:test";
import type { Work } from "@keystead/core/work.ts";
import { sha256 } from "../../state/digest.ts";
import { emptyPages, encodePageOf, type Pages } from "../../state/pages.ts";
import { hashingPage, longPage, pageBytes, writingPage } from "./page_bytes.ts";

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

/** Counts what is hashed. */
function hasher() {
  const counted = { hashed: 0 };
  const hash = (_: string, content: Uint8Array) => {
    counted.hashed += 1;
    return sha256(content);
  };
  return { counted, hash };
}

const name = "privateKeyTags";
const bytesOf = (pages: Pages) => {
  const content = encodePageOf(pages, name);
  return { name, content, digest: sha256(content) };
};

test("a long page is written and hashed in steps of its own, and has its digest at hand from then on", () => {
  const pages = pagesOf(longPage);
  const { counted, hash } = hasher();
  assert.deepEqual(driven(writingPage(pages, name, hash)), { value: bytesOf(pages), pauses: 2 });
  assert.deepEqual(driven(hashingPage(pages, name)), { value: undefined, pauses: 0 });
  assert.deepEqual(pageBytes(pages, name), bytesOf(pages));
  // Whoever writes it hashes it: a stand-in may answer something else.
  driven(writingPage(pages, name, hash));
  assert.equal(counted.hashed, 2);
  const changed = pagesOf(longPage + 1);
  assert.deepEqual(driven(hashingPage(changed, name)), { value: undefined, pauses: 1 });
  assert.deepEqual(pageBytes(changed, name), bytesOf(changed));
});

test("whoever comes while a page was hashed and its decision pauses has nothing left to hash", () => {
  const pages = pagesOf(longPage);
  const first = hashingPage(pages, name);
  assert.equal(first.next().done, false);
  assert.deepEqual(driven(hashingPage(pages, name)), { value: undefined, pauses: 0 });
});

test("a short page takes one step", () => {
  const pages = pagesOf(100);
  assert.deepEqual(driven(writingPage(pages, name, hasher().hash)), { value: bytesOf(pages), pauses: 0 });
  assert.deepEqual(driven(hashingPage(pages, name)), { value: undefined, pauses: 0 });
  assert.deepEqual(pageBytes(pages, name), bytesOf(pages));
});
