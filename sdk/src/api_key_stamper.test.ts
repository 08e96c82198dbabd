import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { parseStamp, type StampScheme, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import { testCurves } from "../../core/test/test_curves.ts";
import { createApiKeyStamper, generateApiKey } from "./api_key_stamper.ts";

const privateKey = new Uint8Array(32).fill(7);
const hex = Buffer.from(privateKey).toString("hex");
const body = new TextEncoder().encode('{"organizationId":"org-1"}');

/** The public key that core itself writes into a stamp. */
function publicKeyOf(scheme: StampScheme): string {
  return parseStamp(testCurves, signStamp(privateKey, scheme, body)).publicKey;
}

const curves: [ApiKeyCurve, StampScheme][] = [
  ["API_KEY_CURVE_P256", "SIGNATURE_SCHEME_TK_API_P256"],
  ["API_KEY_CURVE_SECP256K1", "SIGNATURE_SCHEME_TK_API_SECP256K1"],
  ["API_KEY_CURVE_ED25519", "SIGNATURE_SCHEME_TK_API_ED25519"],
];

for (const [curve, scheme] of curves) {
  test(`a stamp of an ${curve} key verifies, from hex and from bytes`, async () => {
    for (const apiPrivateKey of [hex, privateKey]) {
      const stamper = createApiKeyStamper({ apiPublicKey: publicKeyOf(scheme), apiPrivateKey, curve });
      const { name, value } = await stamper.stamp(body);
      assert.equal(name, "X-Stamp");
      const stamp = parseStamp(testCurves, value);
      assert.equal(stamp.scheme, scheme);
      assert.equal(verifyStamp(testCurves, stamp, body), true);
    }
  });
}

test("the stamper keeps its own copy of the private key", async () => {
  const apiPrivateKey = Uint8Array.from(privateKey);
  const stamper = createApiKeyStamper({ apiPublicKey: publicKeyOf("SIGNATURE_SCHEME_TK_API_P256"), apiPrivateKey });
  apiPrivateKey.fill(0);
  assert.equal(verifyStamp(testCurves, parseStamp(testCurves, (await stamper.stamp(body)).value), body), true);
});

test("a private key of another public key, or none at all, is refused without being repeated", () => {
  const apiPublicKey = publicKeyOf("SIGNATURE_SCHEME_TK_API_P256");
  const refusals: [string, RegExp][] = [
    ["08".repeat(32), /does not belong/],
    ["00".repeat(32), /not a key of its curve/],
    ["ff".repeat(32), /not a key of its curve/],
    ["07".repeat(31), /31 bytes instead of 32/],
    ["zz".repeat(32), /not hex/],
  ];
  for (const [apiPrivateKey, message] of refusals) {
    assert.throws(
      () => createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
      (error) => {
        assert.ok(error instanceof Error);
        assert.match(error.message, message);
        assert.ok(!JSON.stringify([error.message, error.cause]).includes(apiPrivateKey));
        return true;
      },
    );
  }
  // As a program in JavaScript can call it, with what it read from a file that has no key.
  const nothing: Partial<Parameters<typeof createApiKeyStamper>[0]> = {};
  assert.throws(
    () => createApiKeyStamper(nothing as Parameters<typeof createApiKeyStamper>[0]),
    /there is no API private key/,
  );
});

test("a generated key stamps on its curve, and no two are alike", async () => {
  for (const curve of ["API_KEY_CURVE_P256", "API_KEY_CURVE_SECP256K1", "API_KEY_CURVE_ED25519"] as const) {
    const key = generateApiKey(curve);
    const body = new TextEncoder().encode("{}");
    const { value } = await createApiKeyStamper(key).stamp(body);
    const stamp = parseStamp(testCurves, value);
    assert.equal(stamp.publicKey, key.apiPublicKey);
    assert.ok(verifyStamp(testCurves, stamp, body));
    assert.notEqual(generateApiKey(curve).apiPrivateKey, key.apiPrivateKey);
  }
});
