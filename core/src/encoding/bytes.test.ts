import assert from "node:assert/strict";
import { test } from "node:test";
import { sameBytes } from "./bytes.ts";

test("bytes are the same when length and every byte are", () => {
  const bytes = Uint8Array.of(1, 2, 3);
  assert.ok(sameBytes(bytes, Uint8Array.of(0, 1, 2, 3).subarray(1)));
  assert.ok(sameBytes(new Uint8Array(), new Uint8Array()));
  for (const other of [[1, 2], [1, 2, 3, 0], [1, 2, 4], [0, 2, 3], []]) {
    assert.ok(!sameBytes(bytes, Uint8Array.from(other)) && !sameBytes(Uint8Array.from(other), bytes));
  }
});
