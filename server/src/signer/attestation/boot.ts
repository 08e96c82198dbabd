/** The leaf of this start, its boot proof, and what the leaf discloses. Made once: a gateway that asks again gets the same. */
import { type BootProof, encodeBootProof } from "@keystead/core/attestation/boot_proof.ts";
import { manifestVersion, writeManifest } from "@keystead/core/attestation/manifest.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { barePrepared } from "../../frames/bare_prepared.ts";
import type { Reply } from "../../frames/messages.ts";
import { encodeBootOrder } from "../../rules/boot_order.ts";
import { sha256 } from "../../state/digest.ts";
import type { Signer } from "../decision/signer.ts";
import { operatorLeaf } from "../operator/operator_leaf.ts";
import { deploymentName } from "../secrets/keyring.ts";
import { createSoftwareAttestor } from "./attestor.ts";

/** What the process runs. */
export type Measured = {
  /** The list of `core/src/attestation/loaded_files.ts`. */
  loadedFiles: Uint8Array;
  /** Node's flags, without those that name folders. */
  args: readonly string[];
};

/** Who runs this signer. The wire has a field for it, and a deployment has no other name that everybody may read. */
const owner = "operator";

const app = "signer";

/** Once for each deployment that this process has joined: the first may have lost the race to be the database's. */
export function createBoot(measured: Measured, firstOrganizationId: string): (signer: Signer) => Reply<"boot"> {
  const made = new Map<string, Reply<"boot">>();
  return (signer) => {
    const deploymentId = deploymentName(signer.keyring);
    const reply = made.get(deploymentId) ?? prepareBoot(signer, measured, firstOrganizationId);
    made.set(deploymentId, reply);
    return reply;
  };
}

function prepareBoot(signer: Signer, measured: Measured, organizationId: string): Reply<"boot"> {
  const timeMs = signer.now();
  const { certificate } = signer.keyring.attestationRoot();
  const proof = encodeBootProof(proveBoot(signer, measured, timeMs));
  const order = encodeBootOrder(signer);
  const { boot, number, leaf } = operatorLeaf(signer, {
    event: "BOOTED",
    organizationId: uuidToBytes(organizationId),
    fingerprint: sha256(order),
    timeMs,
    decidedOn: undefined,
    header: undefined,
    outcome: sha256(proof),
  });
  return {
    prepared: {
      ...barePrepared,
      organizationId,
      // It is decided on no state, so the gateway takes the version that it finds.
      expectedVersion: 0,
      expectedHeader: undefined,
      disclosed: [order],
      boot,
      number,
      leaf,
    },
    proof,
    loadedFiles: measured.loadedFiles,
    rootCertificate: certificate,
  };
}

function proveBoot(signer: Signer, { loadedFiles, args }: Measured, timeMs: number): BootProof {
  const { keyring, boot, ephemeral } = signer;
  const deploymentId = deploymentName(keyring);
  const attestor = createSoftwareAttestor(keyring.attestationRoot(), deploymentId, toHex(boot));
  const { clientSecretEncryption, signer: signingKey } = keyring.publicKeys;
  const manifest = writeManifest({
    deploymentId,
    quorumKey: fromHex(clientSecretEncryption + signingKey),
    pivotHash: sha256(loadedFiles),
    args,
    rootCertificate: attestor.rootCertificate,
  });
  return {
    ephemeralKey: ephemeral.publicKey,
    document: attestor.attest({ ephemeralKey: ephemeral.publicKey, manifest, timeMs }),
    manifest,
    manifestVersion,
    deploymentLabel: attestor.label,
    app,
    owner,
    createdAtMs: timeMs,
  };
}
