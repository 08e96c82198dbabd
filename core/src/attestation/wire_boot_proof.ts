/** A boot proof as the API answers it, read back into its bytes. */
import { fromBase64url } from "../encoding/base64url.ts";
import { sameBytes } from "../encoding/bytes.ts";
import { fromHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import type { BootProof } from "./boot_proof.ts";
import { readEnvelope } from "./manifest.ts";

/** The document has two names on the wire, which end alike. */
const documentName = /^[a-z]+AttestationDocB64$/;

/** The list of loaded files is in the envelope, whose manifest must be the other one. */
export function bootProofFromWire(value: unknown): { proof: BootProof; loadedFiles: Uint8Array } {
  const fields = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const documents = Object.keys(fields).filter((name) => documentName.test(name));
  if (documents.length !== 1) throw malformed("it has not exactly one attestation document");
  const text = (name: string): string => {
    const found = fields[name];
    if (typeof found !== "string") throw malformed(`\`${name}\` is not text`);
    return found;
  };
  const manifest = fromBase64url(text("qosManifestB64"));
  const envelope = readEnvelope(fromBase64url(text("qosManifestEnvelopeB64")));
  if (!sameBytes(envelope.manifest, manifest)) throw malformed("its envelope holds another manifest");
  return {
    proof: {
      ephemeralKey: fromHex(text("ephemeralPublicKeyHex")),
      document: fromBase64url(text(documents[0] ?? "")),
      manifest,
      manifestVersion: text("qosManifestVersion"),
      deploymentLabel: text("deploymentLabel"),
      app: text("enclaveApp"),
      owner: text("owner"),
      createdAtMs: readTime(fields.createdAt),
    },
    loadedFiles: envelope.loadedFiles,
  };
}

function readTime(value: unknown): number {
  const { seconds, nanos } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  if (!isDigits(seconds) || !isDigits(nanos)) throw malformed("`createdAt` is not a time");
  return Number(seconds) * 1000 + Math.floor(Number(nanos) / 1_000_000);
}

function isDigits(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,15}$/.test(value);
}

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed boot proof: ${why}`);
}
