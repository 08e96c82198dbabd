/** The first messages between gateway and signer: the deployment's keyring, or a new one at the first start. Returns the public keys. */
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
): Promise<Record<string, string>> {
  let keyring = await findDeployment(store);
  let hello = await link.request("hello", { protocol: protocolVersion, keyring });
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
