import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { entropyLengths } from "@keystead/core/keys/mnemonic.ts";
import fc from "fast-check";
import { nodeSigning } from "../curves/node_signing.ts";
import { decodeWalletSecret, encodeWalletSecret, seedOfWallet } from "./wallet_secret.ts";

const lengths = Object.values(entropyLengths);
const entropies = fc
  .constantFrom(...lengths)
  .chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));

test("the bytes are a format, the length of the entropy, the entropy, and the passphrase to the end", () => {
  const entropy = new Uint8Array(16).fill(0xab);
  assert.equal(toHex(encodeWalletSecret({ entropy })), `0110${"ab".repeat(16)}`);
  const passphrase = new TextEncoder().encode("pä");
  assert.equal(toHex(encodeWalletSecret({ entropy, passphrase })), `0110${"ab".repeat(16)}70c3a4`);
});

test("what is encoded comes back; an empty passphrase is none", () => {
  fc.assert(
    fc.property(entropies, fc.uint8Array({ maxLength: 50 }), (entropy, passphrase) => {
      const decoded = decodeWalletSecret(encodeWalletSecret({ entropy, passphrase }));
      assert.deepEqual(decoded, passphrase.length === 0 ? { entropy } : { entropy, passphrase });
    }),
  );
});

test("the parts are copies: wiping one leaves the others", () => {
  const expected = { entropy: new Uint8Array(32).fill(7), passphrase: Uint8Array.of(9) };
  for (const from of [(bytes: Uint8Array) => bytes, (bytes: Uint8Array) => Buffer.from(bytes)]) {
    const entropy = Uint8Array.from(expected.entropy);
    const bytes = from(encodeWalletSecret({ ...expected, entropy }));
    const decoded = decodeWalletSecret(bytes);
    entropy.fill(0);
    seedOfWallet(nodeSigning.keys, "MNEMONIC_LANGUAGE_ENGLISH", bytes);
    assert.deepEqual(decodeWalletSecret(bytes), expected);
    bytes.fill(0);
    assert.deepEqual(decoded, expected);
  }
});

test("another format, a length no mnemonic has and bytes cut short are refused", () => {
  const bytes = encodeWalletSecret({ entropy: new Uint8Array(24) });
  const refused = { code: "failed_precondition" };
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decodeWalletSecret(bytes.subarray(0, length)), refused);
  }
  assert.throws(() => decodeWalletSecret(Uint8Array.of(2, ...bytes.subarray(1))), refused);
  for (let length = 0; length < 256; length++) {
    if (lengths.includes(length)) continue;
    assert.throws(() => decodeWalletSecret(Uint8Array.of(1, length, ...new Uint8Array(256))), refused);
  }
  assert.throws(() => encodeWalletSecret({ entropy: new Uint8Array(17) }), { code: "internal" });
});

test("the seed is BIP-39's: of the words in their language, under the passphrase", () => {
  const secret = encodeWalletSecret({ entropy: new Uint8Array(16), passphrase: new TextEncoder().encode("TREZOR") });
  const seed = seedOfWallet(nodeSigning.keys, "MNEMONIC_LANGUAGE_ENGLISH", secret);
  assert.match(toHex(seed), /^c55257c360c07c72029aebc1b53c05ed/);
  assert.notDeepEqual(seedOfWallet(nodeSigning.keys, "MNEMONIC_LANGUAGE_SPANISH", secret), seed);
});
