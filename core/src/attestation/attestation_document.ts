/** The attestation document: what an attestor says about one process, as a CBOR map inside a COSE_Sign1 (SPEC.md). */
import { type CborMap, type CborValue, fromCbor, isCborMap } from "../encoding/cbor.ts";
import { toCbor } from "../encoding/cbor_writer.ts";
import { toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import type { P384 } from "./p384.ts";

export const pcrCount = 32;
export const pcrLength = 48;
/** The register that names the manifest and the ephemeral key. */
export const livePcr = 17;
/** Encryption key and signing key, 65 bytes each. */
export const ephemeralKeyLength = 130;

export type AttestationDocument = {
  moduleId: string;
  timestampMs: number;
  /** 32 registers of 48 bytes. */
  pcrs: readonly Uint8Array[];
  certificate: Uint8Array;
  /** The root first. */
  authorities: readonly Uint8Array[];
  publicKey: Uint8Array;
  /** SHA-256 of the manifest. */
  userData: Uint8Array;
};

export function writeAttestationPayload(document: AttestationDocument): Uint8Array<ArrayBuffer> {
  return toCbor(
    new Map<string, CborValue>([
      ["module_id", document.moduleId],
      ["digest", "SHA384"],
      ["timestamp", document.timestampMs],
      ["pcrs", new Map(document.pcrs.map((pcr, index) => [index, pcr]))],
      ["certificate", document.certificate],
      ["cabundle", document.authorities],
      ["public_key", document.publicKey],
      ["user_data", document.userData],
      ["nonce", null],
    ]),
  );
}

const fields = [
  "module_id",
  "digest",
  "timestamp",
  "pcrs",
  "certificate",
  "cabundle",
  "public_key",
  "user_data",
  "nonce",
];

export function readAttestationPayload(payload: Uint8Array): AttestationDocument {
  const map = fromCbor(payload);
  if (!isCborMap(map) || map.size !== fields.length || !fields.every((name) => map.has(name))) {
    throw malformed("not the fields of an attestation document");
  }
  const { module_id, digest, timestamp, cabundle, nonce } = Object.fromEntries(map) as Record<string, CborValue>;
  if (typeof module_id !== "string") throw malformed("`module_id` is not text");
  if (digest !== "SHA384") throw malformed("`digest` is not SHA384");
  if (typeof timestamp !== "number" || timestamp < 0) throw malformed("`timestamp` is not a time");
  if (nonce !== null) throw malformed("`nonce` is not null");
  if (!Array.isArray(cabundle) || cabundle.length === 0 || cabundle.length > 8) {
    throw malformed("`cabundle` is not a list of certificates");
  }
  return {
    moduleId: module_id,
    timestampMs: timestamp,
    pcrs: readPcrs(map.get("pcrs")),
    certificate: bytesOf(map, "certificate"),
    authorities: cabundle.map((item) => {
      if (!(item instanceof Uint8Array)) throw malformed("`cabundle` is not a list of certificates");
      return item;
    }),
    publicKey: bytesOf(map, "public_key", ephemeralKeyLength),
    userData: bytesOf(map, "user_data", 32),
  };
}

/** What register 17 holds: it binds the ephemeral key to the manifest a second time, as hardware does that runs such a system. */
export function livePcrOf({ sha384 }: P384, manifestDigest: Uint8Array, ephemeralKey: Uint8Array): Uint8Array {
  const commitment = JSON.stringify({
    domain: "qos-live-manifest-pcr-commitment-v1",
    ephemeralPublicKey: toHex(ephemeralKey),
    manifestHash: toHex(manifestDigest),
  });
  const extended = new Uint8Array(2 * pcrLength);
  extended.set(sha384(new TextEncoder().encode(commitment)), pcrLength);
  return sha384(extended);
}

/** All registers of a process that no hardware has measured: zero, as those of an enclave in debug mode, but for 17. */
export function softwarePcrs(curve: P384, manifestDigest: Uint8Array, ephemeralKey: Uint8Array): Uint8Array[] {
  return Array.from({ length: pcrCount }, (_, index) =>
    index === livePcr ? livePcrOf(curve, manifestDigest, ephemeralKey) : new Uint8Array(pcrLength),
  );
}

function readPcrs(value: CborValue | undefined): Uint8Array[] {
  if (!isCborMap(value) || value.size !== pcrCount) throw malformed(`not ${pcrCount} registers`);
  return Array.from({ length: pcrCount }, (_, index) => {
    const pcr = value.get(index);
    if (!(pcr instanceof Uint8Array) || pcr.length !== pcrLength) throw malformed(`register ${index} is not 48 bytes`);
    return pcr;
  });
}

function bytesOf(map: CborMap, name: string, length?: number): Uint8Array {
  const value = map.get(name);
  if (!(value instanceof Uint8Array)) throw malformed(`\`${name}\` is not a byte string`);
  if (length !== undefined && value.length !== length) throw malformed(`\`${name}\` is not ${length} bytes long`);
  return value;
}

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed attestation document: ${why}`);
}
