/**
 * Who vouches for a start of the signer. There is one kind so far, and it is software: it says that the deployment's own root vouches for
 * itself. Hardware that measures the process (a TPM, an enclave) would be another value of this type.
 */
import { generateKeyPairSync } from "node:crypto";
import { softwarePcrs, writeAttestationPayload } from "@keystead/core/attestation/attestation_document.ts";
import { softwareLabel, softwareModule } from "@keystead/core/attestation/boot_proof.ts";
import { writeCoseSign1 } from "@keystead/core/attestation/cose_sign1.ts";
import { writeBootCertificates } from "@keystead/core/attestation/software_certificates.ts";
import { nodeP384, nodeP384Signer } from "../../curves/node_p384.ts";
import { sha256 } from "../../state/digest.ts";
import type { AttestationRoot } from "../secrets/attestation_root.ts";

export type Attested = {
  /** 130 bytes. */
  ephemeralKey: Uint8Array;
  manifest: Uint8Array;
  timeMs: number;
};

export type Attestor = {
  /** What its proofs are labelled with. */
  readonly label: string;
  /** The root that its documents lead to, DER. */
  readonly rootCertificate: Uint8Array;
  /** The document, as a COSE_Sign1. */
  attest(attested: Attested): Uint8Array;
};

/** The two keys below the root are made for one document, and forgotten when it is signed. */
export function createSoftwareAttestor(
  { signer: root, certificate }: AttestationRoot,
  deploymentId: string,
  instance: string,
): Attestor {
  const newSigner = () => nodeP384Signer(generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey);
  return {
    label: softwareLabel,
    rootCertificate: certificate,
    attest({ ephemeralKey, manifest, timeMs }) {
      const signers = { root, intermediate: newSigner(), document: newSigner() };
      const certificates = writeBootCertificates({ sha256 }, deploymentId, instance, signers, timeMs);
      const userData = sha256(manifest);
      const payload = writeAttestationPayload({
        moduleId: `${softwareModule}${instance}`,
        timestampMs: timeMs,
        pcrs: softwarePcrs(nodeP384, userData, ephemeralKey),
        certificate: certificates.document,
        authorities: [certificate, certificates.intermediate],
        publicKey: ephemeralKey,
        userData,
      });
      return writeCoseSign1(signers.document, payload);
    },
  };
}
