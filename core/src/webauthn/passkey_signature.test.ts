import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { es256Passkey, rs256Passkey, rsaKeyPair, sha256 } from "../../test/webauthn/authenticator.ts";
import { writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { fromCbor } from "../encoding/cbor.ts";
import { readCoseKey } from "./cose_key.ts";
import { algorithmOf, signedMessage, verifyPasskeySignature } from "./passkey_signature.ts";

const message = new TextEncoder().encode("message");
const made = [
  es256Passkey(new Uint8Array(32).fill(3), "example.com", new Uint8Array(16)),
  rs256Passkey(rsaKeyPair(2048), "example.com", new Uint8Array(16)),
  rs256Passkey(rsaKeyPair(3072), "example.com", new Uint8Array(16)),
].map((passkey) => ({
  passkey,
  ...readCoseKey(nodeCurves, fromCbor(writeCbor({ pairs: passkey.coseKey }))),
  signature: passkey.sign(message),
}));

test("a stored key tells its algorithm, and what is no stored key has none", () => {
  for (const { publicKey, algorithm } of made) assert.equal(algorithmOf(publicKey), algorithm);
  for (const other of [[], [2], [4, ...new Uint8Array(64)], [6, ...new Uint8Array(32)], new Uint8Array(33)]) {
    assert.equal(algorithmOf(Uint8Array.from(other)), undefined);
  }
});

test("a signature holds for its own key and message, and under no other key", () => {
  for (const one of made) {
    for (const other of made) {
      assert.equal(verifyPasskeySignature(nodeCurves, other.publicKey, message, one.signature), one === other);
    }
    const longer = Uint8Array.of(...message, 0);
    assert.equal(verifyPasskeySignature(nodeCurves, one.publicKey, longer, one.signature), false);
  }
});

test("the signed message is the authenticator's data and the hash of the client's", () => {
  const bytes = signedMessage(nodeCurves, Uint8Array.of(1, 2, 3), message);
  assert.deepEqual(bytes, Uint8Array.of(1, 2, 3, ...sha256(message)));
});

test("a fault of ours in the verification is not taken for a bad signature", () => {
  const broken = { ...nodeCurves, verifyP256: () => assert.fail("broken") };
  const [one] = made;
  assert.ok(one);
  assert.throws(() => verifyPasskeySignature(broken, one.publicKey, message, one.signature), /broken/);
});
