/** All published COSE signatures, put together with our writer and verified by their own algorithms; ES384 goes through our verifier. */
import assert from "node:assert/strict";
import { createPublicKey, type JsonWebKeyInput, verify } from "node:crypto";
import { test } from "node:test";
import { findVectors } from "../../test/vectors.ts";
import { fromBase64url, toBase64url } from "../encoding/base64url.ts";
import { type CborValue, fromCbor, isCborMap } from "../encoding/cbor.ts";
import { toCbor } from "../encoding/cbor_writer.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { coseSignedBytes, readCoseSign1, verifyCoseSign1, writeCoseSign1 } from "./cose_sign1.ts";
import { nobleP384, nobleP384Signer } from "./noble_p384.ts";

type Row = { hex: string; roundtrip: boolean };

test("RFC 8949, appendix A: what our reader takes is written as it was", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { same: 0, unread: 0, other: 0 };
  for (const { hex, roundtrip } of vectors.json<Row[]>("cbor-cose/cbor-appendix_a.json")) {
    let value: CborValue;
    try {
      value = fromCbor(fromHex(hex));
    } catch (error) {
      assert.ok(error instanceof Fault);
      counts.unread++;
      continue;
    }
    const isSame = toHex(toCbor(value)) === hex;
    assert.equal(isSame, roundtrip, hex);
    counts[isSame ? "same" : "other"]++;
  }
  assert.deepEqual(counts, { same: 25, unread: 30, other: 0 });
});

type Key = { kty: string; crv: string; x?: string; y?: string; d?: string; x_hex?: string };
type Signer = { key: Key; external?: string };
type Vector = { fail?: boolean; input: { sign0?: Signer; sign?: { signers: Signer[] } }; output: { cbor: string } };

/** RFC 9053: the hash of each algorithm; EdDSA has its own. */
const hashes: Record<string, string | null> = { "-7": "sha256", "-35": "sha384", "-36": "sha512", "-8": null };

function headers(part: CborValue | undefined): ReadonlyMap<unknown, CborValue> {
  if (part instanceof Uint8Array && part.length > 0) return headers(fromCbor(part));
  return isCborMap(part) ? part : new Map();
}

/** Our reader takes no tags, so the outermost one is taken off here. */
function verifyVector({ input, output }: Vector): boolean {
  const text = output.cbor.toLowerCase();
  const signer = input.sign0 ?? input.sign?.signers[0];
  const tag = input.sign0 === undefined ? "d862" : "d2";
  if (signer === undefined || !text.startsWith(tag)) return false;
  const [body, open, payload, last] = fromCbor(fromHex(text.slice(tag.length))) as CborValue[];
  const own = input.sign0 === undefined ? ((last as CborValue[])[0] as CborValue[]) : [body, open, last];
  const algorithm = headers(own[0]).get(1) ?? headers(own[1]).get(1);
  const hash = hashes[String(algorithm)];
  if (hash === undefined) return false;
  const emptied = (part: CborValue | undefined) => (headers(part).size > 0 ? (part as Uint8Array) : new Uint8Array());
  const external = fromHex(signer.external ?? "");
  const message =
    input.sign0 === undefined
      ? toCbor(["Signature", emptied(body), emptied(own[0]), external, payload as Uint8Array])
      : coseSignedBytes(emptied(body), payload as Uint8Array, external);
  const { x_hex, ...key } = signer.key;
  const jwk = x_hex === undefined ? key : { ...key, x: toBase64url(fromHex(x_hex)) };
  const publicKey = createPublicKey({ key: jwk as JsonWebKeyInput["key"], format: "jwk" });
  return verify(hash, message, { key: publicKey, dsaEncoding: "ieee-p1363" }, own[2] as Uint8Array);
}

test("COSE: all fourteen signatures have their published verdicts", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { verified: 0, failed: 0 };
  for (const folder of ["ecdsa-examples", "eddsa-examples", "sign1-tests"]) {
    for (const name of vectors.names(`cbor-cose/cose/${folder}`)) {
      const vector: Vector = vectors.json(`cbor-cose/cose/${folder}/${name}`);
      const holds = verifyVector(vector);
      assert.equal(holds, vector.fail !== true, name);
      counts[holds ? "verified" : "failed"]++;
    }
  }
  assert.deepEqual(counts, { verified: 10, failed: 4 });
  t.diagnostic(`published COSE signatures: ${counts.verified} verify, ${counts.failed} do not, as they should`);
});

test("COSE: our reader takes none of them, since none is an untagged COSE_Sign1 with ES384", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  let refused = 0;
  for (const folder of ["ecdsa-examples", "eddsa-examples", "sign1-tests"]) {
    for (const name of vectors.names(`cbor-cose/cose/${folder}`)) {
      const { output }: Vector = vectors.json(`cbor-cose/cose/${folder}/${name}`);
      const cbor = output.cbor.toLowerCase();
      for (const bytes of [fromHex(cbor), fromHex(cbor.replace(/^(d2|d862|d903e6)/, ""))]) {
        assert.throws(() => readCoseSign1(bytes), { name: "Fault", code: "invalid_argument" });
        refused++;
      }
    }
  }
  assert.equal(refused, 28);
});

test("COSE: the published P-384 key signs and verifies in our form", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { input }: Vector = vectors.json("cbor-cose/cose/ecdsa-examples/ecdsa-02.json");
  const key = input.sign?.signers[0]?.key;
  const signer = nobleP384Signer(fromBase64url(key?.d ?? ""));
  assert.equal(toHex(signer.publicKey), `04${toHex(fromBase64url(key?.x ?? ""))}${toHex(fromBase64url(key?.y ?? ""))}`);
  const bytes = writeCoseSign1(signer, new TextEncoder().encode("This is the content."));
  assert.ok(toHex(bytes).startsWith("8444a1013822a054"), "untagged, ES384, no open header");
  assert.ok(verifyCoseSign1(nobleP384, signer.publicKey, readCoseSign1(bytes)));
  assert.deepEqual(writeCoseSign1(signer, new TextEncoder().encode("This is the content.")), bytes);
});
