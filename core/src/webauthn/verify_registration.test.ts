import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import {
  attestationNode,
  attestedData,
  authenticatorData,
  base64url,
  clientDataJson,
  es256Passkey,
  flags,
  type RegistrationParts,
  registration,
  registrationParts,
  rs256Passkey,
  rsaKeyPair,
  selfAttested,
  sha256,
  type TestPasskey,
} from "../../test/webauthn/authenticator.ts";
import { type CborNode, writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { nobleCurves } from "../crypto/noble_curves.ts";
import { toHex } from "../encoding/hex.ts";
import { attestationFormats } from "./attestation_object.ts";
import { transports } from "./transports.ts";
import { type Attestation, type Registration, verifyRegistration } from "./verify_registration.ts";

const passkey = es256Passkey(new Uint8Array(32).fill(3), "example.com", new Uint8Array(20).fill(9));
const rsaPasskey = rs256Passkey(rsaKeyPair(), "example.com", new Uint8Array(32).fill(8));
const anyOrigin = { allowedOrigins: undefined };
const verify = (sent: Registration, rule: { allowedOrigins: readonly string[] | undefined } = anyOrigin) =>
  verifyRegistration(nodeCurves, sent, rule);

/** A registration with some of its parts changed. */
function changed(
  change: (parts: RegistrationParts) => Partial<RegistrationParts>,
  by: TestPasskey = passkey,
): Registration {
  const parts = registrationParts(by);
  return registration(by, { ...parts, ...change(parts) });
}

/** A registration with some of its texts changed. */
function sentAs(texts: Partial<Attestation> & { challenge?: string }): Registration {
  const { challenge, attestation } = registration(passkey);
  const { challenge: other, ...rest } = texts;
  assert.ok(attestation);
  return { challenge: other ?? challenge, attestation: { ...attestation, ...rest } };
}

function assertInvalid(sent: Registration, why: RegExp | string): void {
  const message =
    typeof why === "string"
      ? `invalid authenticator attestation: ${why}`
      : new RegExp(`^invalid authenticator attestation: .*${why.source}`);
  assert.throws(() => verify(sent), { name: "Fault", code: "invalid_argument", message });
}

test("what is kept of a passkey is what its authenticator said", () => {
  const aaguid = Uint8Array.fromHex("00112233445566778899aabbccddeeff");
  const sent = changed(({ authenticator }) => ({
    authenticator: {
      ...authenticator,
      flags: flags.up | flags.uv | flags.be | flags.bs | flags.at,
      counter: 77,
      attested: attestedData(passkey, aaguid),
    },
  }));
  const { publicKey, rpIdHash, ...rest } = verify(sent);
  assert.deepEqual(rest, {
    credentialId: base64url(passkey.credentialId),
    algorithm: "ES256",
    aaguid: "00112233-4455-6677-8899-aabbccddeeff",
    attestationType: "none",
    transports: ["AUTHENTICATOR_TRANSPORT_INTERNAL"],
    counter: 77,
    userVerified: true,
    backupEligible: true,
    backedUp: true,
  });
  assert.match(toHex(publicKey), /^0[23][0-9a-f]{64}$/);
  assert.deepEqual(rpIdHash, sha256("example.com"));
});

test("noble gives the same result as OpenSSL", () => {
  for (const sent of [registration(passkey), registration(rsaPasskey)]) {
    assert.deepEqual(
      verifyRegistration({ ...nobleCurves, verifyRs256: nodeCurves.verifyRs256 }, sent, anyOrigin),
      verify(sent),
    );
  }
});

test("what is kept does not hold on to the request's bytes", () => {
  const { publicKey, rpIdHash } = verify(registration(passkey));
  assert.deepEqual([publicKey.buffer.byteLength <= 65, rpIdHash.buffer.byteLength], [true, 32]);
});

test("user verification is not required, user presence is", () => {
  const withFlags = (bits: number) =>
    changed(({ authenticator }) => ({ authenticator: { ...authenticator, flags: bits } }));
  assert.equal(verify(withFlags(flags.up | flags.at)).userVerified, false);
  assertInvalid(withFlags(flags.uv | flags.at), "the user was not present");
  assertInvalid(
    changed(({ authenticator }) => ({
      authenticator: { ...authenticator, flags: flags.up, attested: new Uint8Array() },
    })),
    "no credential in the authenticator data",
  );
});

test("the credential id is taken raw or as a CBOR byte string, and returned raw", () => {
  const raw = base64url(passkey.credentialId);
  const forms = [
    raw,
    Buffer.from(passkey.credentialId).toString("base64"),
    base64url(writeCbor(passkey.credentialId)),
    Buffer.from(writeCbor(passkey.credentialId)).toString("base64"),
  ];
  for (const credentialId of forms) assert.equal(verify(sentAs({ credentialId })).credentialId, raw);
  for (const other of [
    new Uint8Array(20).fill(8),
    passkey.credentialId.subarray(1),
    new Uint8Array(),
    writeCbor([passkey.credentialId]),
    writeCbor(writeCbor(passkey.credentialId)),
    Uint8Array.of(...writeCbor(passkey.credentialId), 0),
    writeCbor(passkey.credentialId, { at: 0, how: "long" }),
  ]) {
    assertInvalid(sentAs({ credentialId: base64url(other) }), "the credential id differs");
  }
  assertInvalid(sentAs({ credentialId: "not base64url!" }), /malformed base64url/);
});

test("a raw id that reads as CBOR of another id is still the raw one", () => {
  const inner = new Uint8Array(19).fill(1);
  const credentialId = writeCbor(inner);
  const twin = es256Passkey(new Uint8Array(32).fill(4), "example.com", credentialId);
  assert.equal(verify(registration(twin)).credentialId, base64url(credentialId));
});

test("the challenge is compared as text, up to padding and alphabet", () => {
  const hexDigits = toHex(sha256("anything"));
  const sent = changed(() => ({
    challenge: hexDigits,
    clientDataJson: clientDataJson("webauthn.create", hexDigits, "https://example.com"),
  }));
  assert.equal(verify(sent).algorithm, "ES256");
  const { challenge } = registration(passkey);
  assert.ok(verify(sentAs({ challenge: `${challenge}=` })));
  for (const other of [challenge.slice(1), `${challenge}A`, "", challenge.toUpperCase()]) {
    assertInvalid(sentAs({ challenge: other }), "the challenge differs");
  }
  assertInvalid(
    changed(() => ({
      challenge: "",
      clientDataJson: clientDataJson("webauthn.create", "", "https://example.com"),
    })),
    "the challenge differs",
  );
});

test("type and origin are the ones of a registration here", () => {
  const { challenge } = registration(passkey);
  const from = (type: string, origin: string) =>
    changed(() => ({ clientDataJson: clientDataJson(type, challenge, origin) }));
  assertInvalid(from("webauthn.get", "https://example.com"), "the type is not webauthn.create");
  assertInvalid(from("", "https://example.com"), "the type is not webauthn.create");
  assertInvalid(from("webauthn.create", "http://example.com"), /neither https nor localhost/);
  assertInvalid(from("webauthn.create", "https://example.org"), /outside the passkey's domain/);
  assert.ok(verify(from("webauthn.create", "https://www.example.com")));
  assert.ok(verify(from("webauthn.create", "android:apk-key-hash:abc")));
  const rule = { allowedOrigins: ["https://wallet.example"] };
  assert.ok(verify(from("webauthn.create", "https://wallet.example"), rule));
  assert.throws(() => verify(registration(passkey), rule), {
    message: "invalid authenticator attestation: the origin `https://example.com` is not an allowed one",
  });
});

test("a page in a frame registers passkeys where the page around it is allowed, too", () => {
  const { challenge } = registration(passkey);
  const framed = (more: object) =>
    changed(() => ({ clientDataJson: clientDataJson("webauthn.create", challenge, "https://example.com", more) }));
  const evil = framed({ crossOrigin: true, topOrigin: "https://evil.example" });
  assert.ok(verify(evil));
  const rule = { allowedOrigins: ["https://example.com", "https://shop.example"] };
  assert.ok(verify(framed({ crossOrigin: true, topOrigin: "https://shop.example" }), rule));
  const invalid = "invalid authenticator attestation";
  assert.throws(() => verify(evil, rule), {
    message: `${invalid}: the page is in a frame of \`https://evil.example\`, which is not an allowed origin`,
  });
  assert.throws(() => verify(framed({ crossOrigin: true }), rule), {
    message: `${invalid}: the page is in a frame, and nothing says of which page`,
  });
});

test("the five transports are taken, each once, and no other", () => {
  assert.deepEqual(verify(sentAs({ transports: [] })).transports, []);
  assert.deepEqual(verify(sentAs({ transports: [...transports, ...transports] })).transports, transports);
  assertInvalid(sentAs({ transports: ["usb"] }), "`usb` is not a transport");
  assertInvalid(sentAs({ transports: ["toString"] }), "`toString` is not a transport");
});

test("every listed format is taken with a vendor's statement, which is not verified, and no other format", () => {
  const vendor: CborNode = {
    pairs: [
      ["alg", -65535],
      ["sig", new Uint8Array(70)],
      ["x5c", [new Uint8Array(500)]],
    ],
  };
  for (const format of attestationFormats.filter((name) => name !== "none")) {
    assert.equal(verify(changed(() => ({ format, statement: () => vendor }))).attestationType, format);
  }
  for (const format of ["", "None", "compound", "constructor"]) {
    assertInvalid(
      changed(() => ({ format })),
      /the format is not one of none, packed/,
    );
  }
  assertInvalid(
    changed(() => ({ statement: () => vendor })),
    "a statement where there should be none",
  );
});

test("self-attestation is verified, with ES256 and with RS256", () => {
  for (const by of [passkey, rsaPasskey]) {
    const parts = selfAttested(by, registrationParts(by));
    const { attestationType, algorithm } = verify(registration(by, parts));
    assert.deepEqual([attestationType, algorithm], ["packed", by.algorithm]);
    const bent = (statement: CborNode) => registration(by, { ...parts, statement: () => statement });
    const [authData, clientData] = [authenticatorData(parts.authenticator), parts.clientDataJson];
    const { pairs } = parts.statement(authData, clientData) as { pairs: [[string, number], [string, Uint8Array]] };
    const [[, alg], [, sig]] = pairs;
    const wrong = sig.map((byte, i) => (i === sig.length - 1 ? byte ^ 1 : byte));
    const isNotVerified = "the self-attestation does not verify";
    assertInvalid(
      bent({
        pairs: [
          ["alg", alg],
          ["sig", wrong],
        ],
      }),
      isNotVerified,
    );
    assertInvalid(
      bent({
        pairs: [
          ["alg", alg],
          ["sig", new Uint8Array()],
        ],
      }),
      isNotVerified,
    );
    assertInvalid(
      bent({
        pairs: [
          ["alg", alg],
          ["sig", "text"],
        ],
      }),
      isNotVerified,
    );
    assertInvalid(bent({ pairs: [["alg", alg]] }), isNotVerified);
    assertInvalid(bent({ pairs: [["sig", sig]] }), "the self-attestation names another algorithm than the key");
    assertInvalid(
      bent({
        pairs: [
          ["alg", alg - 1],
          ["sig", sig],
        ],
      }),
      /names another algorithm/,
    );
    for (const x5c of [[], ["text"], new Uint8Array(9), null]) {
      assertInvalid(bent({ pairs: [...pairs, ["x5c", x5c]] }), "x5c holds no certificates");
    }
    // The same statement over other client data or other authenticator data.
    const other = clientDataJson("webauthn.create", parts.challenge, "https://example.com", { more: 1 });
    assertInvalid(registration(by, { ...parts, clientDataJson: other, statement: () => ({ pairs }) }), isNotVerified);
    const counted = { ...parts.authenticator, counter: 1 };
    assertInvalid(registration(by, { ...parts, authenticator: counted, statement: () => ({ pairs }) }), isNotVerified);
  }
});

test("an attestation object has its three parts, in any order, with or without others", () => {
  const { pairs } = attestationNode(registrationParts(passkey)) as { pairs: [CborNode, CborNode][] };
  const sent = (some: [CborNode, CborNode][]) => sentAs({ attestationObject: base64url(writeCbor({ pairs: some })) });
  assert.ok(verify(sent(pairs.toReversed())));
  assert.ok(verify(sent([...pairs, ["largeBlobKey", new Uint8Array(32)]])));
  const without = (name: string) => sent(pairs.filter(([key]) => key !== name));
  assert.throws(() => verify(without("authData")), {
    code: "invalid_argument",
    message: "missing parameter: user authenticator attestation auth data",
  });
  assertInvalid(without("fmt"), /the format is not one of/);
  assertInvalid(without("attStmt"), /attStmt is not a map/);
  assertInvalid(sent([...pairs.slice(0, 2), ["authData", "text"]]), /authData is not a byte string/);
  assertInvalid(sent([...pairs, ["fmt", "none"]]), "malformed CBOR: a key twice");
  assertInvalid(sentAs({ attestationObject: base64url(writeCbor(["none"])) }), /not a map/);
  assertInvalid(sentAs({ attestationObject: "" }), "malformed CBOR: too short");
  const whole = writeCbor({ pairs });
  assertInvalid(sentAs({ attestationObject: base64url(Uint8Array.of(...whole, 0)) }), /trailing bytes/);
  assertInvalid(sentAs({ attestationObject: base64url(new Uint8Array(32 * 1024 + 1)) }), /over 32768 bytes/);
});

test("a missing attestation, and keys of other algorithms, are refused by name", () => {
  assert.throws(() => verify({ challenge: "abc", attestation: undefined }), {
    code: "invalid_argument",
    message: "missing parameter: user authenticator attestation",
  });
  const coseKey = [
    [1, 1],
    [3, -8],
    [-1, 6],
    [-2, new Uint8Array(32)],
  ] as const;
  assertInvalid(
    registration({ ...passkey, coseKey }),
    "unsupported algorithm -8: passkeys are made with -7 (ES256) and -257 (RS256)",
  );
});
