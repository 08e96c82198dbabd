/**
 * The first messages between gateway and signer: the deployment's keyring, or a new one at the first start. Returns the public keys.
 * `meanwhile` is called while the signer opens the keyring, which takes it tens of milliseconds.
 */
import { Fault } from "@keystead/core/fault.ts";
import { protocolVersion } from "../frames/frame.ts";
import { findDeployment } from "../store/across.ts";
import type { Store } from "../store/store.ts";
import type { SignerLink } from "./link/signer_link.ts";
import type { Committer } from "./submit/committer.ts";
import { loneRun } from "./submit/run.ts";
import { toCommitItem } from "./submit/to_commit_item.ts";

export async function joinSigner(
  store: Store,
  link: SignerLink,
  committer: Committer,
  isAccepting: boolean,
  meanwhile: () => void = () => undefined,
): Promise<Record<string, string>> {
  let keyring = await findDeployment(store);
  const asked = link.request("hello", { protocol: protocolVersion, keyring });
  // Frames leave at the end of the turn in which they were written.
  setImmediate(meanwhile);
  let hello = await asked;
  if (keyring === undefined) {
    const prepared = await link.request("birth", {});
    // A gateway beside this one may have been faster; then its keyring is the deployment's.
    await committer.commit(toCommitItem(prepared), loneRun);
    keyring = await findDeployment(store);
    hello = await link.request("hello", { protocol: protocolVersion, keyring });
  }
  if (!hello.remembers && !isAccepting) {
    throw new Fault(
      "failed_precondition",
      "the signer's memory is empty, but the database is not: make sure of the database, then run `npx keystead accept-database`",
    );
  }
  return JSON.parse(hello.publicKeys);
}
