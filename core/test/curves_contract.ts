/** What every implementation of `Curves` promises beyond the published vectors. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import fc from "fast-check";
import { normalisePublicKey } from "../src/crypto/api_key.ts";
import type { Curves } from "../src/crypto/curves.ts";
import { signStamp } from "../src/crypto/sign_stamp.ts";
import { parseStamp, type StampScheme, stampSchemes, verifyStamp } from "../src/crypto/stamp.ts";
import { fromBase64url } from "../src/encoding/base64url.ts";
import { parseEcdsaDer } from "../src/encoding/der.ts";
import { fromHex, toHex } from "../src/encoding/hex.ts";
import { findVectors } from "./vectors.ts";

const utf8 = new TextEncoder();
const secret = fromHex("487f361ddfd73440e707f4daa6775b376859e8a3c9f29b3bb694a12927c0213c");
const body = utf8.encode('{"payload": "hello"}');
const schemes = Object.keys(stampSchemes) as StampScheme[];

/** Values that a published SDK, its documentation or OpenSSL produced; `signature` is DER or raw as on the wire. */
const published: { scheme: StampScheme; text: string; publicKey: string; signature: string }[] = [
  {
    scheme: "SIGNATURE_SCHEME_TK_API_P256",
    text: '{"payload": "hello from TKHQ"}',
    publicKey: "0327a50032e6f0631d5605b6ada32b779074f346e81b68e12801640f1c9ee03dae",
    signature:
      "304402203623defd618eb3e219970496407ebe92447317dad75e412bd4a6267c3b5e22230220245b740848a72d08b60d6c84f339737b63db3bcbadb3bd0dcb1bfb865715d8b5",
  },
  {
    // High s, as WebCrypto and OpenSSL produce it every second time.
    scheme: "SIGNATURE_SCHEME_TK_API_P256",
    text: "hello from TKHQ!",
    publicKey: "02f739f8c77b32f4d5f13265861febd76e7a9c61a1140d296b8c16302508870316",
    signature:
      "3046022100b9d0146ae33c9b5b8905a910d916845525aea5c0d96f15be05731951b4559353022100b03f26581a4a6f3a5f11eb01556ba32980a8a1c4fad672a8c6e63da398e95beb",
  },
  {
    scheme: "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191",
    text: "MESSAGE",
    publicKey: "038318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75",
    signature:
      "30440220487cdb8a88f2f4044b701cbb116075c4cabe5fe4657a6358b395c0aab70694db02203453a8057e442bd1aff0ecabe8a82c831f0edd7f2158b7c1feb3de9b1f20309b",
  },
  {
    scheme: "SIGNATURE_SCHEME_TK_API_SECP256K1",
    text: "MESSAGE",
    publicKey: "038318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75",
    signature:
      "3044022038f3d69e13c82905dfb8cd8370ec154701c1ca7f6363606e2fdc466a41fa225a022023d8cbf8071c58dec8fa7a1b8e56e0f329e2af3160392d2a9e6af174f1effbcc",
  },
  {
    scheme: "SIGNATURE_SCHEME_TK_API_ED25519",
    text: "hello from TKHQ!",
    publicKey: "54dbf3006616c1afaec1ebceaa22a488b1856bfc7b0453a53fb097dd69fa64e5",
    signature:
      "097fc4ff4d37de666d3f49f679ea101a800ec6f3fa886a5034a98c3c2b3183af17c5b2f23326dcd833482a9c7ea49ddad2c1c0823aee88bac72f93fcdc0a6901",
  },
];

