/** Shows the signer every organization's head, on the operator's order; the signer says what that sets back. */
import { Fault } from "@keystead/core/fault.ts";
import type { Prepared } from "../../frames/messages.ts";
import { listHeads } from "../../store/across.ts";
import { commitGroup } from "../../store/commit.ts";
import { type JoinLogDependencies, joinLog } from "../log/join_log.ts";
import { listedLogs } from "../log/listed_logs.ts";
import { openLog } from "../log/open_log.ts";
import { toStoredLeaf } from "../submit/stored_leaf.ts";
import { toCommitItem } from "../submit/to_commit_item.ts";

const headsAtOnce = 1_000;

export async function acceptDatabase(dependencies: JoinLogDependencies): Promise<string[]> {
  const { store, link } = dependencies;
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
    await conclude(dependencies, reply.leaf);
    return [
      ...lines,
      `accepted the database as it is: ${count} organization(s)`,
      await logLine(dependencies).catch(() => "the log has ended, and another follows it"),
    ];
  }
}

/** Witnesses cosign only the logs that they were given: without the new key they fall silent. */
async function logLine({ store, places: { logId = "" } }: JoinLogDependencies): Promise<string> {
  const ended = (await listedLogs(store))?.get(logId)?.previous?.logId;
  const what = ended === undefined ? "the log has ended" : `log ${ended} has ended`;
  return (
    `${what}, and log ${logId} follows it: start the server and give your witnesses its \`vkey\` ` +
    "from /.well-known/keystead.json"
  );
}

/** The acceptance has ended the signer's log. The act that lists the next is released before it; it comes second. */
async function conclude(dependencies: JoinLogDependencies, leaf: Prepared): Promise<void> {
  const { store, committer } = dependencies;
  const item = toCommitItem(leaf);
  const { committed } = await commitGroup(store, [item], []);
  if (committed[0] !== true) throw new Fault("aborted", "the database changed meanwhile; stop every gateway first");
  await openLog(dependencies);
  const [outcome] = await committer.release([toStoredLeaf(item)]);
  if (outcome?.kind !== "released")
    throw new Fault("unavailable", outcome?.message ?? "the signer did not release the acceptance");
  await joinLog(dependencies, { serves: false });
}
