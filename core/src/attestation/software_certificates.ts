/** The three certificates of software attestation. Whoever prints one reads that no hardware stands behind it. */
import type { Curves } from "../crypto/curves.ts";
import { writeCertificate } from "./certificate.ts";
import { type CertificateName, noEndMs } from "./certificate_words.ts";
import type { P384Signer } from "./p384.ts";

export const softwareWords = {
  root: "software attestation, not a TEE",
  intermediate: "software attestation of one start, not a TEE",
  document: "software attestation document, not a TEE",
} as const;

/** Before any deployment was made. Fixed, so that the root's certificate is the same at every start. */
const rootStartMs = Date.UTC(2025, 0, 1);

type Hash = Pick<Curves, "sha256">;

function nameOf(kind: keyof typeof softwareWords, unit: string): CertificateName {
  return { organization: "Keystead", unit, commonName: softwareWords[kind] };
}

/** Signed by itself. With a signer that is deterministic it has one spelling. */
export function writeRootCertificate(hash: Hash, deploymentId: string, root: P384Signer): Uint8Array<ArrayBuffer> {
  const name = nameOf("root", deploymentId);
  return writeCertificate(
    hash,
    { name, signer: root },
    {
      subject: name,
      publicKey: root.publicKey,
      notBeforeMs: rootStartMs,
      notAfterMs: noEndMs,
      authoritiesBelow: 1,
    },
  );
}

export type BootCertificates = { intermediate: Uint8Array; document: Uint8Array };

/** Two keys that are made for one start and forgotten with it. They have no end: old proofs are checked for ever. */
export function writeBootCertificates(
  hash: Hash,
  deploymentId: string,
  instance: string,
  signers: { root: P384Signer; intermediate: P384Signer; document: P384Signer },
  timeMs: number,
): BootCertificates {
  const times = { notBeforeMs: Math.floor(timeMs / 1000) * 1000, notAfterMs: noEndMs };
  const [rootName, intermediateName] = [nameOf("root", deploymentId), nameOf("intermediate", instance)];
  return {
    intermediate: writeCertificate(
      hash,
      { name: rootName, signer: signers.root },
      {
        subject: intermediateName,
        publicKey: signers.intermediate.publicKey,
        authoritiesBelow: 0,
        ...times,
      },
    ),
    document: writeCertificate(
      hash,
      { name: intermediateName, signer: signers.intermediate },
      {
        subject: nameOf("document", instance),
        publicKey: signers.document.publicKey,
        authoritiesBelow: undefined,
        ...times,
      },
    ),
  };
}
