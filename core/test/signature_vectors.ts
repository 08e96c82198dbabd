/** The published signature vectors, run the same way against every implementation of `Curves`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { Curves } from "../src/crypto/curves.ts";
import { parseEcdsaDer } from "../src/encoding/der.ts";
import { fromHex, toHex } from "../src/encoding/hex.ts";
import { Fault } from "../src/fault.ts";
import { findVectors } from "./vectors.ts";

type Case = { tcId: number; comment: string; msg: string; sig: string; result: string };
type EcdsaFile = { testGroups: { publicKey: { uncompressed: string }; tests: Case[] }[] };
type Ed25519File = { testGroups: { publicKey: { pk: string }; tests: Case[] }[] };

/**
 * Every case that Wycheproof calls invalid is refused: there is no list of exceptions. The superfluous zeros that
 * der.ts takes on purpose go up to 33 bytes only, and these files pad further; der.test.ts has the ones we accept.
 */
const ecdsaSuites = [
  { file: "ecdsa_secp256r1_sha256_test.json", curve: "p256", form: "der", cases: 323 },
  { file: "ecdsa_secp256r1_sha256_p1363_test.json", curve: "p256", form: "p1363", cases: 175 },
  { file: "ecdsa_secp256k1_sha256_test.json", curve: "secp256k1", form: "der", cases: 318 },
  { file: "ecdsa_secp256k1_sha256_p1363_test.json", curve: "secp256k1", form: "p1363", cases: 168 },
] as const;

/** Registers the tests for one implementation. */
export function testSignatureVectors(name: string, curves: Curves): void {
  for (const suite of ecdsaSuites) {
    test(`${name}: every verdict of ${suite.file} is right`, (t) => {
      const vectors = findVectors(t);
      if (vectors === undefined) return;
      let ran = 0;
      for (const group of vectors.json<EcdsaFile>(`wycheproof/${suite.file}`).testGroups) {
        const key = curves.compressPoint(suite.curve, fromHex(group.publicKey.uncompressed));
        for (const { tcId, comment, msg, sig, result } of group.tests) {
          const holds = verifyEcdsa(curves, suite, key, fromHex(msg), fromHex(sig));
          assert.equal(holds, result === "valid", `tcId ${tcId}: ${comment}`);
          ran++;
        }
      }
      assert.equal(ran, suite.cases);
    });
  }

  test(`${name}: every verdict of ed25519_test.json is right`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    let ran = 0;
    for (const group of vectors.json<Ed25519File>("wycheproof/ed25519_test.json").testGroups) {
      for (const { tcId, comment, msg, sig, result } of group.tests) {
        const holds = curves.verifyEd25519(fromHex(group.publicKey.pk), fromHex(msg), fromHex(sig));
        assert.equal(holds, result === "valid", `tcId ${tcId}: ${comment}`);
        ran++;
      }
    }
    assert.equal(ran, 101);
  });

  test(`${name}: the Ed25519 signatures of the original implementation verify, and over another message do not`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type Row = { publicKey: string; message: string; signature: string };
    const rows = vectors.json<Row[]>("signatures-extra/ed25519-djb-sign.json");
    for (const row of rows) {
      const [key, message, signature] = [fromHex(row.publicKey), fromHex(row.message), fromHex(row.signature)];
      assert.ok(curves.verifyEd25519(key, message, signature), row.publicKey);
      assert.ok(!curves.verifyEd25519(key, Uint8Array.of(...message, 0), signature), row.publicKey);
    }
    assert.equal(rows.length, 171);
  });

  test(`${name}: the secp256k1 signatures of secp256k1-ecdsa-sign.json verify, with s low and with s high`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type File = { valid: { d: string; m: string; signature: string }[] };
    const { valid } = vectors.json<File>("signatures-extra/secp256k1-ecdsa-sign.json");
    for (const { d, m, signature } of valid) {
      const key = secp256k1.getPublicKey(fromHex(d), true);
      const [digest, rs] = [fromHex(m), fromHex(signature)];
      assert.ok(curves.verifySecp256k1(key, digest, rs), m);
      assert.ok(curves.verifySecp256k1(key, digest, withOtherS(rs)), m);
      assert.ok(!curves.verifySecp256k1(key, curves.sha256(digest), rs), m);
    }
    assert.equal(valid.length, 169);
  });

  test(`${name}: a signature made with the published RFC 6979 nonce verifies`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type Row = { message: string; d: string; k0: string };
    const rows = vectors.json<Row[]>("signatures-extra/secp256k1-rfc6979.json");
    for (const { message, d, k0 } of rows) {
      const digest = curves.sha256(new TextEncoder().encode(message));
      const rs = secp256k1.sign(digest, fromHex(d), { prehash: false });
      // The file publishes nonces: the r of a deterministic signature is the x of that nonce's point.
      const nonce = secp256k1.getPublicKey(fromHex(k0), true);
      assert.equal(toHex(rs.subarray(0, 32)), toHex(nonce.subarray(1)), message);
      assert.ok(curves.verifySecp256k1(secp256k1.getPublicKey(fromHex(d), true), digest, rs), message);
    }
    assert.equal(rows.length, 7);
  });
}

type EcdsaSuite = (typeof ecdsaSuites)[number];

function verifyEcdsa(
  curves: Curves,
  suite: EcdsaSuite,
  key: Uint8Array,
  message: Uint8Array,
  sig: Uint8Array,
): boolean {
  const signature = suite.form === "der" ? parseOrUndefined(sig) : sig;
  if (signature === undefined) return false;
  if (suite.curve === "p256") return curves.verifyP256(key, message, signature);
  return curves.verifySecp256k1(key, curves.sha256(message), signature);
}

/** A signature may be refused by the parser or by the verifier; only our own refusal counts as one. */
function parseOrUndefined(der: Uint8Array): Uint8Array | undefined {
  try {
    return parseEcdsaDer(der);
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === "invalid_argument");
    return undefined;
  }
}

/** The same signature with s replaced by n - s: whoever does not normalise sends either. */
function withOtherS(rs: Uint8Array): Uint8Array {
  const s = secp256k1.Point.Fn.fromBytes(rs.subarray(32));
  return Uint8Array.of(...rs.subarray(0, 32), ...secp256k1.Point.Fn.toBytes(secp256k1.Point.Fn.neg(s)));
}
