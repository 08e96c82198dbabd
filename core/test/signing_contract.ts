/** What every implementation of `SigningMaths` promises: the published signatures, byte for byte, and the rules around them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "fast-check";
import { type SigningMaths, signatureSchemes, signBytes, toWireSignature } from "../src/crypto/signing.ts";
import { fromHex, toHex } from "../src/encoding/hex.ts";
import { taprootOutputKey } from "../src/keys/addresses/taproot.ts";
import { deriveKeyPair } from "../src/keys/derive.ts";
import { type Curve, publicKeyOf, type SignatureScheme } from "../src/keys/key_curves.ts";
import { parseSentence, toSeed } from "../src/keys/mnemonic.ts";
import { parsePath } from "../src/keys/path.ts";
import { findVectors } from "./vectors.ts";

const utf8 = new TextEncoder();
const hello = utf8.encode("hello");
const orders = {
  CURVE_SECP256K1: secp256k1.Point.Fn.ORDER,
  CURVE_P256: p256.Point.Fn.ORDER,
} as const;

type Published = {
  what: string;
  scheme: SignatureScheme;
  curve: Curve;
  privateKey: string;
  bytes: Uint8Array;
  r: string;
  s: string;
  v: string;
};

/**
 * Keys of the mnemonic `test … junk`, over `hello` unless said otherwise. The Ethereum ones were made by three libraries
 * that agree; the two of P-256 without a path are RFC 6979 A.2.5, the first with its high s turned over.
 */
const published: readonly Published[] = [
  {
    what: "m/44'/60'/0'/0/0 over keccak256",
    scheme: "ecdsa",
    curve: "CURVE_SECP256K1",
    privateKey: "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    bytes: keccak_256(hello),
    r: "73eebf81a611136662d65778960c853fdcaf6eca86793ed9cabc30f2195937af",
    s: "78a07e601627da5b4cc80c0ab35f6894da19b4a01759d90c101d9c9dd1c6745d",
    v: "00",
  },
  {
    what: "m/44'/60'/0'/0/0 over sha256",
    scheme: "ecdsa",
    curve: "CURVE_SECP256K1",
    privateKey: "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    bytes: sha256(hello),
    r: "eb5ac08b07a64ad61a604657e019ab24426a5caa91ce1f965b5d0f5dbb071268",
    s: "207b8be8393a7978e2aa87d1ef4ff66cc07d6ffd2353bdc779c862f5bfb5b62e",
    v: "00",
  },
  {
    what: "P-256 m/44'/60'/0'/0/0 over sha256",
    scheme: "ecdsa",
    curve: "CURVE_P256",
    privateKey: "ebbc28a02010b1983380475c83a22d10f1800bd151216b24034b052a62571c3f",
    bytes: sha256(hello),
    r: "92b8e9bc5132294d1c5dd6832c225ba77514985041b9687b346a73ecf435eeca",
    s: "48f3c4322ddc77b93b47704bef0ce9438704e7b9e9807ef32dfd935835ca4aa8",
    v: "01",
  },
  {
    what: "RFC 6979 A.2.5, sample",
    scheme: "ecdsa",
    curve: "CURVE_P256",
    privateKey: "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
    bytes: sha256(utf8.encode("sample")),
    r: "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716",
    s: withLowS("CURVE_P256", "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"),
    v: "01",
  },
  {
    what: "RFC 6979 A.2.5, test",
    scheme: "ecdsa",
    curve: "CURVE_P256",
    privateKey: "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
    bytes: sha256(utf8.encode("test")),
    r: "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367",
    s: "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083",
    v: "00",
  },
  {
    what: "m/44'/501'/0'/0'",
    scheme: "ed25519",
    curve: "CURVE_ED25519",
    privateKey: "a01c67efb5cb8f62f15907a9fcf124c73d2695c8a9a31f21c05742a31ca1dc72",
    bytes: hello,
    r: "0379758e89a4cebaf054ef30634c3ace10d90d8a157a61289609f183489e1f08",
    s: "5e5149a25b6f8f7c3ab5341fa1e249866d6872f16c9c482dee7ebde748e6b403",
    v: "00",
  },
  {
    what: "P2TR m/86'/0'/0'/0/0 over sha256, aux = 0",
    scheme: "bip340_taproot",
    curve: "CURVE_SECP256K1",
    privateKey: "1fa85e736d4ec30d0a4211159da78aca69327fbb12f59a181f078181af822fe8",
    bytes: sha256(hello),
    r: "c649c6b676b99c77324d0b96860386aac7c75c8634535d16f1644188b44858e5",
    s: "90a43310523b15a94c523cef4f3efc24d73da6dfddc204705e07ca1cc4cbdbe8",
    v: "00",
  },
  {
    what: "Spark m/8797555'/0'/0' over sha256, aux = 0",
    scheme: "bip340",
    curve: "CURVE_SECP256K1",
    privateKey: "49cbfcc183201156ef1e4e08fba1be05d245ebd280175e1e53b9ed0b6007b7e5",
    bytes: sha256(hello),
    r: "677dfc9eb668ee6d357e364e8a49f2559dd348bfdd2a882ed5324ea8bcca100a",
    s: "edeca5054f4204f4cb1d7db8cec326e628b3b3364e69d11db10e5d43e56e08a9",
    v: "00",
  },
];

