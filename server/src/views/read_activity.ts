/** What the tables and the pages say about activities, put together for one reader. */
import { Fault } from "@keystead/core/fault.ts";
import type { ActivityForm } from "../endpoints/define_activity.ts";
import { readBody, readEnvelope } from "../endpoints/envelope.ts";
import { activityForms } from "../generated/activities.ts";
import { rightsOf } from "../rules/authorise.ts";
import { rootMembers } from "../rules/votes.ts";
import { decodePage } from "../state/pages.ts";
import { type ActivityRow, findActivity, listVotes } from "../store/activities.ts";
import { loadVotes } from "../store/activity_lists.ts";
import { loadAppProofs } from "../store/app_proofs.ts";
import { findPage } from "../store/organizations.ts";
import { inSnapshot } from "../store/snapshot.ts";
import type { Store } from "../store/store.ts";
import { type ActivityRecord, noRights, type Rights, type StoredVote } from "./activity_view.ts";
import { appProofsOf, mayHaveAppProofs } from "./app_proofs_view.ts";
import { noSources, readDecisionPages, readSources } from "./decision_sources.ts";

export const waitingStatus = "ACTIVITY_STATUS_CONSENSUS_NEEDED";

/**
 * One that waits is read anew, with its votes and its organization's pages, all of one moment: a vote between them would show in
 * one of them and not in the others. What is over stays as it is.
 */
export async function readActivity(
  store: Store,
  organizationId: string,
  row: ActivityRow,
  readerId: string,
): Promise<ActivityRecord> {
  if (row.status !== waitingStatus) return readRecord(store, organizationId, row, readerId);
  return inSnapshot(store, async (snapshot) => {
    const latest = await findActivity(snapshot, organizationId, row.activityId);
    return readRecord(snapshot, organizationId, latest ?? row, readerId);
  });
}

async function readRecord(
  store: Store,
  organizationId: string,
  row: ActivityRow,
  readerId: string,
): Promise<ActivityRecord> {
  const later = await listVotes(store, organizationId, row.activityId);
  const rights = await readRights(store, organizationId, [row], readerId);
  return { organizationId, row, votes: votesOf(row, later), rights: rights(row) };
}

/** Several of one organization: votes and pages are read once for all. */
export async function readActivities(
  store: Store,
  organizationId: string,
  rows: readonly ActivityRow[],
  readerId: string,
): Promise<ActivityRecord[]> {
  const activityIds = rows.map(({ activityId }) => activityId);
  const later = await loadVotes(store, organizationId, activityIds);
  const rights = await readRights(store, organizationId, rows, readerId);
  const proven = rows.filter(mayHaveAppProofs).map(({ activityId }) => activityId);
  const proofs = new Map(
    (await loadAppProofs(store, organizationId, proven)).map((stored) => [stored.activityId, stored.proofs]),
  );
  return rows.map((row) => ({
    organizationId,
    row,
    votes: votesOf(row, later.get(row.activityId) ?? []),
    rights: rights(row),
    // Lists show what is open. Who asks for one activity has it opened.
    appProofs: appProofsOf(proofs.get(row.activityId)),
  }));
}

function votesOf({ votes }: ActivityRow, later: readonly string[]): StoredVote[] {
  return [...(JSON.parse(votes) as StoredVote[]), ...later.map((vote) => JSON.parse(vote) as StoredVote)];
}

async function readRights(
  store: Store,
  organizationId: string,
  rows: readonly ActivityRow[],
  readerId: string,
): Promise<(row: ActivityRow) => Rights> {
  const waitingRows = rows.filter(({ status }) => status === waitingStatus);
  if (waitingRows.length === 0) return () => noRights;
  const [pendingBytes, pages] = await Promise.all([
    findPage(store, organizationId, "pending"),
    readDecisionPages(store, organizationId),
  ]);
  if (pendingBytes === undefined || pages === undefined) return () => noRights;
  const pending = decodePage("pending", pendingBytes);
  const nowMs = Date.now();
  // The quorum's members may vote on everything, and without policies nobody else may on anything.
  const asksPolicies = pages.policies.size > 0 && !rootMembers(pages.members).includes(readerId);
  const rights = new Map<ActivityRow, Rights>();
  for (const row of waitingRows) {
    const waiting = pending.get(row.fingerprint);
    if (waiting === undefined) continue;
    const { form, params } = readIntent(row.body);
    const sources = asksPolicies ? await readSources(store, organizationId, pages, form, params) : noSources(pages);
    const { proposerId, approvals } = waiting;
    rights.set(
      row,
      rightsOf({ ...sources, pages, form, params, proposerId, approvals, isWaiting: true, nowMs }, readerId),
    );
  }
  return (row) => rights.get(row) ?? noRights;
}

/** What a stored body asks for. It was validated when it was submitted. */
function readIntent(body: Uint8Array): { form: ActivityForm; params: unknown } {
  const { type, parameters } = readEnvelope(readBody(body));
  const form = activityForms.get(type);
  if (form === undefined) throw new Fault("internal", `a stored activity has the unknown type ${type}`);
  return { form, params: form.translate(parameters) };
}
