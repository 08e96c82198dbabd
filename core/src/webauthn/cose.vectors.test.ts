/** The CBOR and COSE vectors. COSE_Sign itself is no part of the product: it is put together here from parts that are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { findVectors } from "../../test/vectors.ts";
import { type CborNode, writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { fromBase64url } from "../encoding/base64url.ts";
import { type CborValue, fromCbor, isCborMap } from "../encoding/cbor.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { readCoseKey } from "./cose_key.ts";

type Row = { hex: string; decoded?: unknown; diagnostic?: string };

function toJson(value: CborValue): unknown {
  if (isCborMap(value)) return Object.fromEntries([...value].map(([key, item]) => [key, toJson(item)]));
  if (Array.isArray(value)) return value.map(toJson);
  return typeof value === "bigint" ? Number(value) : value; // JSON.parse has rounded the expected one just so.
}

function toDiagnostic(value: CborValue): string {
  if (value instanceof Uint8Array) return `h'${toHex(value)}'`;
  if (!isCborMap(value)) return String(value);
  return `{${[...value].map(([key, item]) => `${key}: ${toDiagnostic(item)}`).join(", ")}}`;
}

test("RFC 8949, appendix A: what WebAuthn uses is read, and the rest is refused by its name", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts: Record<string, number> = {};
  for (const row of vectors.json<Row[]>("cbor-cose/cbor-appendix_a.json")) {
    let outcome = "read";
    try {
      const value = fromCbor(fromHex(row.hex));
      if ("decoded" in row) assert.deepEqual(toJson(value), row.decoded, row.hex);
      else assert.equal(toDiagnostic(value), row.diagnostic, row.hex);
    } catch (error) {
      assert.ok(error instanceof Fault, `${error}`);
      outcome = error.message;
    }
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(counts, {
    read: 25,
    "malformed CBOR: a float": 15,
    "malformed CBOR: a simple value other than false, true and null": 3,
    "malformed CBOR: a tag": 5,
    "malformed CBOR: a length that is left open": 7,
  });
});

type Key = { kty: string; crv: string; x?: string; y?: string; x_hex?: string };
type Signer = { key: Key; external?: string };
type Vector = {
  fail?: boolean;
  input: { sign0?: Signer; sign?: { signers: Signer[] } };
  output: { cbor: string };
};

/** RFC 9053: the numbers of key types and curves. */
const keyTypes: Record<string, number> = { OKP: 1, EC: 2 };
const keyCurves: Record<string, number> = { "P-256": 1, "P-384": 2, "P-521": 3, Ed25519: 6 };

function coseKey({ kty, crv, x, y, x_hex }: Key, algorithm: CborNode): CborValue {
  const coordinates: [number, Uint8Array][] = [[-2, x_hex === undefined ? fromBase64url(x ?? "") : fromHex(x_hex)]];
  if (y !== undefined) coordinates.push([-3, fromBase64url(y)]);
  const type: [number, number][] = [
    [1, keyTypes[kty] ?? 0],
    [-1, keyCurves[crv] ?? 0],
  ];
  return fromCbor(writeCbor({ pairs: [...type, [3, algorithm], ...coordinates] }));
}

/** By tag: one signature, or a list of signers of whom these vectors have one each. */
const forms = [
  { tag: "d2", context: "Signature1" },
  { tag: "d862", context: "Signature" },
] as const;

/** Our reader takes no tags, so the outermost one is taken off here. */
function verifyCose({ input, output }: Vector): boolean {
  const text = output.cbor.toLowerCase();
  const form = forms.find(({ tag }) => text.startsWith(tag));
  const signer = input.sign0 ?? input.sign?.signers[0];
  if (form === undefined || signer === undefined)
    throw new Fault("invalid_argument", "neither COSE_Sign1 nor COSE_Sign");
  const [protectedBody, openBody, payload, last] = fromCbor(fromHex(text.slice(form.tag.length))) as CborValue[];
  const isOne = form.context === "Signature1";
  const [protectedSigner, open, signature] = isOne
    ? [protectedBody, openBody, last]
    : ((last as CborValue[])[0] as CborValue[]);
  const algorithm =
    [protectedSigner, open]
      .map(headers)
      .find((map) => map.has(1))
      ?.get(1) ?? null;
  const key = readCoseKey(nodeCurves, coseKey(signer.key, algorithm as CborNode));
  const emptied = (bytes: CborValue | undefined) =>
    bytes instanceof Uint8Array && headers(bytes).size > 0 ? bytes : new Uint8Array();
  const message = writeCbor([
    form.context,
    emptied(protectedBody),
    ...(isOne ? [] : [emptied(protectedSigner)]),
    fromHex(signer.external ?? ""),
    payload as Uint8Array,
  ]);
  return nodeCurves.verifyP256(key.publicKey, message, signature as Uint8Array);
}

function headers(part: CborValue | undefined): ReadonlyMap<unknown, CborValue> {
  if (part instanceof Uint8Array && part.length > 0) return headers(fromCbor(part));
  return isCborMap(part) ? part : new Map();
}

test("COSE: ES256 has the published verdicts, and every other algorithm is refused as unsupported", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const files = [
    ...vectors.names("cbor-cose/cose/ecdsa-examples").map((name) => `cbor-cose/cose/ecdsa-examples/${name}`),
    ...vectors.names("cbor-cose/cose/eddsa-examples").map((name) => `cbor-cose/cose/eddsa-examples/${name}`),
    ...vectors.names("cbor-cose/cose/sign1-tests").map((name) => `cbor-cose/cose/sign1-tests/${name}`),
  ];
  const counts = { verified: 0, failed: 0, unsupported: 0 };
  for (const file of files) {
    const vector: Vector = vectors.json(file);
    try {
      const holds = verifyCose(vector);
      assert.equal(holds, vector.fail !== true, file);
      counts[holds ? "verified" : "failed"]++;
    } catch (error) {
      assert.ok(error instanceof Fault && error.code === "invalid_argument", `${file}: ${error}`);
      const isUnsupported = error.message.startsWith("unsupported algorithm -");
      assert.ok(isUnsupported || vector.fail, `${file}: ${error}`);
      counts[isUnsupported ? "unsupported" : "failed"]++;
    }
  }
  t.diagnostic(JSON.stringify(counts));
  assert.deepEqual(counts, { verified: 4, failed: 4, unsupported: 6 });
});
