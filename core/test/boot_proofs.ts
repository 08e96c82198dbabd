/** A boot proof made in process, with all keys at hand: what tests bend. */
import { p256, p384 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { type AppProof, appProofScheme } from "../src/attestation/app_proof.ts";
import {
  type AttestationDocument,
  softwarePcrs,
  writeAttestationPayload,
} from "../src/attestation/attestation_document.ts";
import { type BootProof, softwareLabel, softwareModule } from "../src/attestation/boot_proof.ts";
import { writeCoseSign1 } from "../src/attestation/cose_sign1.ts";
import { type LoadedFile, writeLoadedFiles } from "../src/attestation/loaded_files.ts";
import { envelopeOf, manifestVersion, writeManifest } from "../src/attestation/manifest.ts";
import { nobleP384, nobleP384Signer } from "../src/attestation/noble_p384.ts";
import type { P384Signer } from "../src/attestation/p384.ts";
import { writeBootCertificates, writeRootCertificate } from "../src/attestation/software_certificates.ts";
import { nobleCurves } from "../src/crypto/noble_curves.ts";
import { toHex } from "../src/encoding/hex.ts";

export const attestationCrypto = { ...nobleP384, sha256 };

const oneFile = { path: "server/src/signer/main.ts", digest: toHex(sha256(Uint8Array.of(1))) };
const deploymentId = "11111111-2222-4333-8444-555555555555";
const timeMs = Date.UTC(2026, 5, 1, 12);

export type MadeProof = {
  root: Uint8Array;
  bootProof: BootProof;
  appProof: AppProof;
  loadedFiles: Uint8Array;
  signers: { root: P384Signer; intermediate: P384Signer; document: P384Signer };
  /** An app proof of another payload, by the same key. */
  sign(payload: object): AppProof;
  /** The proof with another document, signed by the right key. */
  withDocument(change: Partial<AttestationDocument>): BootProof;
};

export function makeProof(files: readonly LoadedFile[] = [oneFile]): MadeProof {
  const signer = () => nobleP384Signer(p384.utils.randomSecretKey());
  const signers = { root: signer(), intermediate: signer(), document: signer() };
  const root = writeRootCertificate(nobleCurves, deploymentId, signers.root);
  const certificates = writeBootCertificates(nobleCurves, deploymentId, "00ff", signers, timeMs);
  const [encryptionKey, signingKey] = [p256.utils.randomSecretKey(), p256.utils.randomSecretKey()];
  const ephemeralKey = Uint8Array.of(
    ...p256.getPublicKey(encryptionKey, false),
    ...p256.getPublicKey(signingKey, false),
  );
  const loadedFiles = writeLoadedFiles(files);
  const manifest = writeManifest({
    deploymentId,
    quorumKey: ephemeralKey,
    pivotHash: sha256(loadedFiles),
    args: ["--permission"],
    rootCertificate: root,
  });
  const document: AttestationDocument = {
    moduleId: `${softwareModule}00ff`,
    timestampMs: timeMs,
    pcrs: softwarePcrs(nobleP384, sha256(manifest), ephemeralKey),
    certificate: certificates.document,
    authorities: [root, certificates.intermediate],
    publicKey: ephemeralKey,
    userData: sha256(manifest),
  };
  const bootProof: BootProof = {
    ephemeralKey,
    document: writeCoseSign1(signers.document, writeAttestationPayload(document)),
    manifest,
    manifestVersion,
    deploymentLabel: softwareLabel,
    app: "signer",
    owner: "operator",
    createdAtMs: timeMs,
  };
  const sign = (payload: object) => signAppProof(ephemeralKey, signingKey, payload);
  return {
    root,
    bootProof,
    appProof: sign({ type: "APP_PROOF_TYPE_TEST", timestampMs: String(timeMs) }),
    sign,
    loadedFiles,
    signers,
    withDocument: (change) => ({
      ...bootProof,
      document: writeCoseSign1(signers.document, writeAttestationPayload({ ...document, ...change })),
    }),
  };
}

export function signAppProof(ephemeralKey: Uint8Array, signingKey: Uint8Array, payload: object): AppProof {
  const proofPayload = JSON.stringify(payload);
  const signature = p256.sign(new TextEncoder().encode(proofPayload), signingKey, { prehash: true, lowS: false });
  return { scheme: appProofScheme, publicKey: toHex(ephemeralKey), proofPayload, signature: toHex(signature) };
}

/** As the API answers it. */
export function wireOf(proof: BootProof, loadedFiles: Uint8Array) {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  return {
    ephemeralPublicKeyHex: toHex(proof.ephemeralKey),
    cloudAttestationDocB64: base64(proof.document),
    qosManifestB64: base64(proof.manifest),
    qosManifestEnvelopeB64: base64(envelopeOf(proof.manifest, loadedFiles)),
    qosManifestVersion: proof.manifestVersion,
    deploymentLabel: proof.deploymentLabel,
    enclaveApp: proof.app,
    owner: proof.owner,
    createdAt: { seconds: String(Math.floor(proof.createdAtMs / 1000)), nanos: `${proof.createdAtMs % 1000}000000` },
  };
}
