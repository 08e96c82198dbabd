/** The operator's act that lists the signer's log in the first organization: committed and released before anything else is. */
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { decodeOpenedLog } from "@keystead/core/log/outside_values.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { equalBytes } from "../../state/digest.ts";
import { findFirstOrganization } from "../../store/across.ts";
import { loadUnreleasedOf } from "../../store/leaves.ts";
import { loadHeaders, loadState } from "../../store/organizations.ts";
import { listLogs } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { Committer } from "../submit/committer.ts";
import { loneRun } from "../submit/run.ts";
import { toLeftover } from "../submit/stored_leaf.ts";
import { toCommitItem } from "../submit/to_commit_item.ts";

export type OpenLogDependencies = { store: Store; link: Pick<SignerLink, "request">; committer: Committer };

/** Other hosts may change the first organization meanwhile. */
const maxAttempts = 20;

export async function openLog({ store, link, committer }: OpenLogDependencies): Promise<void> {
  const checkpoints = (await listLogs(store)).flatMap(({ checkpoint }) => checkpoint ?? []);
  const organizationId = await findFirstOrganization(store);
  let linksFrom: number | undefined;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const state = organizationId === undefined ? undefined : await loadState(store, organizationId);
    if (organizationId === undefined || state === undefined)
      throw new Fault("failed_precondition", "the database does not hold the first organization");
    const { version, header, directory, pages } = state;
    const links = linksFrom === undefined ? [] : await loadHeaders(store, organizationId, linksFrom, version);
    const reply = await link.request("openLog", { state: { header, directory, pages, links }, checkpoints });
    if (reply.kind === "again") {
      linksFrom = reply.value.linksFrom;
      continue;
    }
    const { kind } = await committer.commit(toCommitItem(reply.value), loneRun);
    if (kind === "committed") return;
  }
  throw new Fault("unavailable", "the signer's log could not be listed; try again");
}

/** Releases the act that lists this log, if it waits for that. */
export async function releaseListing({ store, committer }: OpenLogDependencies, logId: Uint8Array): Promise<void> {
  const organizationId = await findFirstOrganization(store);
  if (organizationId === undefined) return;
  for (const leaf of await loadUnreleasedOf(store, organizationId)) {
    if (lists(leaf.leaf, logId)) await committer.release([toLeftover(leaf)]);
  }
}

/** Bytes that are no leaf are the signer's to refuse. */
function lists(marked: Uint8Array, logId: Uint8Array): boolean {
  try {
    const [taken] = decodeLeaf(withoutMac(marked)).outside;
    if (taken?.kind !== "openedLog" || taken.value.kind !== "bytes") return false;
    return equalBytes(decodeOpenedLog(taken.value.value).logId, logId);
  } catch {
    return false;
  }
}
