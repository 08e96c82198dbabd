/** Boot proofs as answers show them, and the names of what runs in a signer. */
import { decodeBootProof } from "@keystead/core/attestation/boot_proof.ts";
import { envelopeOf } from "@keystead/core/attestation/manifest.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { sha256 } from "../state/digest.ts";
import type { BootProofRow } from "../store/boot_proofs.ts";
import { type Dialect, timestamp } from "./dialect.ts";

export type App = { name: string; id: string };

/** What everybody may know of the signer that was started. */
export type PublicBoot = {
  apps: readonly App[];
  /** PEM. */
  attestationRoot: string;
};

/** Programs that the hosted service of this wire runs apart. Here one signer does what all of them do. */
const appNames = ["signer", "notarizer", "ump", "evm-parser"] as const;

/** Their ids, the same on every host of a deployment: from its first organization. */
export function appsOf(firstOrganizationId: string): App[] {
  return appNames.map((name) => ({ name, id: appId(firstOrganizationId, name) }));
}

/** A UUID of version 8 (RFC 9562): ours to fill. */
function appId(firstOrganizationId: string, name: string): string {
  const bytes = sha256(`keystead app id\n${firstOrganizationId}\n${name}`).subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return uuidFromBytes(bytes);
}

export function bootProofView({ proof, loadedFiles }: BootProofRow, dialect: Dialect) {
  const boot = decodeBootProof(proof);
  return dialect.bootProof({
    ephemeralPublicKeyHex: toHex(boot.ephemeralKey),
    cloudAttestationDocB64: base64(boot.document),
    qosManifestB64: base64(boot.manifest),
    qosManifestEnvelopeB64: base64(envelopeOf(boot.manifest, loadedFiles)),
    qosManifestVersion: boot.manifestVersion,
    deploymentLabel: boot.deploymentLabel,
    enclaveApp: boot.app,
    owner: boot.owner,
    createdAt: timestamp(boot.createdAtMs),
  });
}

/** Clients read these with `atob`, which knows the plain alphabet alone. */
function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
