/** The kinds of API key, and the one spelling under which each public key is stored and looked up. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { isPointEncoding, type PointCompression, type PointCurve } from "./curves.ts";
import { isStrongEd25519Point } from "./ed25519_key.ts";

export type ApiKeyCurve = "API_KEY_CURVE_P256" | "API_KEY_CURVE_SECP256K1" | "API_KEY_CURVE_ED25519";

export type ApiKeyCurveRow = {
  credentialType: string;
  /** Whether the bytes have the stored form already. Says nothing about being on the curve. */
  isStoredForm(bytes: Uint8Array): boolean;
  /** The stored form of a key that is on its curve and safe to trust; throws `invalid_argument` otherwise. */
  normalise(curves: PointCompression, bytes: Uint8Array): Uint8Array;
};

/** One row per `curveType` of the wire. */
export const apiKeyCurves = {
  API_KEY_CURVE_P256: { credentialType: "CREDENTIAL_TYPE_API_KEY_P256", ...compressedPoint("p256") },
  API_KEY_CURVE_SECP256K1: { credentialType: "CREDENTIAL_TYPE_API_KEY_SECP256K1", ...compressedPoint("secp256k1") },
  API_KEY_CURVE_ED25519: {
    credentialType: "CREDENTIAL_TYPE_API_KEY_ED25519",
    isStoredForm: (bytes) => bytes.length === 32,
    normalise: (_curves, bytes) => checkedEd25519(bytes),
  },
} as const satisfies Record<ApiKeyCurve, ApiKeyCurveRow>;

function compressedPoint(curve: PointCurve): Pick<ApiKeyCurveRow, "isStoredForm" | "normalise"> {
  return {
    isStoredForm: (bytes) => bytes.length === 33 && isPointEncoding(bytes),
    normalise: (curves, bytes) => curves.compressPoint(curve, bytes),
  };
}

/** Neither OpenSSL nor `Curves` decodes an Ed25519 point, and registering is rare: noble's answer will do everywhere. */
function checkedEd25519(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== 32) throw new Fault("invalid_argument", "malformed public key: an ED25519 key has 32 bytes");
  if (!isStrongEd25519Point(bytes)) {
    throw new Fault("invalid_argument", "malformed public key: a small-order or non-canonical ED25519 key");
  }
  try {
    ed25519.Point.fromBytes(bytes);
  } catch (cause) {
    throw new Fault("invalid_argument", "malformed public key: not a point of its curve", { cause });
  }
  return bytes;
}

/** Turns the hex a client registers into the stored form: lower case, and compressed where the curve has that. */
export function normalisePublicKey(curves: PointCompression, curve: ApiKeyCurve, hex: string): string {
  const row: ApiKeyCurveRow = apiKeyCurves[curve];
  let bytes: Uint8Array;
  try {
    bytes = fromHex(hex);
  } catch (cause) {
    throw new Fault("invalid_argument", "malformed public key: not hex", { cause });
  }
  return toHex(row.normalise(curves, bytes));
}
