import assert from "node:assert/strict";
import { test } from "node:test";
import type { KeptEvidenceKind, SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { toSpki } from "@keystead/core/crypto/rsa_public_key.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { type StampScheme, stampSchemes } from "@keystead/core/crypto/stamp.ts";
import { fromBase64url } from "@keystead/core/encoding/base64url.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { attestedFields, p256Key, tokenBase } from "../../../core/test/otp/bases.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { rsaKeyPair } from "../../../core/test/webauthn/authenticator.ts";
import { stampEvidence } from "../../test/evidence.ts";
import { apiKey, person } from "../../test/members.ts";
import { authenticator, impostorPasskey, origin, passkeyEvidence, testPasskey } from "../../test/passkeys.ts";
import { newKey } from "../../test/session_rig.ts";
import { identityEvidence } from "../../test/test_issuers.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { credentialLookup, describeCredential, lookupText } from "../state/credentials.ts";
import {
  ambiguousCredential,
  evidenceHeaders,
  isMadeBy,
  keptEvidence,
  keptOfVote,
  kindOfHeader,
  lookupOf,
  parseEvidence,
  shownEvidence,
  unknownCredential,
  unverifiedEvidence,
  verifyEvidence,
} from "./evidence.ts";

const secret = new Uint8Array(32).fill(5);
const body = Buffer.from('{"organizationId":"x"}');
const schemes = Object.keys(stampSchemes) as StampScheme[];
const stamped = (scheme: StampScheme) => stampEvidence(signStamp(secret, scheme, body));
const read = (scheme: StampScheme) => parseEvidence(nodeCurves, stamped(scheme));
const credential = { credentialId: "key" };
const noList = () => undefined;
const ann = person("ann", { authenticators: [authenticator(0)] });
const shown = (sent: SentEvidence) => shownEvidence(sent, ann);

test("each kind has a header of its own in lower case, and any other header carries none", () => {
  assert.equal(new Set(evidenceHeaders).size, evidenceHeaders.length);
  for (const header of evidenceHeaders) assert.equal(header, header.toLowerCase());
  assert.equal(kindOfHeader("x-stamp"), "apiKey");
  assert.equal(kindOfHeader("x-session"), "readOnlySession");
  assert.equal(kindOfHeader("x-stamp-webauthn"), "webauthn");
  assert.equal(kindOfHeader("x-stamp-attested"), "attested");
  assert.equal(kindOfHeader("x-client-version"), undefined);
});

test("evidence names its credential as state does, by curve and key and never by scheme", () => {
  for (const scheme of schemes) {
    const { publicKey } = shown(stamped(scheme));
    const { curve } = stampSchemes[scheme];
    const kept = { kind: "apiKey", entity: apiKey(0, { curve, publicKey }) } as const;
    assert.equal(lookupText(lookupOf(read(scheme))), credentialLookup(kept), scheme);
  }
});

test("evidence verifies for the bytes it was given for and for no others", () => {
  for (const scheme of schemes) {
    assert.equal(
      verifyEvidence({ curves: nodeCurves, credential, allowedOrigins: noList }, read(scheme), body),
      true,
      scheme,
    );
    const other = Buffer.from('{"organizationId":"y"}');
    assert.equal(
      verifyEvidence({ curves: nodeCurves, credential, allowedOrigins: noList }, read(scheme), other),
      false,
      scheme,
    );
  }
});

const random = seededRandom(3);
const attestedHeader = JSON.stringify(attestedFields(tokenBase(random, p256Key(random), true), body));

/** Evidence of each kind that is kept: a kind without any does not compile. */
const samples: { readonly [K in KeptEvidenceKind]: readonly SentEvidence<K>[] } = {
  apiKey: schemes.map(stamped),
  webauthn: [passkeyEvidence(testPasskey(0), body)],
  attested: [{ kind: "attested", value: attestedHeader }],
  attestedIdentity: [identityEvidence(newKey(), body, 1_800_000_000_000)],
  authProxy: [{ kind: "authProxy", value: "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11" }],
};

test("a stored vote tells by its scheme which kind of evidence it was given with", () => {
  for (const [kind, some] of Object.entries(samples)) {
    assert.ok(some.length > 0, kind);
    for (const sent of some) {
      assert.equal(sent.kind, kind);
      assert.equal(keptOfVote(nodeCurves, shown(sent)).kind, kind);
    }
  }
});

test("from what a vote shows, anyone reads the evidence that the leaf keeps", () => {
  for (const sent of Object.values(samples).flat()) {
    const { publicKey } = shown(sent);
    const kept = keptEvidence(nodeCurves, parseEvidence(nodeCurves, sent), publicKey);
    assert.deepEqual(keptOfVote(nodeCurves, shown(sent)), kept, sent.kind);
  }
});

const passkey = describeCredential({ kind: "authenticator", entity: authenticator(0) });
const verifyFor = (sent: SentEvidence, allowed?: readonly string[], bytes: Uint8Array = body) =>
  verifyEvidence(
    { curves: nodeCurves, credential: passkey, allowedOrigins: () => allowed },
    parseEvidence(nodeCurves, sent),
    bytes,
  );

test("a credential id is not a key: a stamp is made by the passkey whose key signed it, wherever it was used", () => {
  const made = (sent: SentEvidence, by = passkey) => isMadeBy(nodeCurves, parseEvidence(nodeCurves, sent), by);
  const other = describeCredential({ kind: "authenticator", entity: authenticator(1) });
  assert.equal(made(passkeyEvidence(testPasskey(0), body)), true);
  assert.equal(made(passkeyEvidence(testPasskey(0), body), other), false);
  assert.equal(made(passkeyEvidence(testPasskey(0), Buffer.from("other"), "https://evil.example")), true);
  assert.equal(made(passkeyEvidence(impostorPasskey(0, "eve"), body)), false);
  // An API key's stamp was found by its key.
  for (const scheme of schemes) assert.equal(isMadeBy(nodeCurves, read(scheme), credential), true);
});

test("a passkey's stamp names it as state does, and verifies for its body and its origins alone", () => {
  const sent = passkeyEvidence(testPasskey(0), body);
  const kept = { kind: "authenticator", entity: authenticator(0) } as const;
  assert.equal(lookupText(lookupOf(parseEvidence(nodeCurves, sent))), credentialLookup(kept));
  assert.equal(verifyFor(sent), true);
  assert.equal(verifyFor(sent, [origin]), true);
  assert.equal(verifyFor(sent, ["https://other.example.com"]), false);
  assert.equal(verifyFor(sent, undefined, Buffer.from("other")), false);
  assert.equal(verifyFor(passkeyEvidence(testPasskey(0), body, "https://evil.example")), false);
  const { credentialId } = authenticator(0);
  const stolen = JSON.parse(passkeyEvidence(testPasskey(1), body).value);
  assert.equal(verifyFor({ kind: "webauthn", value: JSON.stringify({ ...stolen, credentialId }) }), false);
});

test("a leaf keeps a passkey's stamp with the key in its own form, of either algorithm", () => {
  const { publicKey } = authenticator(0);
  const kept = keptEvidence(nodeCurves, parseEvidence(nodeCurves, passkeyEvidence(testPasskey(0), body)), publicKey);
  assert.ok(kept.kind === "webauthn" && kept.value.publicKey.kind === "ES256");
  assert.equal(toHex(nodeCurves.compressPoint("p256", kept.value.publicKey.value.point)), publicKey);
  const { n = "", e = "" } = rsaKeyPair().export({ format: "jwk" });
  const rsa = { modulus: fromBase64url(n), exponent: fromBase64url(e) };
  const rs256 = keptEvidence(
    nodeCurves,
    parseEvidence(nodeCurves, passkeyEvidence(testPasskey(0), body)),
    toHex(toSpki(rsa)),
  );
  assert.ok(rs256.kind === "webauthn");
  assert.deepEqual(rs256.value.publicKey, { kind: "RS256", value: rsa });
});

test("an unknown passkey is a 404 where its organization was named, and a 401 where it was to be found", () => {
  const evidence = parseEvidence(nodeCurves, passkeyEvidence(testPasskey(0), body));
  const searched = { organizationId: "acme", parentId: undefined };
  const named = unknownCredential(searched, evidence);
  assert.deepEqual(
    [named.code, named.message, named.errorCode],
    ["not_found", "webauthn authenticator not found in organization or parent organization", "CREDENTIAL_NOT_FOUND"],
  );
  const found = unknownCredential({ ...searched, inSubOrganizations: true }, evidence);
  assert.deepEqual(
    [found.code, found.message, found.errorCode],
    [
      "unauthenticated",
      "credential ID could not be found in organization or its parent organization",
      "CREDENTIAL_NOT_FOUND",
    ],
  );
  assert.equal(unverifiedEvidence(evidence).message, "could not verify WebAuthN signature");
  assert.equal(ambiguousCredential(evidence).message, "more than one suborg associated with a credential ID");
});
