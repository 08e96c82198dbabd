import assert from "node:assert/strict";
import { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { counted, formatOne, formatTwo, u32 } from "../../test/leaf_bytes.ts";
import { encodeHeader } from "./header.ts";
import { decodeLeaf, encodeLeaf, type Leaf, type NewLeaf, peekNumber } from "./leaf.ts";
import type { LeafEvidence } from "./leaf_evidence.ts";
import { leafEvents, leafGrounds, outsideKinds } from "./leaf_words.ts";

const sha256 = (bytes: Uint8Array) => Uint8Array.from(createHash("sha256").update(bytes).digest());
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const upTo = (maxLength: number) => fc.uint8Array({ maxLength });

const apiKey = fc.record(
  { scheme: fc.string({ maxLength: 30 }), publicKey: upTo(64), signature: upTo(64) },
  { noNullPrototype: true },
);

const passkey = fc.record(
  {
    rawId: upTo(1_023),
    authenticatorData: upTo(200),
    clientDataJson: upTo(300),
    signature: upTo(256),
    publicKey: fc.oneof(
      bytesOf(65).map((point) => ({ kind: "ES256" as const, value: { point } })),
      fc.tuple(upTo(512), upTo(8)).map(([modulus, exponent]) => {
        return { kind: "RS256" as const, value: { modulus, exponent } };
      }),
    ),
  },
  { noNullPrototype: true },
);

const attested = fc.record(
  {
    scheme: fc.string({ maxLength: 64 }).filter((scheme) => Buffer.from(scheme).length <= 64),
    publicKey: bytesOf(33),
    signature: bytesOf(64),
    tokenId: bytesOf(16),
    tokenDigest: bytesOf(32),
  },
  { noNullPrototype: true },
);

const attestedIdentity = fc.record(
  {
    scheme: fc.string({ maxLength: 64 }).filter((scheme) => Buffer.from(scheme).length <= 64),
    publicKey: bytesOf(33),
    signature: bytesOf(64),
    tokenDigest: bytesOf(32),
  },
  { noNullPrototype: true },
);

const evidenceOf = (
  content: fc.Arbitrary<LeafEvidence["content"]>,
  credentialId: fc.Arbitrary<Uint8Array | undefined>,
) => fc.record({ userId: bytesOf(16), credentialId, body: bytesOf(32), content }, { noNullPrototype: true });

const ofApiKey = apiKey.map((value) => ({ kind: "apiKey" as const, value }));
const ofAnyKind = fc.oneof(
  ofApiKey,
  passkey.map((value) => ({ kind: "webauthn" as const, value })),
  attested.map((value) => ({ kind: "attested" as const, value })),
  attestedIdentity.map((value) => ({ kind: "attestedIdentity" as const, value })),
  bytesOf(16).map((configId) => ({ kind: "authProxy" as const, value: { configId } })),
);

const state = fc.record(
  { organizationId: bytesOf(16), version: fc.maxSafeNat(), digest: bytesOf(32) },
  { noNullPrototype: true },
);
const idOf = ({ organizationId }: { organizationId: Uint8Array }) => Buffer.from(organizationId).toString("hex");

const common = {
  boot: bytesOf(16),
  number: fc.maxSafeNat(),
  event: fc.constantFrom(...leafEvents),
  grounds: fc.constantFrom(...leafGrounds),
  organizationId: bytesOf(16),
  activityId: bytesOf(16),
  activityType: fc.string({ maxLength: 40 }),
  fingerprint: bytesOf(32),
  timeMs: fc.maxSafeNat(),
  outcome: bytesOf(32),
};

const outsideValue: fc.Arbitrary<NewLeaf["outside"][number]> = fc.record(
  {
    kind: fc.constantFrom(...outsideKinds),
    value: fc.oneof(
      fc.record({ kind: fc.constant("bytes" as const), value: upTo(300) }, { noNullPrototype: true }),
      fc.record({ kind: fc.constant("digest" as const), value: bytesOf(32) }, { noNullPrototype: true }),
    ),
  },
  { noNullPrototype: true },
);

const anyLeaf: fc.Arbitrary<Leaf & { blind: Uint8Array }> = fc.record(
  {
    ...common,
    format: fc.constant(2),
    blind: bytesOf(16),
    states: fc.uniqueArray(state, { maxLength: 8, selector: idOf }),
    header: fc.option(upTo(200), { nil: undefined }),
    evidence: fc.array(evidenceOf(ofAnyKind, fc.option(bytesOf(16), { nil: undefined })), { maxLength: 3 }),
    outside: fc.array(outsideValue, { maxLength: 3 }),
  },
  { noNullPrototype: true },
);

/** What format 1 could say. A birth by an activity has its parent's state, whom its header names. */
const olderLeaf: fc.Arbitrary<Leaf> = fc
  .record(
    {
      ...common,
      format: fc.constant(1),
      blind: fc.constant(undefined),
      state: fc.option(fc.record({ version: fc.integer({ min: 1 }), digest: bytesOf(32) }), { nil: undefined }),
      parentId: fc.option(bytesOf(16), { nil: undefined }),
      evidence: fc.array(evidenceOf(ofApiKey, bytesOf(16)), { maxLength: 2 }),
      outside: fc.constant([]),
    },
    { noNullPrototype: true },
  )
  .map(({ state: own, parentId, ...leaf }) => {
    const { organizationId, event, outcome } = leaf;
    const header = encodeHeader({ organizationId, parentId, version: 1, previous: outcome, directory: outcome });
    const decider = event === "BIRTH" ? (parentId ?? organizationId) : organizationId;
    const states = own === undefined ? [] : [{ organizationId: decider, ...own }];
    return { ...leaf, states, header: Uint8Array.of(...header, ...new Uint8Array(32)) };
  });

const refused = { code: "invalid_argument" };

test("a leaf is written as SPEC.md says, and read back as it was", () => {
  fc.assert(
    fc.property(anyLeaf, (leaf) => {
      const written = Uint8Array.from(encodeLeaf(leaf));
      assert.deepEqual(written, Uint8Array.from(formatTwo(leaf)));
      assert.deepEqual(decodeLeaf(written), leaf);
    }),
  );
});

test("a leaf of format 1 is read as what format 2 would say", () => {
  fc.assert(fc.property(olderLeaf, (leaf) => assert.deepEqual(decodeLeaf(Uint8Array.from(formatOne(leaf))), leaf)));
});

test("a decoded leaf of format 1 is never written as that again", () => {
  const [leaf] = fc.sample(olderLeaf, 1) as [Leaf];
  assert.equal(encodeLeaf({ ...leaf, blind: new Uint8Array(16) })[0], 2);
});

test("the number is read off the bytes of both formats", () => {
  fc.assert(
    fc.property(anyLeaf, olderLeaf, (leaf, older) => {
      assert.equal(peekNumber(encodeLeaf(leaf)), leaf.number % 2 ** 32);
      assert.equal(peekNumber(formatOne(older)), older.number % 2 ** 32);
    }),
  );
});

test("an unknown format is refused by its number", () => {
  const [leaf] = fc.sample(anyLeaf, 1) as [Leaf];
  for (let format = 0; format < 256; format++) {
    if (format === 1 || format === 2) continue;
    assert.throws(() => decodeLeaf(formatTwo(leaf, { format })), {
      ...refused,
      message: `unknown leaf format ${format}`,
    });
  }
  assert.throws(() => decodeLeaf(new Uint8Array(0)), refused);
});

test("bytes of one format are not read as the other", () => {
  const relabelled = (bytes: Uint8Array, format: number) => Uint8Array.of(format, ...bytes.subarray(1));
  const stamped = { minLength: 1, maxLength: 1 };
  const act = fc.tuple(olderLeaf, fc.array(evidenceOf(ofApiKey, bytesOf(16)), stamped)).map(([leaf, evidence]) => {
    return { ...leaf, activityType: "ACTIVITY_TYPE_CREATE_USER_TAG", evidence };
  });
  fc.assert(
    fc.property(act, bytesOf(16), (leaf, blind) => {
      assert.throws(() => decodeLeaf(relabelled(formatOne(leaf), 2)), refused);
      assert.throws(() => decodeLeaf(relabelled(formatTwo({ ...leaf, blind }), 1)), refused);
    }),
  );
});

test("cut and prolonged leaves of both formats are refused, at every length", () => {
  const [leaf] = fc.sample(anyLeaf, 1) as [Leaf];
  const [older] = fc.sample(olderLeaf, 1) as [Leaf];
  for (const bytes of [formatTwo(leaf), formatOne(older)]) {
    for (let length = 0; length < bytes.length; length++) {
      assert.throws(() => decodeLeaf(bytes.subarray(0, length)), refused, `${length} of ${bytes.length}`);
    }
    assert.throws(() => decodeLeaf(Uint8Array.of(...bytes, 0)), { ...refused, message: /trailing bytes/ });
  }
});

test("mutated leaves are refused with our own error, or are another leaf's exact encoding", () => {
  fc.assert(
    fc.property(anyLeaf, fc.nat(), fc.integer({ min: 1, max: 255 }), (leaf, place, change) => {
      const bytes = Uint8Array.from(encodeLeaf(leaf));
      const at = place % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ change;
      let read: Leaf;
      try {
        read = decodeLeaf(bytes);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "invalid_argument");
        return;
      }
      assert.deepEqual(Uint8Array.from(formatTwo(read)), bytes);
    }),
    { numRuns: 2_000 },
  );
});

