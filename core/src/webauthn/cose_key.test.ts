import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { type CborNode, writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { nobleCurves } from "../crypto/noble_curves.ts";
import { fromCbor } from "../encoding/cbor.ts";
import { readCoseKey } from "./cose_key.ts";

const secret = new Uint8Array(32).fill(5);
const point = p256.getPublicKey(secret, false);
const [x, y] = [point.slice(1, 33), point.slice(33)];
const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = publicKey.export({ format: "jwk" });
const modulus = new Uint8Array(Buffer.from(jwk.n ?? "", "base64url"));
const f4 = Uint8Array.of(1, 0, 1);

type Pairs = readonly (readonly [CborNode, CborNode])[];

const es256: Pairs = [
  [1, 2],
  [3, -7],
  [-1, 1],
  [-2, x],
  [-3, y],
];
const rs256: Pairs = [
  [1, 3],
  [3, -257],
  [-1, modulus],
  [-2, f4],
];

const read = (pairs: Pairs) => readCoseKey(nodeCurves, fromCbor(writeCbor({ pairs })));

/** The same key with one parameter changed, or without it. */
function withParameter(pairs: Pairs, label: number, value?: CborNode): Pairs {
  return value === undefined
    ? pairs.filter(([key]) => key !== label)
    : pairs.map(([key, old]) => [key, key === label ? value : old] as const);
}

test("an ES256 key is stored as its compressed point, by OpenSSL and by noble", () => {
  const key = fromCbor(writeCbor({ pairs: es256 }));
  const stored = { algorithm: "ES256", publicKey: new Uint8Array(p256.getPublicKey(secret, true)) };
  assert.deepEqual(readCoseKey(nodeCurves, key), stored);
  assert.deepEqual(readCoseKey(nobleCurves, key), stored);
});

test("an RS256 key is stored as the SubjectPublicKeyInfo that OpenSSL writes", () => {
  const spki = new Uint8Array(publicKey.export({ format: "der", type: "spki" }));
  assert.deepEqual(read(rs256), { algorithm: "RS256", publicKey: spki });
});

test("the order of the parameters does not matter", () => {
  assert.deepEqual(read(es256.toReversed()), read(es256));
  assert.deepEqual(read(rs256.toReversed()), read(rs256));
});

test("other algorithms are refused by number, and the two that work are named", () => {
  for (const cose of [-8, -35, -36, -37, -47, -65535, -257 - 1, 0, 7]) {
    assert.throws(() => read(withParameter(es256, 3, cose)), {
      code: "invalid_argument",
      message: `unsupported algorithm ${cose}: passkeys are made with -7 (ES256) and -257 (RS256)`,
    });
  }
  for (const none of [undefined, "ES256", null, false]) {
    assert.throws(() => read(withParameter(es256, 3, none)), { message: /without an algorithm/ });
  }
});

test("a point that is not one of P-256 is refused", () => {
  const wrongY = y.map((byte, i) => (i === 31 ? byte ^ 1 : byte));
  for (const [pairs, message] of [
    [withParameter(es256, -3, wrongY), /not a point of its curve/],
    [withParameter(es256, -2, y), /not a point of its curve/],
    [withParameter(withParameter(es256, -2, new Uint8Array(32)), -3, new Uint8Array(32)), /not a point of its curve/],
    [withParameter(es256, -2, new Uint8Array(32).fill(0xff)), /not a point of its curve/],
    [withParameter(es256, -3, true), /two coordinates of 32 bytes/],
    [withParameter(es256, -2, x.subarray(1)), /two coordinates of 32 bytes/],
    [withParameter(es256, -2, Uint8Array.of(0, ...x)), /two coordinates of 32 bytes/],
    [withParameter(es256, -1, 2), /curve other than P-256/],
    [withParameter(es256, -1, 8), /curve other than P-256/],
    [withParameter(es256, 1, 3), /key type/],
    [withParameter(es256, 1, 1), /key type/],
    [withParameter(es256, 1), /key type/],
    [withParameter(es256, -3), /missing or further/],
    [[...es256, [-4, secret]], /missing or further/],
    [[...es256, [4, [2]]], /missing or further/],
  ] as [Pairs, RegExp][]) {
    assert.throws(() => read(pairs), { code: "invalid_argument", message });
  }
});

test("an RSA key that is short, overlong, even or with an odd exponent out of range is refused", () => {
  const ofBits = (bits: number) => {
    const bytes = new Uint8Array(Math.ceil(bits / 8)).fill(0xff);
    bytes[0] = 0xff >> (8 * bytes.length - bits);
    return bytes;
  };
  for (const bits of [2048, 2049, 3072, 4096]) read(withParameter(rs256, -1, ofBits(bits)));
  for (const exponent of ["010001", "010003", "ffffffff"]) read(withParameter(rs256, -2, Uint8Array.fromHex(exponent)));
  for (const [pairs, message] of [
    [withParameter(rs256, -1, ofBits(2047)), /2048 to 4096 bits, this one has 2047/],
    [withParameter(rs256, -1, ofBits(1024)), /this one has 1024/],
    [withParameter(rs256, -1, ofBits(4097)), /this one has 4097/],
    [withParameter(rs256, -1, new Uint8Array()), /this one has 0/],
    [withParameter(rs256, -1, Uint8Array.of(0, ...modulus)), /leading zeros/],
    [
      withParameter(
        rs256,
        -1,
        modulus.map((byte, i) => (i === 255 ? byte & 0xfe : byte)),
      ),
      /modulus that is even/,
    ],
    ...["", "01", "03", "ffff", "010000", "010002", "0100000001"].map((hex) => [
      withParameter(rs256, -2, Uint8Array.fromHex(hex)),
      /an RSA exponent is odd, at least 65537 and below 2\^32/,
    ]),
    [withParameter(rs256, -2, Uint8Array.of(0, 1, 0, 1)), /leading zeros/],
    [withParameter(rs256, -2, 65537), /a modulus and an exponent/],
    [withParameter(rs256, -1, "n"), /a modulus and an exponent/],
    [withParameter(rs256, 1, 2), /key type/],
    [[...rs256, [-3, f4]], /missing or further/],
    [withParameter(es256, 3, -257), /key type/],
  ] as [Pairs, RegExp][]) {
    assert.throws(() => read(pairs), { code: "invalid_argument", message });
  }
});

test("what is no map is no key", () => {
  for (const value of [undefined, null, 7, "key", new Uint8Array(77), []]) {
    assert.throws(() => readCoseKey(nodeCurves, value), { code: "invalid_argument", message: /not a COSE key/ });
  }
});
