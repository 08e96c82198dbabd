/**
 * The boot proof: what a signer shows about one of its starts. Its bytes are what the leaf `BOOTED` names by their SHA-256. The list of
 * loaded files is named by the manifest and lies beside it; the envelope is made of both.
 */
import { bytes, decode, encode, fixed, struct, text, u8, u64, type ValueOf } from "../encoding/layout.ts";
import { Fault } from "../fault.ts";
import { ephemeralKeyLength } from "./attestation_document.ts";

const bootProofLayout = struct({
  format: u8,
  /** Encryption key and signing key, 65 bytes each. */
  ephemeralKey: fixed(ephemeralKeyLength),
  /** COSE_Sign1 */
  document: bytes,
  manifest: bytes,
  manifestVersion: text,
  deploymentLabel: text,
  app: text,
  owner: text,
  createdAtMs: u64,
});

export type BootProof = Omit<ValueOf<typeof bootProofLayout>, "format">;

/** In every place where a reader may look, it says that no hardware stands behind it. */
export const softwareLabel = "software-attestation";
export const softwareModule = "software-attestor:";

const format = 1;

export function encodeBootProof(proof: BootProof): Uint8Array<ArrayBuffer> {
  return encode(bootProofLayout, { format, ...proof });
}

export function decodeBootProof(encoded: Uint8Array): BootProof {
  const { format: found, ...proof } = decode(bootProofLayout, encoded);
  if (found !== format) throw new Fault("invalid_argument", `unknown format ${found} of a boot proof`);
  return proof;
}