/** Every scheme on every curve that it signs on. */
const schemes: readonly [SignatureScheme, Curve][] = [
  ["ecdsa", "CURVE_SECP256K1"],
  ["ecdsa", "CURVE_P256"],
  ["ed25519", "CURVE_ED25519"],
  ["bip340", "CURVE_SECP256K1"],
  ["bip340_taproot", "CURVE_SECP256K1"],
];

/** Registers the tests for one implementation. */
export function testSigningContract(name: string, maths: SigningMaths): void {
  for (const { what, scheme, curve, privateKey, bytes, ...expected } of published) {
    test(`${name}: the published signature of ${what}`, () => {
      assert.deepEqual(toWireSignature(signBytes(maths, scheme, curve, fromHex(privateKey), bytes)), expected);
    });
  }
  testPublishedFiles(name, maths);

  for (const [scheme, curve] of schemes) {
    test(`${name}: ${scheme} on ${curve} verifies under its key, twice the same, as plain bytes`, () => {
      const scalar = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((key) => key[0] !== 0xff && key[0] !== 0);
      const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
      fc.assert(
        fc.property(scalar, bytes, (privateKey, digest) => {
          const keptKey = Uint8Array.from(privateKey);
          const signature = signBytes(maths, scheme, curve, privateKey, digest);
          assert.deepEqual(signBytes(maths, scheme, curve, privateKey, digest), signature);
          assert.deepEqual(privateKey, keptKey, "the key is the caller's");
          assert.ok(verifies(maths, scheme, curve, privateKey, digest, signature));
          assert.equal(Object.getPrototypeOf(signature.r), Uint8Array.prototype);
          assert.match(JSON.stringify(toWireSignature(signature)), /^\{"r":"\w{64}","s":"\w{64}","v":"0[01]"\}$/);
        }),
        { seed: 40, numRuns: 12 },
      );
    });
  }

  test(`${name}: ECDSA has a low s, and its parity recovers the key`, () => {
    for (const [curve, library] of [
      ["CURVE_SECP256K1", secp256k1],
      ["CURVE_P256", p256],
    ] as const) {
      const seen = new Set<number>();
      for (let i = 0; i < 24; i++) {
        const privateKey = sha256(Uint8Array.of(i));
        const digest = sha256(Uint8Array.of(i, i));
        const { r, s, yParity } = signBytes(maths, "ecdsa", curve, privateKey, digest);
        assert.ok(BigInt(`0x${toHex(s)}`) <= orders[curve] / 2n);
        const recovered = library.recoverPublicKey(Uint8Array.of(yParity, ...r, ...s), digest, { prehash: false });
        assert.deepEqual(recovered, publicKeyOf(maths.keys, curve, privateKey).compressed);
        seen.add(yParity);
      }
      assert.deepEqual([...seen].sort(), [0, 1]);
    }
  });

  test(`${name}: digests at and beyond the order are signed as the standards reduce them`, () => {
    const privateKey = fromHex("487f361ddfd73440e707f4daa6775b376859e8a3c9f29b3bb694a12927c0213c");
    for (const [curve, library] of [
      ["CURVE_SECP256K1", secp256k1],
      ["CURVE_P256", p256],
    ] as const) {
      const order = fromHex(orders[curve].toString(16));
      for (const digest of [new Uint8Array(32), order, new Uint8Array(32).fill(0xff)]) {
        const { r, s } = signBytes(maths, "ecdsa", curve, privateKey, digest);
        const expected = library.sign(digest, privateKey, { prehash: false, lowS: true });
        assert.equal(toHex(r) + toHex(s), toHex(expected));
      }
    }
  });

  test(`${name}: a digest of another length is refused with the published text; a message has any length`, () => {
    for (const [scheme, curve] of schemes) {
      for (const length of [0, 1, 20, 31, 33, 64, 10_000]) {
        const sign = () => signBytes(maths, scheme, curve, new Uint8Array(32).fill(3), new Uint8Array(length));
        if (signatureSchemes[scheme].takes === "message") assert.equal(sign().r.length, 32);
        else
          assert.throws(sign, {
            code: "invalid_argument",
            message: /^expected a 32-bytes-long digest: hash the payload first, or choose HASH_FUNCTION_SHA256 /,
          });
      }
    }
  });

  test(`${name}: a scheme of another curve, or a key outside its own, signs nothing`, () => {
    const digest = new Uint8Array(32).fill(5);
    for (const scheme of Object.keys(signatureSchemes) as SignatureScheme[]) {
      for (const curve of ["CURVE_SECP256K1", "CURVE_P256", "CURVE_ED25519"] as const) {
        if (schemes.some((pair) => pair[0] === scheme && pair[1] === curve)) continue;
        assert.throws(() => signBytes(maths, scheme, curve, new Uint8Array(32).fill(3), digest), { code: "internal" });
      }
    }
    for (const [scheme, curve] of schemes) {
      const bad = [new Uint8Array(31).fill(1), new Uint8Array(33).fill(1), new Uint8Array(64).fill(1)];
      if (curve !== "CURVE_ED25519") bad.push(new Uint8Array(32), fromHex(orders[curve].toString(16)));
      for (const key of bad) assert.throws(() => signBytes(maths, scheme, curve, key, digest), { code: "internal" });
    }
  });
}

