import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePagination } from "./pagination.ts";

test("a page has ten entries unless a number from 1 to 100 is asked for", () => {
  for (const open of [undefined, null, {}, { limit: null, before: null, after: null }]) {
    assert.deepEqual(parsePagination(open), { limit: 10, before: undefined, after: undefined });
  }
  for (const limit of [1, 9, 10, 99, 100]) assert.equal(parsePagination({ limit: String(limit) }).limit, limit);
  assert.deepEqual(parsePagination({ before: "b", after: "a" }), { limit: 10, before: "b", after: "a" });
});

test("any other limit is refused", () => {
  for (const limit of ["", "0", "00", "01", "101", "1000", "-1", "1.5", "1e1", " 5", "5\n", "ten", "٣"]) {
    assert.throws(() => parsePagination({ limit }), { code: "invalid_argument", message: /from 1 to 100/ });
  }
});
