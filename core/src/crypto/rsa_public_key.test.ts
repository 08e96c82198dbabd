import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { rsaKeyPair } from "../../test/webauthn/authenticator.ts";
import { checkRsaPublicKey, fromSpki, toSpki } from "./rsa_public_key.ts";

const bytesOf = (text = "") => new Uint8Array(Buffer.from(text, "base64url"));

test("a key is written as OpenSSL writes it, and OpenSSL reads the same numbers", () => {
  for (const modulusLength of [2048, 2056, 3072]) {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength });
    const { n, e } = publicKey.export({ format: "jwk" });
    const key = { modulus: bytesOf(n), exponent: bytesOf(e) };
    checkRsaPublicKey(key);
    assert.deepEqual(toSpki(key), new Uint8Array(publicKey.export({ format: "der", type: "spki" })));
  }
});

test("numbers with and without their top bit set, of every length of a DER length, are written", () => {
  for (const [modulus, exponent] of [
    [new Uint8Array(256).fill(0x7f), Uint8Array.of(3)],
    [new Uint8Array(100).fill(0xff), Uint8Array.of(0xff, 0xff)],
    [new Uint8Array(200).fill(0x81), Uint8Array.of(1, 0, 1)],
    [new Uint8Array(512).fill(0xff), Uint8Array.of(0xff, 0xff, 0xff, 0xff)],
  ] as const) {
    const read = createPublicKey({ key: Buffer.from(toSpki({ modulus, exponent })), format: "der", type: "spki" });
    const { n, e } = read.export({ format: "jwk" });
    assert.deepEqual([bytesOf(n), bytesOf(e)], [modulus, exponent]);
  }
});

test("the numbers of a stored key come back from it, and every other spelling is refused", () => {
  for (const bits of [2048, 3072, 4096]) {
    const { n, e } = rsaKeyPair(bits).export({ format: "jwk" });
    const key = { modulus: bytesOf(n), exponent: bytesOf(e) };
    const spki = toSpki(key);
    assert.deepEqual(fromSpki(spki), key);
    const malformed = { code: "invalid_argument", message: "malformed public key: not an RSA key as it is stored" };
    for (const at of [0, 1, 4, 19, 24, 28, 29, 31]) {
      const bent = spki.slice();
      bent[at] = (bent[at] ?? 0) ^ 0x80;
      assert.throws(() => fromSpki(bent), malformed, `${bits} ${at}`);
    }
    assert.throws(() => fromSpki(spki.subarray(1)), malformed);
    assert.throws(() => fromSpki(Uint8Array.of(...spki, 0)), malformed);
  }
  assert.throws(() => fromSpki(new Uint8Array()), { code: "invalid_argument" });
});