type Bip341File = {
  keyPathSpending: {
    inputSpending: {
      given: { internalPrivkey: string; merkleRoot: string | null; hashType: number };
      intermediary: { tweakedPrivkey: string; sigHash: string };
      expected: { witness: [string] };
    }[];
  }[];
};

type StellarFile = {
  setup: { mnemonic: string; passphrase: string };
  tests: {
    name: string;
    parameters: { xdr: string; address_n: string; network_passphrase: string };
    result: { public_key?: string; signature?: string; error_message?: string };
  }[];
};

const stellarRefusals = new Set([
  "Multiple operations not supported for payment requests",
  "Invalid operation for payment request",
  "must be the only operation",
  "requires ext.v = 1",
]);

function testPublishedFiles(name: string, maths: SigningMaths): void {
  const sign = (scheme: SignatureScheme, curve: Curve, privateKey: string, bytes: Uint8Array): string => {
    const { r, s } = signBytes(maths, scheme, curve, fromHex(privateKey), bytes);
    return toHex(r) + toHex(s);
  };

  test(`${name}: every signature of secp256k1-ecdsa-sign.json`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type File = { valid: { d: string; m: string; signature: string }[] };
    const { valid } = vectors.json<File>("signatures-extra/secp256k1-ecdsa-sign.json");
    for (const { d, m, signature } of valid) {
      assert.equal(sign("ecdsa", "CURVE_SECP256K1", d, fromHex(m)), signature, m);
    }
    assert.equal(valid.length, 169);
  });

  test(`${name}: every nonce of secp256k1-rfc6979.json`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type Row = { message: string; d: string; k0: string };
    const rows = vectors.json<Row[]>("signatures-extra/secp256k1-rfc6979.json");
    for (const { message, d, k0 } of rows) {
      // The file publishes nonces: r is the x of that nonce's point. k1 and k15 are candidates after a refused k0.
      const nonce = secp256k1.getPublicKey(fromHex(k0), true);
      const signature = sign("ecdsa", "CURVE_SECP256K1", d, sha256(utf8.encode(message)));
      assert.equal(signature.slice(0, 64), toHex(nonce.subarray(1)), message);
    }
    assert.equal(rows.length, 7);
  });

  test(`${name}: every signature and public key of ed25519-djb-sign.json`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type Row = { seed: string; publicKey: string; message: string; signature: string };
    const rows = vectors.json<Row[]>("signatures-extra/ed25519-djb-sign.json");
    for (const { seed, publicKey, message, signature } of rows) {
      assert.equal(sign("ed25519", "CURVE_ED25519", seed, fromHex(message)), signature, message);
      assert.equal(toHex(publicKeyOf(maths.keys, "CURVE_ED25519", fromHex(seed)).compressed), publicKey);
    }
    assert.equal(rows.length, 171);
  });

  test(`${name}: a hardware wallet's Stellar transactions, from mnemonic to signature`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    const { setup, tests } = vectors.json<StellarFile>("trezor-fixtures/stellar/sign_tx.json");
    const sentence = parseSentence(maths.keys, utf8.encode(setup.mnemonic));
    const seed = toSeed(maths.keys, sentence, utf8.encode(setup.passphrase));
    const counts = { exact: 0, excluded: 0 };
    for (const { name: label, parameters, result } of tests) {
      if (result.signature === undefined) {
        // The device refuses what it cannot show. Stellar comes to us as a digest, which has nothing to object to.
        assert.ok(stellarRefusals.has(result.error_message ?? ""), label);
        counts.excluded++;
        continue;
      }
      const path = parsePath(parameters.address_n);
      const { privateKey, publicKey } = deriveKeyPair(maths.keys, "CURVE_ED25519", seed, path);
      assert.equal(toHex(publicKey.compressed), result.public_key, label);
      // What is signed: the network, then the envelope from its type on, without the empty list of signatures at its end.
      const envelope = Buffer.from(parameters.xdr, "base64").subarray(0, -4);
      const digest = sha256(Uint8Array.of(...sha256(utf8.encode(parameters.network_passphrase)), ...envelope));
      const expected = Buffer.from(result.signature, "base64").toString("hex");
      assert.equal(sign("ed25519", "CURVE_ED25519", toHex(privateKey), digest), expected, label);
      counts.exact++;
    }
    assert.deepEqual(counts, { exact: 32, excluded: 4 });
  });

  test(`${name}: every signature of BIP-340 over 32 bytes`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    const [, ...lines] = new TextDecoder().decode(vectors.bytes("bitcoin-bips/bip340.csv")).trim().split(/\r?\n/);
    let ran = 0;
    // Excluded: rows without a secret key test verification, which nobody asks of us; other messages are no digests.
    const excluded = { verification: 0, otherLengths: 0 };
    for (const line of lines) {
      const [, secretKey = "", publicKey = "", aux = "", message = "", signature = ""] = line.split(",");
      if (secretKey === "") excluded.verification++;
      else if (message.length !== 64) excluded.otherLengths++;
      else {
        const privateKey = fromHex(secretKey);
        const made = maths.bip340(privateKey, fromHex(message), fromHex(aux));
        assert.equal(toHex(made), signature.toLowerCase());
        const { compressed } = publicKeyOf(maths.keys, "CURVE_SECP256K1", privateKey);
        assert.equal(toHex(compressed.subarray(1)), publicKey.toLowerCase());
        ran++;
      }
    }
    assert.deepEqual({ ran, ...excluded }, { ran: 3, verification: 7, otherLengths: 3 });
  });

  test(`${name}: every key-path signature of BIP-341`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    const file = vectors.json<Bip341File>("bitcoin-bips/bip341-scriptPubKey.json");
    let [ran, whole] = [0, 0];
    for (const { given, intermediary, expected } of file.keyPathSpending.flatMap((group) => group.inputSpending)) {
      const [witness] = expected.witness;
      const sigHash = fromHex(intermediary.sigHash);
      const made = maths.bip340(fromHex(intermediary.tweakedPrivkey), sigHash, new Uint8Array(32));
      assert.equal(toHex(made), witness.slice(0, 128));
      ran++;
      // With a script tree, which our addresses do not have, the tweak is another; the signature above is the same maths.
      if (given.merkleRoot !== null) continue;
      assert.equal(sign("bip340_taproot", "CURVE_SECP256K1", given.internalPrivkey, sigHash), witness.slice(0, 128));
      whole++;
    }
    assert.deepEqual({ ran, whole }, { ran: 7, whole: 1 });
  });
}

function verifies(
  maths: SigningMaths,
  scheme: SignatureScheme,
  curve: Curve,
  privateKey: Uint8Array,
  bytes: Uint8Array,
  { r, s }: { r: Uint8Array; s: Uint8Array },
): boolean {
  const rs = Uint8Array.of(...r, ...s);
  const { compressed } = publicKeyOf(maths.keys, curve, privateKey);
  if (scheme === "ed25519") return ed25519.verify(rs, bytes, compressed, { zip215: false });
  if (scheme === "bip340") return schnorr.verify(rs, bytes, compressed.subarray(1));
  if (scheme === "bip340_taproot") return schnorr.verify(rs, bytes, taprootOutputKey(compressed));
  const library = curve === "CURVE_P256" ? p256 : secp256k1;
  return library.verify(rs, bytes, compressed, { prehash: false, lowS: true });
}

function withLowS(curve: keyof typeof orders, s: string): string {
  const value = BigInt(`0x${s}`);
  return (value > orders[curve] / 2n ? orders[curve] - value : value).toString(16).padStart(64, "0");
}
