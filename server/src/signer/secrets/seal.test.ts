import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { createKeyring, versionOfCurrent } from "./keyring.ts";
import { createSealer, seal, unseal, versionOf } from "./seal.ts";

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

test("during a rotation both keys open and the newer seals; afterwards the older opens nothing", () => {
  const next = new Uint8Array(randomBytes(32));
  const secret = new Uint8Array(32).fill(7);
  const before = createSealer(rootKey, 1);
  const both = createSealer(next, 2, rootKey);
  const after = createSealer(next, 2);
  const old = before.seal(context, secret);
  const fresh = both.seal(context, secret);
  assert.deepEqual([versionOf(old), versionOf(fresh), both.keyVersion], [1, 2, 2]);
  assert.deepEqual(new Uint8Array(both.unseal(context, old)), secret);
  assert.deepEqual(new Uint8Array(both.unseal(context, fresh)), secret);
  assert.deepEqual(new Uint8Array(after.unseal(context, fresh)), secret);
  assert.deepEqual(
    [both, after, before].map((sealer) => [sealer.hasKeyOf(old), sealer.hasKeyOf(fresh)]),
    [
      [true, true],
      [false, true],
      [true, false],
    ],
  );
  const refused = { code: "internal" };
  assert.throws(() => after.unseal(context, old), refused);
  assert.throws(() => before.unseal(context, fresh), refused);
  // A version is part of what the key is derived from: naming another does not help.
  const renamed = Uint8Array.from(old);
  new DataView(renamed.buffer).setUint32(1, 2);
  for (const sealer of [both, after]) assert.throws(() => sealer.unseal(context, renamed), refused);
  assert.throws(() => both.unseal({ ...context, recordId: "two" }, old), refused);
  assert.equal(both.hasKeyOf(new Uint8Array(3)), false);
});

test("the version of a root key shows in the keyring it opens", () => {
  const next = new Uint8Array(randomBytes(32));
  const keyring = createKeyring(rootKey, 4);
  assert.equal(versionOfCurrent({ current: rootKey }, keyring), 4);
  assert.equal(versionOfCurrent({ current: next, retiring: rootKey }, keyring), 5);
  assert.equal(versionOfCurrent({ current: rootKey, retiring: next }, keyring), 4);
  const foreign = { code: "failed_precondition", message: /^the root key does not belong to this database/ };
  assert.throws(() => versionOfCurrent({ current: next }, keyring), foreign);
  assert.throws(() => versionOfCurrent({ current: next, retiring: new Uint8Array(32) }, keyring), foreign);
  assert.throws(() => versionOfCurrent({ current: rootKey }, new Uint8Array(3)), foreign);
});
