import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { seal, unseal } from "./seal.ts";

const rootKey = new Uint8Array(randomBytes(32));
const context = { purpose: "wallets.seed", organizationId: "org-a", recordId: "one" };

test("a sealed secret opens for its own place and for no other", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (secret) => {
      const box = seal(rootKey, 1, context, secret);
      assert.deepEqual(new Uint8Array(unseal(rootKey, 1, context, box)), secret);
      const refused = { code: "internal" };
      assert.throws(() => unseal(rootKey, 1, { ...context, organizationId: "org-b" }, box), refused);
      assert.throws(() => unseal(rootKey, 1, { ...context, recordId: "two" }, box), refused);
      assert.throws(() => unseal(rootKey, 1, { ...context, purpose: "wallets.name" }, box), refused);
      assert.throws(() => unseal(rootKey, 2, context, box), refused);
      assert.throws(() => unseal(new Uint8Array(32), 1, context, box), refused);
      // Parts that would read alike if they were simply joined.
      assert.throws(
        () => unseal(rootKey, 1, { purpose: "wallets.seedorg-a", organizationId: "", recordId: "one" }, box),
        refused,
      );
    }),
    { numRuns: 50 },
  );
});

test("no bit of a sealed secret can be flipped, and none of its bytes be left off", () => {
  const box = seal(rootKey, 1, context, new Uint8Array(32).fill(7));
  for (let bit = 0; bit < box.length * 8; bit++) {
    const altered = Uint8Array.from(box);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => unseal(rootKey, 1, context, altered), { code: "internal" });
  }
  for (let length = 0; length < box.length; length++) {
    assert.throws(() => unseal(rootKey, 1, context, box.subarray(0, length)), { code: "internal" });
  }
});

test("two seals of one secret share nothing", () => {
  const secret = new Uint8Array(32).fill(7);
  assert.notDeepEqual(seal(rootKey, 1, context, secret), seal(rootKey, 1, context, secret));
});
