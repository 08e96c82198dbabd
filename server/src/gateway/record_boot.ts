/**
 * Has the start of the joined signer written down: its leaf and its boot proof are committed together and released, before anything else
 * of that start is. A signer that cannot say so yet (its clock) is asked again by whoever joins it.
 */
import { decodeBootProof } from "@keystead/core/attestation/boot_proof.ts";
import { certificatePem } from "@keystead/core/attestation/certificate.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { sha256 } from "../state/digest.ts";
import { findBootProof } from "../store/across.ts";
import type { CommitItem } from "../store/commit_item.ts";
import type { Store } from "../store/store.ts";
import { appsOf, type PublicBoot } from "../views/boot_proof_view.ts";
import type { SignerLink } from "./link/signer_link.ts";
import type { Committer } from "./submit/committer.ts";
import { loneRun } from "./submit/run.ts";
import { toCommitItem } from "./submit/to_commit_item.ts";

/** It may be in one group with another's item that must be prepared anew, and then is not written either. */
const maxAttempts = 20;

export async function recordBoot(store: Store, link: SignerLink, committer: Committer): Promise<PublicBoot> {
  const { prepared, proof, loadedFiles, rootCertificate } = await link.request("boot", {});
  const { ephemeralKey, createdAtMs } = decodeBootProof(proof);
  const key = toHex(ephemeralKey);
  // The same signer may be joined again: then its leaf is there, and whatever is not released yet is released with the leftovers.
  if ((await findBootProof(store, key)) === undefined) {
    const files = { digest: toHex(sha256(loadedFiles)), list: loadedFiles };
    await commit(committer, {
      ...toCommitItem(prepared),
      bootProof: { ephemeralKey: key, proof, createdAtMs, files },
    });
  }
  return { apps: appsOf(prepared.organizationId), attestationRoot: certificatePem(rootCertificate) };
}

/** It was decided on no state, so it stands on any. */
async function commit(committer: Committer, item: CommitItem): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const outcome = await committer.commit({ ...item, expectedVersion: undefined }, loneRun);
    if (outcome.kind === "committed") return;
  }
  throw new Fault("unavailable", "the start of the signer could not be recorded; it is tried again");
}
