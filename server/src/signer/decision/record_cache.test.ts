import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createAuthenticity } from "../../state/authenticity.ts";
import { encodeRecord, type KeyRecord } from "../../state/records.ts";
import { createRecordCache } from "./record_cache.ts";

const authenticity = createAuthenticity(new Uint8Array(randomBytes(32)));
const wallet: KeyRecord = {
  kind: "wallet",
  organizationId: "acme",
  walletId: "w",
  walletName: "Treasury",
  language: "MNEMONIC_LANGUAGE_ENGLISH",
  imported: false,
  createdAtMs: 1,
};
const marked = authenticity.mark("record", encodeRecord(wallet));

test("a record is read the same the first time and later, from whichever buffer it comes in", () => {
  const cache = createRecordCache(authenticity);
  assert.deepEqual(cache.read(marked), wallet);
  const padded = Uint8Array.of(9, ...marked, 9);
  assert.equal(cache.read(padded.subarray(1, -1)), cache.read(marked));
});

test("one changed bit is refused, also after the true bytes were read", () => {
  const cache = createRecordCache(authenticity);
  cache.read(marked);
  for (let bit = 0; bit < marked.length * 8; bit++) {
    const changed = Uint8Array.from(marked);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => cache.read(changed), { code: "failed_precondition" });
  }
  assert.throws(() => cache.read(marked.subarray(0, -1)), { code: "failed_precondition" });
});

test("what was refused is refused again, and what is another deployment's always", () => {
  const cache = createRecordCache(createAuthenticity(new Uint8Array(randomBytes(32))));
  for (let again = 0; again < 2; again++) assert.throws(() => cache.read(marked), { code: "failed_precondition" });
});

test("nobody can change what others will read", () => {
  const record = createRecordCache(authenticity).read(marked) as { walletName?: string };
  assert.throws(() => {
    record.walletName = "Mine";
  }, TypeError);
});