const [plain] = fc.sample(anyLeaf, { numRuns: 1, seed: 1 }) as [Leaf & { blind: Uint8Array }];

test("kinds that this release does not know are refused by their numbers", () => {
  const [known] = fc.sample(evidenceOf(ofApiKey, bytesOf(16)), 1) as [LeafEvidence];
  const head = [u32(1), known.userId, Buffer.of(1), known.credentialId ?? Buffer.alloc(0), known.body];
  for (const kind of [5, 6, 255]) {
    const evidence = Buffer.concat([...head, Buffer.of(kind), Buffer.alloc(200)]);
    assert.throws(() => decodeLeaf(formatTwo(plain, { evidence })), {
      ...refused,
      message: `malformed bytes: unknown evidence kind ${kind}`,
    });
  }
  const algorithm = Buffer.concat([...head, Buffer.of(1), ...[1, 2, 3, 4].map(() => counted("x")), Buffer.of(2)]);
  assert.throws(() => decodeLeaf(formatTwo(plain, { evidence: algorithm })), {
    ...refused,
    message: "malformed bytes: unknown passkey algorithm 2",
  });
  const outside = Buffer.concat([u32(1), Buffer.of(7, 0), counted("value")]);
  assert.throws(() => decodeLeaf(formatTwo(plain, { outside })), {
    ...refused,
    message: "malformed bytes: unknown kind of outside value 7",
  });
});

