/** The judge's own reading of a stamp, by the published rules, and its own check of the signature: OpenSSL, and noble for EIP-191. */
import { createHash, createPublicKey, ECDH, type KeyObject, verify } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { readStrictJson } from "./read_json.ts";

export type JudgedCurve = "P-256" | "secp256k1" | "Ed25519";

export type ReadStamp = {
  curve: JudgedCurve;
  /** Lower-case hex, compressed where the curve has that. */
  publicKey: string;
  holds(body: Buffer): boolean;
};

type Scheme = {
  curve: JudgedCurve;
  holds(key: KeyObject, body: Buffer, signature: Buffer, publicKey: string): boolean;
};

const ecdsa = (key: KeyObject, body: Buffer, rs: Buffer) =>
  verify("sha256", body, { key, dsaEncoding: "ieee-p1363" }, rs);

const schemes = new Map<string, Scheme>([
  ["SIGNATURE_SCHEME_TK_API_P256", { curve: "P-256", holds: ecdsa }],
  ["SIGNATURE_SCHEME_TK_API_SECP256K1", { curve: "secp256k1", holds: ecdsa }],
  ["SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191", { curve: "secp256k1", holds: holdsEip191 }],
  [
    "SIGNATURE_SCHEME_TK_API_ED25519",
    { curve: "Ed25519", holds: (key, body, signature) => verify(null, body, key, signature) },
  ],
]);

function holdsEip191(_: KeyObject, body: Buffer, rs: Buffer, publicKey: string): boolean {
  const digest = createHash("keccak-256").update(`\x19Ethereum Signed Message:\n${body.length}`).update(body).digest();
  try {
    return secp256k1.verify(rs, digest, Buffer.from(publicKey, "hex"), { prehash: false, lowS: false });
  } catch {
    return false;
  }
}

/** Undefined for what is no stamp. */
export function readStamp(header: string): ReadStamp | undefined {
  const json = header.length > 32 * 1024 ? undefined : readBase64(header);
  const fields = json === undefined || marksOf(json) > 1_000 ? undefined : readStrictJson(json);
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) return undefined;
  const { publicKey, scheme, signature } = fields;
  if (typeof publicKey !== "string" || typeof scheme !== "string" || typeof signature !== "string") return undefined;
  const row = schemes.get(scheme);
  const point = readHex(publicKey);
  const written = readHex(signature);
  if (row === undefined || point === undefined || written === undefined) return undefined;
  const key = row.curve === "Ed25519" ? point : readPoint(row.curve, point);
  const bare = row.curve === "Ed25519" ? written : readDer(written);
  if (key === undefined || bare === undefined || bare.length !== 64) return undefined;
  if (row.curve === "Ed25519" && key.length !== 32) return undefined;
  const hex = key.toString("hex");
  return {
    curve: row.curve,
    publicKey: hex,
    holds(body) {
      const imported = importKey(row.curve, hex);
      return imported !== undefined && row.holds(imported, body, bare, hex);
    },
  };
}

/** Brackets, commas and colons: nobody needs many of them. */
function marksOf(json: Buffer): number {
  return json
    .toString("latin1")
    .replace(/"(?:[^"\\]|\\.)*"/g, "")
    .replace(/[^[\]{},:]/g, "").length;
}

/** One alphabet, padding whole or left out, and no bits left over. */
function readBase64(text: string): Buffer | undefined {
  const [, digits = "", padding = ""] = /^([A-Za-z0-9_-]*|[A-Za-z0-9+/]*)(={0,2})$/.exec(text) ?? [];
  if (digits === "" || digits.length % 4 === 1) return undefined;
  if (padding !== "" && (digits.length + padding.length) % 4 !== 0) return undefined;
  const bytes = Buffer.from(digits, "base64");
  const plain = digits.replaceAll("-", "+").replaceAll("_", "/");
  return bytes.toString("base64").replace(/=+$/, "") === plain ? bytes : undefined;
}

function readHex(text: string): Buffer | undefined {
  return /^(?:[0-9a-fA-F]{2})+$/.test(text) ? Buffer.from(text, "hex") : undefined;
}

/** SEQUENCE of two INTEGERs in short form, of at most 33 bytes, never negative; leading zeros are forgiven. Gives r and s in 32 bytes each. */
function readDer(bytes: Buffer): Buffer | undefined {
  if (bytes[0] !== 0x30 || bytes[1] !== bytes.length - 2) return undefined;
  const integers: Buffer[] = [];
  let at = 2;
  while (at < bytes.length) {
    const length = bytes[at + 1] ?? 0;
    const digits = bytes.subarray(at + 2, at + 2 + length);
    if (bytes[at] !== 0x02 || length === 0 || length > 33 || digits.length !== length) return undefined;
    const value = BigInt(`0x${digits.toString("hex")}`);
    if ((digits[0] ?? 0) > 0x7f || value >= 2n ** 256n) return undefined;
    integers.push(Buffer.from(value.toString(16).padStart(64, "0"), "hex"));
    at += 2 + length;
  }
  return integers.length === 2 ? Buffer.concat(integers) : undefined;
}

const opensslNames = { "P-256": "prime256v1", secp256k1: "secp256k1" } as const;

/** The compressed form of a compressed or uncompressed point. */
function readPoint(curve: "P-256" | "secp256k1", bytes: Buffer): Buffer | undefined {
  if (bytes.length === 33 && (bytes[0] === 2 || bytes[0] === 3)) return bytes;
  if (bytes.length !== 65 || bytes[0] !== 4) return undefined;
  try {
    return ECDH.convertKey(bytes, opensslNames[curve], undefined, undefined, "compressed") as Buffer;
  } catch {
    return undefined;
  }
}

const imported = new Map<string, KeyObject | undefined>();

function importKey(curve: JudgedCurve, hex: string): KeyObject | undefined {
  const name = `${curve} ${hex}`;
  if (!imported.has(name)) imported.set(name, importAnew(curve, hex));
  return imported.get(name);
}

function importAnew(curve: JudgedCurve, hex: string): KeyObject | undefined {
  try {
    if (curve === "Ed25519") {
      const x = Buffer.from(hex, "hex").toString("base64url");
      return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    }
    const point = ECDH.convertKey(hex, opensslNames[curve], "hex", undefined, "uncompressed") as Buffer;
    const x = point.subarray(1, 33).toString("base64url");
    const y = point.subarray(33).toString("base64url");
    return createPublicKey({ key: { kty: "EC", crv: curve, x, y }, format: "jwk" });
  } catch {
    return undefined;
  }
}
