/** Shows the signer every organization's head, on the operator's order; the signer says what that sets back. */
import { Fault } from "@keystead/core/fault.ts";
import { listHeads } from "../../store/across.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { Committer } from "../submit/committer.ts";
import { loneRun } from "../submit/run.ts";
import { toCommitItem } from "../submit/to_commit_item.ts";

const headsAtOnce = 1_000;

export async function acceptDatabase(store: Store, link: SignerLink, committer: Committer): Promise<string[]> {
  const lines: string[] = [];
  let after: string | undefined;
  let count = 0;
  for (;;) {
    const heads = await listHeads(store, after, headsAtOnce);
    const last = heads.length < headsAtOnce;
    const reply = await link.request("accept", { headers: heads.map(({ header }) => header), last });
    lines.push(...reply.lines);
    count += heads.length;
    after = heads.at(-1)?.organizationId;
    if (!last) continue;
    if (reply.leaf === undefined)
      throw new Fault("failed_precondition", "the database does not hold the first organization");
    const outcome = await committer.commit(toCommitItem(reply.leaf), loneRun);
    if (outcome.kind === "conflict")
      throw new Fault("aborted", "the database changed meanwhile; stop every gateway first");
    return [...lines, `accepted the database as it is: ${count} organization(s)`];
  }
}
