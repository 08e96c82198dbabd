/** Public keys of passkeys as authenticators write them: COSE_Key maps (RFC 9052, section 7) of ES256 or RS256. */
import type { PointCompression } from "../crypto/curves.ts";
import { checkRsaPublicKey, toSpki } from "../crypto/rsa_public_key.ts";
import { type CborMap, type CborValue, isCborMap } from "../encoding/cbor.ts";
import { Fault } from "../fault.ts";

export type PasskeyAlgorithm = "ES256" | "RS256";

/** `publicKey` is the stored form: a compressed point of 33 bytes, or the SubjectPublicKeyInfo of an RSA key. */
export type PasskeyKey = { algorithm: PasskeyAlgorithm; publicKey: Uint8Array };

type AlgorithmRow = {
  /** Its number in the registry of COSE. */
  cose: number;
  keyType: number;
  /** How many parameters such a key has. WebAuthn forbids optional ones: `d`, for example, would be the private key. */
  parameters: number;
  read(curves: PointCompression, key: CborMap): Uint8Array;
};

/** One row per algorithm: the two that the published clients ask authenticators for. */
export const passkeyAlgorithms = {
  ES256: { cose: -7, keyType: 2, parameters: 5, read: readP256 },
  RS256: { cose: -257, keyType: 3, parameters: 4, read: readRsa },
} as const satisfies Record<PasskeyAlgorithm, AlgorithmRow>;

const names = Object.keys(passkeyAlgorithms) as PasskeyAlgorithm[];

/** The labels of COSE_Key; those below zero mean something else for each key type. */
const label = { keyType: 1, algorithm: 3, curve: -1, x: -2, y: -3, modulus: -1, exponent: -2 } as const;
const p256 = 1;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed public key: ${why}`);
}

/** The stored form of a key that is safe to trust; throws `invalid_argument` otherwise. */
export function readCoseKey(curves: PointCompression, key: CborValue | undefined): PasskeyKey {
  if (!isCborMap(key)) throw malformed("not a COSE key");
  const cose = key.get(label.algorithm);
  const algorithm = names.find((name) => passkeyAlgorithms[name].cose === cose);
  if (algorithm === undefined) throw unsupported(cose);
  const row: AlgorithmRow = passkeyAlgorithms[algorithm];
  if (key.get(label.keyType) !== row.keyType) throw malformed(`a key type other than that of ${algorithm}`);
  if (key.size !== row.parameters) throw malformed("a COSE key with missing or further parameters");
  return { algorithm, publicKey: row.read(curves, key) };
}

function unsupported(cose: CborValue | undefined): Fault {
  if (typeof cose !== "number" && typeof cose !== "bigint") return malformed("a COSE key without an algorithm");
  const ours = names.map((name) => `${passkeyAlgorithms[name].cose} (${name})`).join(" and ");
  return new Fault("invalid_argument", `unsupported algorithm ${cose}: passkeys are made with ${ours}`);
}

function readP256(curves: PointCompression, key: CborMap): Uint8Array {
  if (key.get(label.curve) !== p256) throw malformed("a curve other than P-256");
  const [x, y] = [key.get(label.x), key.get(label.y)];
  // A compressed point would have a boolean for y, which WebAuthn forbids.
  if (!(x instanceof Uint8Array) || !(y instanceof Uint8Array) || x.length !== 32 || y.length !== 32) {
    throw malformed("a P-256 point has two coordinates of 32 bytes");
  }
  const point = new Uint8Array(65);
  point[0] = 4;
  point.set(x, 1);
  point.set(y, 33);
  return curves.compressPoint("p256", point);
}

function readRsa(_curves: PointCompression, key: CborMap): Uint8Array {
  const [modulus, exponent] = [key.get(label.modulus), key.get(label.exponent)];
  if (!(modulus instanceof Uint8Array) || !(exponent instanceof Uint8Array)) {
    throw malformed("an RSA key has a modulus and an exponent");
  }
  checkRsaPublicKey({ modulus, exponent });
  return toSpki({ modulus, exponent });
}
