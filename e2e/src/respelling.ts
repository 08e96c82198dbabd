/** Other spellings of the same signature or key, as real clients and attackers write them. */
import { ECDH } from "node:crypto";
import { parseEcdsaDer, toEcdsaDer } from "@keystead/core/encoding/der.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";

export type PointCurve = "p256" | "secp256k1";

const orders: Record<PointCurve, bigint> = {
  p256: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  secp256k1: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
};

/** The other s that verifies: n − s. Our own signer makes the lower one. */
export function highS(curve: PointCurve, signature: string): string {
  const rs = parseEcdsaDer(fromHex(signature));
  const s = orders[curve] - BigInt(`0x${toHex(rs.subarray(32))}`);
  return toHex(toEcdsaDer(fromHex(toHex(rs.subarray(0, 32)) + s.toString(16).padStart(64, "0"))));
}

/** DER whose integers are never shortened: at least `length` bytes each, 33 where the sign bit demands it. */
export function paddedDer(rs: Uint8Array, length: 32 | 33): Uint8Array {
  const integer = (value: Uint8Array) =>
    length === 33 || (value[0] ?? 0) > 0x7f ? [0x02, 33, 0, ...value] : [0x02, 32, ...value];
  const content = [...integer(rs.subarray(0, 32)), ...integer(rs.subarray(32))];
  return Uint8Array.of(0x30, content.length, ...content);
}

/** The 65-byte form of a compressed point, in hex. */
export function uncompressed(curve: PointCurve, publicKey: string): string {
  const name = curve === "p256" ? "prime256v1" : "secp256k1";
  return ECDH.convertKey(publicKey, name, "hex", "hex", "uncompressed") as string;
}
