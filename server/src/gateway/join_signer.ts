/** The first messages between gateway and signer: the deployment's keyring, or a new one at the first start, and the record of this start. */
import { Fault } from "@keystead/core/fault.ts";
import { protocolVersion } from "../frames/frame.ts";
import { findDeployment } from "../store/across.ts";
import type { Store } from "../store/store.ts";
import type { PublicBoot } from "../views/boot_proof_view.ts";
import type { SignerLink } from "./link/signer_link.ts";
import { recordBoot } from "./record_boot.ts";
import type { Committer } from "./submit/committer.ts";
import { loneRun } from "./submit/run.ts";
import { toCommitItem } from "./submit/to_commit_item.ts";

/** What the signer is joined for. Only one that serves has its start recorded: an operator's order ends with its report. */
export type JoinMode = "serving" | "accepting" | "working";

export type JoinedSigner = {
  publicKeys: Record<string, string>;
  /** Of a signer that serves. */
  boot: PublicBoot | undefined;
};

export async function joinSigner(
  store: Store,
  link: SignerLink,
  committer: Committer,
  mode: JoinMode,
): Promise<JoinedSigner> {
  let keyring = await findDeployment(store);
  let hello = await link.request("hello", { protocol: protocolVersion, keyring });
  if (keyring === undefined) {
    const prepared = await link.request("birth", {});
    // A gateway beside this one may have been faster; then its keyring is the deployment's.
    await committer.commit(toCommitItem(prepared), loneRun);
    keyring = await findDeployment(store);
    hello = await link.request("hello", { protocol: protocolVersion, keyring });
  }
  if (!hello.remembers && mode !== "accepting") {
    throw new Fault(
      "failed_precondition",
      "the signer's memory is empty, but the database is not: make sure of the database, then run `npx keystead accept-database`",
    );
  }
  const publicKeys: Record<string, string> = JSON.parse(hello.publicKeys);
  return { publicKeys, boot: mode === "serving" ? await recordBoot(store, link, committer) : undefined };
}