test("lists and fields have limits, for readers and writers", () => {
  const [stamp] = fc.sample(evidenceOf(ofApiKey, bytesOf(16)), 1) as [LeafEvidence];
  const [assertion] = fc.sample(passkey, 1);
  const states = Array.from({ length: 9 }, (_, index) => {
    return { organizationId: new Uint8Array(16).fill(index), version: 1, digest: new Uint8Array(32) };
  });
  const apiKeyWith = (change: object) => [
    { ...stamp, content: { kind: "apiKey", value: { ...stamp.content.value, ...change } } } as LeafEvidence,
  ];
  const passkeyWith = (change: object) => [
    { ...stamp, content: { kind: "webauthn", value: { ...assertion, ...change } } } as LeafEvidence,
  ];
  const rsa = (modulus: number, exponent: number) => ({
    publicKey: {
      kind: "RS256",
      value: { modulus: new Uint8Array(modulus), exponent: new Uint8Array(exponent) },
    },
  });
  const tooLong: Partial<NewLeaf>[] = [
    { states },
    { evidence: Array.from({ length: 9 }, () => stamp) },
    { header: new Uint8Array(513) },
    { outside: [{ kind: "issuerKey", value: { kind: "bytes", value: new Uint8Array(4_097) } }] },
    { activityType: "é".repeat(65) },
    { evidence: apiKeyWith({ scheme: "x".repeat(65) }) },
    { evidence: apiKeyWith({ publicKey: new Uint8Array(65) }) },
    { evidence: apiKeyWith({ signature: new Uint8Array(65) }) },
    { evidence: passkeyWith({ rawId: new Uint8Array(1_024) }) },
    { evidence: passkeyWith({ authenticatorData: new Uint8Array(16_385) }) },
    { evidence: passkeyWith({ clientDataJson: new Uint8Array(16_385) }) },
    { evidence: passkeyWith({ signature: new Uint8Array(1_025) }) },
    { evidence: passkeyWith(rsa(1_025, 3)) },
    { evidence: passkeyWith(rsa(256, 9)) },
  ];
  for (const change of tooLong) {
    const leaf = { ...plain, ...change };
    assert.throws(() => encodeLeaf(leaf), { code: "internal" }, Object.keys(change).join());
    assert.throws(() => decodeLeaf(formatTwo(leaf)), { ...refused, message: /more than/ }, Object.keys(change).join());
  }
  const many = Buffer.concat([u32(65), Buffer.alloc(65 * 40)]);
  assert.throws(() => decodeLeaf(formatTwo(plain, { outside: many })), { ...refused, message: /more than 64 items/ });
  const full = { ...plain, states: states.slice(1), evidence: Array.from({ length: 8 }, () => stamp) };
  assert.deepEqual(decodeLeaf(Uint8Array.from(encodeLeaf(full))), full);
});

