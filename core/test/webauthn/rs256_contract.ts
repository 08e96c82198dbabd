/** What every implementation of RS256 promises: the published vectors, and false instead of an exception. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Rs256, toSpki } from "../../src/crypto/rsa_public_key.ts";
import { fromHex } from "../../src/encoding/hex.ts";
import { findVectors } from "../vectors.ts";

type Case = { tcId: number; comment: string; msg: string; sig: string; result: string };
type File = { testGroups: { publicKeyDer: string; keyJwk: { n: string; e: string }; tests: Case[] }[] };

/** Registers the tests for one implementation. */
export function testRs256Contract(name: string, { verifyRs256 }: Rs256): void {
  test(`${name}: every verdict of rsa_signature_2048_sha256_test.json is right`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    const ran = { valid: 0, invalid: 0, acceptable: 0 };
    for (const { publicKeyDer, keyJwk, tests } of vectors.json<File>("wycheproof/rsa_signature_2048_sha256_test.json")
      .testGroups) {
      const [modulus, exponent] = [keyJwk.n, keyJwk.e].map((text) => Uint8Array.fromBase64(text, url));
      const key = toSpki({ modulus: modulus ?? new Uint8Array(), exponent: exponent ?? new Uint8Array() });
      assert.deepEqual(key, fromHex(publicKeyDer), "the key as Wycheproof writes it");
      for (const { tcId, comment, msg, sig, result } of tests) {
        // The one acceptable case leaves out a NULL that the standard demands. Two hosts must not judge it differently.
        assert.equal(verifyRs256(key, fromHex(msg), fromHex(sig)), result === "valid", `tcId ${tcId}: ${comment}`);
        ran[result as keyof typeof ran]++;
      }
    }
    assert.deepEqual(ran, { valid: 6, invalid: 166, acceptable: 1 });
  });

  test(`${name}: RS256 answers false to keys and signatures that are none`, () => {
    const point = fromHex("3059301306072a8648ce3d020106082a8648ce3d03010703420004");
    const spki = toSpki({ modulus: new Uint8Array(256).fill(0xff), exponent: Uint8Array.of(1, 0, 1) });
    for (const key of [
      new Uint8Array(),
      new Uint8Array(33),
      point,
      spki.subarray(1),
      spki,
      Uint8Array.of(...spki, 0),
    ]) {
      for (const length of [0, 1, 255, 256, 257]) {
        assert.equal(verifyRs256(key, Uint8Array.of(1), new Uint8Array(length).fill(1)), false);
      }
    }
  });
}

const url = { alphabet: "base64url" } as const;
