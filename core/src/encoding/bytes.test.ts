import assert from "node:assert/strict";
import { test } from "node:test";
import { sameBytes, sameSecretBytes } from "./bytes.ts";

test("bytes are the same when length and every byte are", () => {
  const bytes = Uint8Array.of(1, 2, 3);
  for (const isSame of [sameBytes, sameSecretBytes]) {
    assert.ok(isSame(bytes, Uint8Array.of(0, 1, 2, 3).subarray(1)));
    assert.ok(isSame(new Uint8Array(), new Uint8Array()));
    for (const other of [[1, 2], [1, 2, 3, 0], [1, 2, 4], [0, 2, 3], []]) {
      assert.ok(!isSame(bytes, Uint8Array.from(other)) && !isSame(Uint8Array.from(other), bytes));
    }
  }
});