test("a leaf names no organization's state twice", () => {
  const one = { organizationId: new Uint8Array(16).fill(1), version: 1, digest: new Uint8Array(32) };
  const other = { ...one, organizationId: new Uint8Array(16).fill(2) };
  const leaf = { ...plain, states: [one, other, { ...one, version: 2 }] };
  assert.throws(() => encodeLeaf(leaf), { code: "internal" });
  assert.throws(() => decodeLeaf(formatTwo(leaf)), { ...refused, message: /one organization's state twice/ });
});

/** A passkey of each algorithm, with its public key as a leaf has it. */
const passkeys: Record<string, () => { privateKey: KeyObject; kept: Passkey["publicKey"] }> = {
  ES256() {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    const point = Uint8Array.of(4, ...Buffer.from(x, "base64url"), ...Buffer.from(y, "base64url"));
    return { privateKey, kept: { kind: "ES256", value: { point } } };
  },
  RS256() {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const { n = "", e = "" } = publicKey.export({ format: "jwk" });
    const [modulus, exponent] = [n, e].map((part) => Uint8Array.from(Buffer.from(part, "base64url")));
    assert.ok(modulus !== undefined && exponent !== undefined);
    return { privateKey, kept: { kind: "RS256", value: { modulus, exponent } } };
  },
};

type Passkey = Extract<LeafEvidence["content"], { kind: "webauthn" }>["value"];

/** The steps of SPEC.md, with nothing but the leaf, the stamped bytes and what every platform has. */
function verifiesOffline(leaf: Leaf, stamped: Uint8Array): boolean {
  const [given] = leaf.evidence;
  assert.ok(given?.content.kind === "webauthn");
  const { authenticatorData, clientDataJson, signature, publicKey } = given.content.value;
  const digest = Buffer.from(sha256(stamped));
  if (!digest.equals(given.body)) return false;
  const { challenge } = JSON.parse(Buffer.from(clientDataJson).toString("utf8")) as { challenge: string };
  if (challenge !== Buffer.from(digest.toString("hex")).toString("base64url")) return false;
  const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
  const jwk =
    publicKey.kind === "ES256"
      ? {
          kty: "EC",
          crv: "P-256",
          x: base64url(publicKey.value.point.subarray(1, 33)),
          y: base64url(publicKey.value.point.subarray(33)),
        }
      : { kty: "RSA", n: base64url(publicKey.value.modulus), e: base64url(publicKey.value.exponent) };
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJson)]);
  return verify("sha256", signed, createPublicKey({ key: jwk, format: "jwk" }), signature);
}

for (const [algorithm, make] of Object.entries(passkeys)) {
  test(`whoever has the body verifies a passkey's ${algorithm} assertion from the leaf alone`, () => {
    const { privateKey, kept } = make();
    const body = new TextEncoder().encode('{"type":"ACTIVITY_TYPE_CREATE_USER_TAG"}');
    const challenge = Buffer.from(Buffer.from(sha256(body)).toString("hex")).toString("base64url");
    const client = { type: "webauthn.get", challenge, origin: "https://wallet.example", crossOrigin: false };
    const clientDataJson = new TextEncoder().encode(JSON.stringify(client));
    const rpId = sha256(new TextEncoder().encode("wallet.example"));
    const authenticatorData = Uint8Array.of(...rpId, 0b101, 0, 0, 0, 7);
    const signed = Buffer.concat([authenticatorData, sha256(clientDataJson)]);
    const signature = Uint8Array.from(sign("sha256", signed, privateKey));
    const value = { rawId: new Uint8Array(32).fill(9), authenticatorData, clientDataJson, signature, publicKey: kept };
    const evidence: LeafEvidence[] = [
      {
        userId: new Uint8Array(16).fill(1),
        credentialId: new Uint8Array(16).fill(2),
        body: sha256(body),
        content: { kind: "webauthn", value },
      },
    ];
    const leaf = decodeLeaf(encodeLeaf({ ...plain, evidence }));
    assert.equal(verifiesOffline(leaf, body), true);
    assert.equal(verifiesOffline(leaf, Uint8Array.of(...body, 32)), false);
    const other = make().kept;
    const swapped = {
      ...plain,
      evidence: evidence.map((each) => ({
        ...each,
        content: { kind: "webauthn" as const, value: { ...value, publicKey: other } },
      })),
    };
    assert.equal(verifiesOffline(decodeLeaf(encodeLeaf(swapped)), body), false);
  });
}
