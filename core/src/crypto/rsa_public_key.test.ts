import assert from "node:assert/strict";
import { test } from "node:test";
import { rsaKeyPair } from "../../test/webauthn/authenticator.ts";
import { fromSpki, toSpki } from "./rsa_public_key.ts";

const numberOf = (text = "") => new Uint8Array(Buffer.from(text, "base64url"));

test("the numbers of a stored key come back from it, and every other spelling is refused", () => {
  for (const bits of [2048, 3072, 4096]) {
    const { n, e } = rsaKeyPair(bits).export({ format: "jwk" });
    const key = { modulus: numberOf(n), exponent: numberOf(e) };
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
