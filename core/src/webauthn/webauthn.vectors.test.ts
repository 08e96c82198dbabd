/** The ceremonies of the WebAuthn standard and of a public server library. ES256 registers and asserts; no vector has RS256. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { findVectors, type Vectors } from "../../test/vectors.ts";
import { base64url, sha256 } from "../../test/webauthn/authenticator.ts";
import { fromBase64url } from "../encoding/base64url.ts";
import { fromHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { parseAttestationObject } from "./attestation_object.ts";
import { parseAuthenticatorData } from "./authenticator_data.ts";
import { type Assertion, verifyAssertion } from "./verify_assertion.ts";
import { type RegisteredPasskey, verifyRegistration } from "./verify_registration.ts";

type Ceremony = Record<"challenge" | "clientDataJSON", string>;
type W3cVector = {
  id: string;
  rpId: string;
  origin: string;
  registration: Ceremony & Record<"attestationObject" | "credential_id" | "aaguid", string>;
  authentication: Ceremony & Record<"authenticatorData" | "signature", string>;
};

const fromHexToText = (hex: string) => base64url(fromHex(hex));
const anyOrigin = { allowedOrigins: undefined };

function register(
  { registration }: W3cVector,
  rule: { allowedOrigins: readonly string[] | undefined },
): RegisteredPasskey {
  const { challenge, clientDataJSON, attestationObject, credential_id } = registration;
  const attestation = {
    credentialId: fromHexToText(credential_id),
    clientDataJson: fromHexToText(clientDataJSON),
    attestationObject: fromHexToText(attestationObject),
    transports: [],
  };
  return verifyRegistration(nodeCurves, { challenge: fromHexToText(challenge), attestation }, rule);
}

test("W3C: ES256 ceremonies hold, and fail when anything of them is another's; other algorithms are refused", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { vectors: list } = vectors.json<{ vectors: W3cVector[] }>("webauthn/w3c-level3.json");
  const counts = { registered: 0, asserted: 0, unsupported: 0 };
  const formats: string[] = [];
  for (const vector of list) {
    const { authentication, registration, rpId, origin, id } = vector;
    if (!id.endsWith("-es256") && !id.endsWith("-crossOrigin")) {
      assert.throws(() => register(vector, anyOrigin), {
        code: "invalid_argument",
        message: /^invalid authenticator attestation: unsupported algorithm -(8|35|36|53): passkeys are made with -7/,
      });
      counts.unsupported += 2;
      // The assertion itself is well-formed; there is only no key that it could be verified with.
      parseAuthenticatorData(fromHex(authentication.authenticatorData));
      continue;
    }
    const passkey = register(vector, anyOrigin);
    // Its page is in a frame, and it has no `topOrigin`.
    if (id.endsWith("-crossOrigin")) {
      assert.throws(() => register(vector, { allowedOrigins: [origin] }), /in a frame, and nothing says of which page/);
    } else {
      assert.deepEqual(register(vector, { allowedOrigins: [origin] }), passkey);
    }
    assert.throws(() => register(vector, { allowedOrigins: ["https://example.com"] }), /not an allowed one/);
    assert.deepEqual(passkey.rpIdHash, sha256(rpId));
    assert.equal(passkey.aaguid.replaceAll("-", ""), registration.aaguid);
    formats.push(passkey.attestationType);
    counts.registered++;

    const assertion: Assertion = {
      authenticatorData: fromHex(authentication.authenticatorData),
      clientDataJson: fromHex(authentication.clientDataJSON),
      signature: fromHex(authentication.signature),
    };
    const expected = { ...passkey, challenge: fromHexToText(authentication.challenge), ...anyOrigin };
    const isVerified = (changes: Partial<typeof expected>) =>
      verifyAssertion(nodeCurves, assertion, { ...expected, ...changes }).verified;
    assert.ok(isVerified({}), id);
    for (const other of list.filter((one) => one !== vector)) {
      assert.ok(!isVerified({ challenge: fromHexToText(other.authentication.challenge) }), id);
    }
    assert.ok(!isVerified({ rpIdHash: sha256("example.com") }), id);
    counts.asserted++;
  }
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(counts, { registered: 6, asserted: 6, unsupported: 8 });
  assert.deepEqual(formats, ["none", "packed", "none", "packed", "android-key", "apple"]);
});

test("W3C: no assertion verifies with another vector's passkey", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { vectors: list } = vectors.json<{ vectors: W3cVector[] }>("webauthn/w3c-level3.json");
  const supported = list.filter(({ id }) => id.endsWith("-es256") || id.endsWith("-crossOrigin"));
  const passkeys = supported.map((vector) => register(vector, anyOrigin));
  for (const [i, { authentication }] of list.entries()) {
    const verified = passkeys.filter(
      (passkey) =>
        verifyAssertion(
          nodeCurves,
          {
            authenticatorData: fromHex(authentication.authenticatorData),
            clientDataJson: fromHex(authentication.clientDataJSON),
            signature: fromHex(authentication.signature),
          },
          { ...passkey, challenge: fromHexToText(authentication.challenge), ...anyOrigin },
        ).verified,
    );
    const own = passkeys[supported.indexOf(list[i] as W3cVector)];
    assert.deepEqual(verified, own === undefined ? [] : [own]);
  }
});

type Options = { challenge: string; rp?: { id: string }; rpId?: string };
type Response = { rawId: string; response: Record<"clientDataJSON" | "attestationObject", string> };

function registerResponse(vectors: Vectors, options: string, response: string): RegisteredPasskey {
  const { challenge } = vectors.json<Options>(options);
  const { rawId, response: parts } = vectors.json<Response>(response);
  const { clientDataJSON: clientDataJson, attestationObject } = parts;
  const attestation = { credentialId: rawId, clientDataJson, attestationObject, transports: [] };
  return verifyRegistration(nodeCurves, { challenge, attestation }, anyOrigin);
}

test("fido2-net-lib: its registrations hold, and its assertion as it was signed", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const pairs = [
    ["attestationOptionsATKey", "attestationResultsATKey", "packed"],
    ["attestationOptionsNone", "attestationResultsNone", "none"],
    ["attestationOptionsPacked", "attestationResultsPacked", "packed"],
    ["attestationAndroidKeyOptions", "attestationAndroidKeyResponse", "android-key"],
    ["attestationNoneOptions", "attestationNoneResponse", "none"],
  ] as const;
  for (const [options, response, format] of pairs) {
    const passkey = registerResponse(
      vectors,
      `webauthn/fido2-net-lib/${options}.json`,
      `webauthn/fido2-net-lib/${response}.json`,
    );
    assert.deepEqual([passkey.attestationType, passkey.algorithm], [format, "ES256"], response);
    assert.deepEqual(passkey.rpIdHash, sha256("localhost"));
  }
  for (const [[options], [, response]] of [
    [pairs[0], pairs[1]],
    [pairs[1], pairs[2]],
  ] as const) {
    assert.throws(
      () =>
        registerResponse(vectors, `webauthn/fido2-net-lib/${options}.json`, `webauthn/fido2-net-lib/${response}.json`),
      (error) => error instanceof Fault && /the challenge differs/.test(error.message),
    );
  }

  const passkey = registerResponse(
    vectors,
    "webauthn/fido2-net-lib/attestationNoneOptions.json",
    "webauthn/fido2-net-lib/attestationNoneResponse.json",
  );
  type AssertionResponse = { response: Record<"authenticatorData" | "clientDataJSON" | "signature", string> };
  const { challenge } = vectors.json<Options>("webauthn/fido2-net-lib/assertionNoneOptions.json");
  const { response } = vectors.json<AssertionResponse>("webauthn/fido2-net-lib/assertionNoneResponse.json");
  const verify = (signature: Uint8Array) =>
    verifyAssertion(
      nodeCurves,
      {
        authenticatorData: fromBase64url(response.authenticatorData),
        clientDataJson: fromBase64url(response.clientDataJSON),
        signature,
      },
      { ...passkey, challenge, ...anyOrigin },
    );
  // The file spells this one value in hex. Read as base64url it is no DER.
  assert.deepEqual(verify(fromHex(response.signature)), { verified: true, userVerified: false, counter: 52 });
  assert.equal(verify(fromBase64url(response.signature)).verified, false);
  t.diagnostic(`${pairs.length} registrations and 1 assertion, each with its options: 12 files`);
});

test("a cut or lengthened attestation object of every vector is refused with our own code", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { vectors: list } = vectors.json<{ vectors: W3cVector[] }>("webauthn/w3c-level3.json");
  for (const { registration } of list) {
    const bytes = fromHex(registration.attestationObject);
    parseAttestationObject(bytes);
    for (let length = 0; length < bytes.length; length++) {
      assert.throws(() => parseAttestationObject(bytes.subarray(0, length)), { code: "invalid_argument" });
    }
    assert.throws(() => parseAttestationObject(Uint8Array.of(...bytes, 0)), { code: "invalid_argument" });
  }
});