/** Registers the tests for one implementation. */
export function testCurvesContract(name: string, curves: Curves): void {
  test(`${name}: stamps of published clients verify`, () => {
    for (const { scheme, text, publicKey, signature } of published) {
      const header = btoa(JSON.stringify({ publicKey, scheme, signature }));
      const stamp = parseStamp(curves, header);
      assert.equal(stamp.publicKey, publicKey);
      assert.ok(verifyStamp(curves, stamp, utf8.encode(text)), scheme);
      assert.ok(!verifyStamp(curves, stamp, utf8.encode(`${text} `)), scheme);
    }
  });

  test(`${name}: the key pair of the published client's tests stamps and verifies`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type File = { apiKeyFixture: { privateKey: string; publicKey: string } };
    const { apiKeyFixture } = vectors.json<File>("client-acceptance/tkhq-sdk.json");
    const header = signStamp(fromHex(apiKeyFixture.privateKey), "SIGNATURE_SCHEME_TK_API_P256", body);
    const stamp = parseStamp(curves, header);
    assert.equal(stamp.publicKey, apiKeyFixture.publicKey);
    assert.ok(verifyStamp(curves, stamp, body));
  });

  test(`${name}: a session token and an app proof of the hosted service verify, and over another byte do not`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type File = {
      sessionJwt: { jwt: string; publicKey: string };
      appProof: { publicKey: string; proofPayload: string; signature: string };
    };
    // Excluded: bootProof, a cloud vendor's attestation, which no part of Keystead reads. The others have tests of their own.
    const { sessionJwt, appProof } = vectors.json<File>("client-acceptance/tkhq-sdk.json");
    const holds = (point: string, message: Uint8Array, signature: Uint8Array) =>
      curves.verifyP256(curves.compressPoint("p256", fromHex(point)), message, signature);
    const [header, payload, mark = ""] = sessionJwt.jwt.split(".");
    // The token's signature is over the digest of a digest.
    const token = curves.sha256(utf8.encode(`${header}.${payload}`));
    assert.ok(holds(sessionJwt.publicKey, token, fromBase64url(mark)));
    assert.ok(!holds(sessionJwt.publicKey, curves.sha256(token), fromBase64url(mark)));
    // Two points: one to encrypt to, one that signs.
    const signer = appProof.publicKey.slice(130);
    assert.ok(holds(signer, utf8.encode(appProof.proofPayload), fromHex(appProof.signature)));
    assert.ok(!holds(signer, utf8.encode(`${appProof.proofPayload} `), fromHex(appProof.signature)));
  });

  for (const scheme of schemes) {
    test(`${name}: ${scheme} holds for its own body and key, and for nothing one bit away`, () => {
      const stamp = parseStamp(curves, signStamp(secret, scheme, body));
      assert.ok(verifyStamp(curves, stamp, body));
      assert.ok(!verifyStamp(curves, stamp, new Uint8Array()));
      const flip = (bytes: Uint8Array, bit: number) => bytes.map((b, i) => (i === bit >> 3 ? b ^ (1 << (bit & 7)) : b));
      const bit = (bytes: Uint8Array) => fc.nat(bytes.length * 8 - 1);
      fc.assert(
        fc.property(bit(body), bit(stamp.signature), bit(stamp.publicKeyBytes), (inBody, inSignature, inKey) => {
          assert.ok(!verifyStamp(curves, stamp, flip(body, inBody)));
          assert.ok(!verifyStamp(curves, { ...stamp, signature: flip(stamp.signature, inSignature) }, body));
          assert.ok(!verifyStamp(curves, { ...stamp, publicKeyBytes: flip(stamp.publicKeyBytes, inKey) }, body));
        }),
        { seed: 20, numRuns: 25 },
      );
    });
  }

  test(`${name}: a signature of one scheme does not pass under another of the same curve`, () => {
    const plain = parseStamp(curves, signStamp(secret, "SIGNATURE_SCHEME_TK_API_SECP256K1", body));
    const eip191 = parseStamp(curves, signStamp(secret, "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191", body));
    assert.equal(plain.publicKey, eip191.publicKey);
    assert.ok(!verifyStamp(curves, { ...plain, scheme: eip191.scheme }, body));
    assert.ok(!verifyStamp(curves, { ...eip191, scheme: plain.scheme }, body));
    assert.ok(!verifyStamp(curves, { ...plain, scheme: "SIGNATURE_SCHEME_TK_API_P256" }, body));
    assert.ok(!verifyStamp(curves, { ...plain, scheme: "SIGNATURE_SCHEME_TK_API_ED25519" }, body));
  });

  test(`${name}: high s is accepted on both curves`, () => {
    for (const [curve, holds] of [
      [p256, (key: Uint8Array, rs: Uint8Array) => curves.verifyP256(key, body, rs)],
      [secp256k1, (key: Uint8Array, rs: Uint8Array) => curves.verifySecp256k1(key, curves.sha256(body), rs)],
    ] as const) {
      const low = curve.sign(body, secret, { lowS: true });
      const s = curve.Point.Fn.neg(curve.Point.Fn.fromBytes(low.subarray(32)));
      const high = Uint8Array.of(...low.subarray(0, 32), ...curve.Point.Fn.toBytes(s));
      const key = curve.getPublicKey(secret, true);
      assert.ok(holds(key, low) && holds(key, high));
    }
  });

  test(`${name}: the one stamp in 256 that a wallet client writes as non-minimal DER verifies`, () => {
    let found = 0;
    for (let nonce = 0; nonce < 4000 && found < 2; nonce++) {
      const message = utf8.encode(`message ${nonce}`);
      const rs = secp256k1.sign(message, secret);
      if (!hasSuperfluousZero(rs.subarray(0, 32)) && !hasSuperfluousZero(rs.subarray(32))) continue;
      found++;
      const der = clientDer(rs);
      const publicKey = toHex(secp256k1.getPublicKey(secret, true));
      const fields = { publicKey, scheme: "SIGNATURE_SCHEME_TK_API_SECP256K1", signature: toHex(der) };
      assert.ok(verifyStamp(curves, parseStamp(curves, btoa(JSON.stringify(fields))), message));
      assert.throws(() => secp256k1.Signature.fromBytes(der, "der"), "the library would have refused it");
      assert.deepEqual(parseEcdsaDer(der), new Uint8Array(rs));
    }
    assert.equal(found, 2);
  });

  test(`${name}: an Ed25519 key of small order verifies nothing, though equations hold under it`, () => {
    assert.equal(ED25519_TORSION_SUBGROUP.length, 8);
    // R = identity and S = 0 satisfy the cofactored equation for every message under each of these keys.
    const signature = fromHex(`01${"00".repeat(63)}`);
    for (const hex of ED25519_TORSION_SUBGROUP) {
      const key = fromHex(hex);
      assert.ok(ed25519.verify(signature, body, key, { zip215: true }), "else the next line would prove nothing");
      assert.ok(!curves.verifyEd25519(key, body, signature), hex);
      assert.throws(() => normalisePublicKey(curves, "API_KEY_CURVE_ED25519", hex), { code: "invalid_argument" });
    }
  });

  test(`${name}: malformed keys and signatures are signatures that do not hold, never exceptions`, () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 70 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((x) => Uint8Array.of(2, ...x)),
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
      fc.constantFrom(
        ...[0, 1, 31, 32, 33, 63, 64, 65].flatMap((n) => [0, 0xff].map((b) => new Uint8Array(n).fill(b))),
      ),
    );
    const keys = fc.oneof(
      bytes,
      fc.constantFrom(
        p256.getPublicKey(secret, true),
        p256.getPublicKey(secret, false),
        secp256k1.getPublicKey(secret, true),
        ed25519.getPublicKey(secret),
      ),
    );
    fc.assert(
      fc.property(keys, bytes, bytes, (key, message, signature) => {
        assert.equal(curves.verifyP256(key, message, signature), false);
        assert.equal(curves.verifySecp256k1(key, message, signature), false);
        assert.equal(curves.verifyEd25519(key, message, signature), false);
      }),
      { seed: 21, numRuns: 300 },
    );
  });

  test(`${name}: a point is compressed when it lies on its curve and refused otherwise`, () => {
    for (const [curveName, curve] of [
      ["p256", p256],
      ["secp256k1", secp256k1],
    ] as const) {
      const long = curve.getPublicKey(secret, false);
      const short = curve.getPublicKey(secret, true);
      assert.deepEqual(curves.compressPoint(curveName, long), new Uint8Array(short));
      assert.deepEqual(curves.compressPoint(curveName, short), new Uint8Array(short));
      const offCurve = long.map((b, i) => (i === 64 ? b ^ 1 : b));
      const hybrid = long.map((b, i) => (i === 0 ? 6 + ((long[64] ?? 0) & 1) : b));
      const [infinity, tooLargeX] = [new Uint8Array(1), Uint8Array.of(2, ...new Uint8Array(32).fill(0xff))];
      const zeros = [new Uint8Array(33), Uint8Array.of(4, ...new Uint8Array(64))];
      const noPoint = curveName === "p256" ? 1 : 5; // The smallest x without a point on that curve.
      const withoutPoint = Uint8Array.of(2, ...new Uint8Array(31), noPoint);
      const wrongLength = [long.subarray(0, 64), short.subarray(1), Uint8Array.of(...short, 0), new Uint8Array()];
      for (const bad of [offCurve, hybrid, infinity, tooLargeX, withoutPoint, ...zeros, ...wrongLength]) {
        assert.throws(() => curves.compressPoint(curveName, bad), { code: "invalid_argument" }, toHex(bad));
      }
    }
    const published =
      "0400d2eb47be2006c29db5fe9941dd686d19ddeea85a0328894f08091f6b5be9b366c4872345594c12a7f7c47c62dd8074542934820fce5ee0ddc55d6d1d8dd3";
    assert.equal(curves.compressPoint("p256", fromHex(`${published}12`))[1], 0);
    for (const last of ["11", "13"]) {
      assert.throws(() => curves.compressPoint("p256", fromHex(published + last)), { code: "invalid_argument" });
    }
  });

  test(`${name}: the hashes are the published ones`, () => {
    const hex = (bytes: Uint8Array) => toHex(bytes);
    assert.equal(
      hex(curves.sha256(new Uint8Array())),
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    );
    assert.equal(
      hex(curves.keccak256(new Uint8Array())),
      "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
    );
    assert.equal(Object.getPrototypeOf(curves.sha256(body)), Uint8Array.prototype);
    assert.equal(Object.getPrototypeOf(curves.keccak256(body)), Uint8Array.prototype);
  });
}

function hasSuperfluousZero(integer: Uint8Array): boolean {
  return integer[0] === 0 && (integer[1] ?? 0) < 0x80;
}

/** DER as wallet-stamper writes it: always 32-byte integers, a zero in front only where the top bit is set. */
function clientDer(rs: Uint8Array): Uint8Array {
  const integer = (value: Uint8Array) => ((value[0] ?? 0) > 0x7f ? [0, ...value] : [...value]);
  const [r, s] = [integer(rs.subarray(0, 32)), integer(rs.subarray(32))];
  return Uint8Array.of(0x30, r.length + s.length + 4, 2, r.length, ...r, 2, s.length, ...s);
}
