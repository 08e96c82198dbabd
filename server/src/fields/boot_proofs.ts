/** Boot proofs as answers show them. */
import { Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

const base64 = (description: string) => Type.String({ description: `${description} In base64.` });

export const bootProof = Type.Object({
  ephemeralPublicKeyHex: Type.String({
    description: "The keys of this start in hex: one for encryption, then one for signing, 65 bytes each.",
  }),
  cloudAttestationDocB64: base64("The attestation document, a COSE_Sign1. It is made by software and says so."),
  qosManifestB64: base64("The manifest, whose SHA-256 the document names."),
  qosManifestEnvelopeB64: base64(
    "The manifest with the list of loaded files, and its approvals, of which there are none.",
  ),
  qosManifestVersion: Type.String({ description: "Format of the manifest." }),
  deploymentLabel: Type.String({ description: "`software-attestation`." }),
  enclaveApp: Type.String({ description: "Program that was started." }),
  owner: Type.String({ description: "Who runs it." }),
  createdAt: timestamp,
});
