/** What the tables and the pages say about activities, put together for one reader. */
import { rightsOf } from "../rules/votes.ts";
import { decodePage } from "../state/pages.ts";
import { type ActivityRow, findActivity, listVotes } from "../store/activities.ts";
import { loadVotes } from "../store/activity_lists.ts";
import { findPage } from "../store/organizations.ts";
import type { Store } from "../store/store.ts";
import { type ActivityRecord, noRights, type Rights, type StoredVote } from "./activity_view.ts";

export const waitingStatus = "ACTIVITY_STATUS_CONSENSUS_NEEDED";

export async function readActivity(
  store: Store,
  organizationId: string,
  row: ActivityRow,
  readerId: string,
): Promise<ActivityRecord> {
  const later = await listVotes(store, organizationId, row.activityId);
  const rights = await readRights(store, organizationId, [row], readerId);
  const record = { organizationId, row, votes: votesOf(row, later), rights: rights(row) };
  if (row.status !== waitingStatus) return record;
  // A vote between these reads may have ended it, and votes are of another moment than the row. What is over stays so.
  const latest = await findActivity(store, organizationId, row.activityId);
  if (latest === undefined || latest.status === row.status) return record;
  return readActivity(store, organizationId, latest, readerId);
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
  return rows.map((row) => ({
    organizationId,
    row,
    votes: votesOf(row, later.get(row.activityId) ?? []),
    rights: rights(row),
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
  if (!rows.some(({ status }) => status === waitingStatus)) return () => noRights;
  const [pending, members] = await Promise.all([
    findPage(store, organizationId, "pending"),
    findPage(store, organizationId, "members"),
  ]);
  if (pending === undefined || members === undefined) return () => noRights;
  const [pendingPage, membersPage, nowMs] = [
    decodePage("pending", pending),
    decodePage("members", members),
    Date.now(),
  ];
  return ({ status, fingerprint }) => {
    const waiting = status === waitingStatus ? pendingPage.get(fingerprint) : undefined;
    return waiting === undefined ? noRights : rightsOf(membersPage, waiting, readerId, nowMs);
  };
}
