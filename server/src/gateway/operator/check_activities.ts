/**
 * Activities and votes against the leaves that tell of them. A leaf holds the digests of the body and of what came of it, and the
 * stamp of whoever sent it: a row that says anything else was changed.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { isOperatorEvent } from "@keystead/core/log/leaf_words.ts";
import { parseFingerprint } from "../../fields/fingerprint.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import { findJournalIn, slotOf } from "../../state/journal.ts";
import { ownHeaderOf } from "../../state/leaf_header.ts";
import type { PendingPage } from "../../state/pages.ts";
import { differingColumns } from "../../store/projection.ts";
import {
  activitiesWithoutLeaf,
  deleteRow,
  type Inside,
  insertRow,
  miscountedVotes,
  rowsWith,
  updateRow,
} from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import { waitingStatus } from "../../views/read_activity.ts";
import type { Findings } from "./check_findings.ts";
import { voteOf } from "./check_votes.ts";
import type { LeafCheck, LeafInRow } from "./leaf_check.ts";

type ActivityRow = Tables["activities"];

/** What a portion of leaves says about activities. */
export async function checkActivities(check: LeafCheck, leaves: readonly LeafInRow[]): Promise<void> {
  const { tx, organizationId, waitingSince, findings } = check;
  const told = leaves.filter(({ leaf }) => !isOperatorEvent(leaf.event));
  const ids = [...new Set(told.map(({ leaf }) => uuidFromBytes(leaf.activityId)))];
  const rows = await rowsWith(tx, "activities", organizationId, "activity_id", ids);
  const votes = await rowsWith(tx, "votes", organizationId, "activity_id", ids);
  const sealed = await rowsWith(tx, "sealed_bodies", organizationId, "activity_id", ids);
  const byId = new Map(rows.map((row) => [row.activity_id, row]));
  const digests = new Map<string, Uint8Array>();
  for (const each of told) {
    const activityId = uuidFromBytes(each.leaf.activityId);
    const since = waitingSince.get(activityId);
    if (since !== undefined) waitingSince.set(activityId, Math.max(since, versionOf(each.leaf) ?? 0));
    const row = byId.get(activityId);
    if (row === undefined) {
      findings.lost(`activities ${activityId}: its row is missing`);
      continue;
    }
    const later = votes.filter(({ activity_id }) => activity_id === activityId);
    let digest = digests.get(activityId);
    if (digest === undefined) {
      const box = sealed.find(({ activity_id }) => activity_id === activityId);
      digest = await bodyDigest(check, row, box);
      digests.set(activityId, digest);
    }
    await checkRow(check, each, row, digest);
    const vote = voteOf(each.leaf, row, digest, later);
    if (vote !== undefined) findings.lost(vote);
  }
}

const isOver = ({ event }: Leaf) => event === "COMPLETED" || event === "FAILED" || event === "REJECTED";

/** The digest of the stamped bytes, as far as the row has them: itself, or in the signer's box beside their shown form. */
async function bodyDigest(
  { tx, vouching, organizationId, findings }: LeafCheck,
  row: ActivityRow,
  box: Tables["sealed_bodies"] | undefined,
): Promise<Uint8Array> {
  const digest = sha256(row.body);
  if (box === undefined) return digest;
  const name = `sealed_bodies ${row.activity_id}`;
  if (toHex(digest) === row.fingerprint) {
    if (findings.differs(`${name}: its body is open already`)) await deleteRow(tx, "sealed_bodies", box);
    return digest;
  }
  const fingerprint = parseFingerprint(`sha256:${row.fingerprint}`);
  if (fingerprint === undefined) return digest;
  const asked = { organizationId, fingerprint: fromHex(fingerprint), sealed: box.sealed };
  const [own] = await vouching.bodies([asked]);
  if (own === undefined || !equalBytes(own.shown, digest)) return digest;
  if (box.ends_at_ms !== own.endsAtMs && findings.differs(`${name}: ends_at_ms not as sealed`)) {
    await updateRow(tx, "sealed_bodies", box, { ends_at_ms: own.endsAtMs });
  }
  return asked.fingerprint;
}

async function checkRow(check: LeafCheck, told: LeafInRow, row: ActivityRow, digest: Uint8Array): Promise<void> {
  const { tx, findings } = check;
  const { leaf } = told;
  const name = `activities ${row.activity_id}`;
  if (!equalBytes(digest, leaf.fingerprint)) {
    findings.lost(`${name}: its body was changed`);
    return;
  }
  const expected: Partial<ActivityRow> = {
    fingerprint: toHex(leaf.fingerprint),
    type: leaf.activityType,
    ...(await createdAt(check, leaf, row)),
    ...(isOver(leaf) ? endOf(leaf) : {}),
    ...slotIn(check, leaf, row),
  };
  const columns = differingColumns(expected, row);
  if (columns.length > 0 && findings.differs(`${name}: ${columns.join(", ")} not as in the log`)) {
    await updateRow(tx, "activities", row, expected);
  }
  if (isOver(leaf)) await checkOutcome(check, told, row, name);
}

/**
 * The time of its first leaf. One that was ended by a vote had another, which says so itself. For any other that is nearly always
 * this one; where the row says another time, the rest are looked at.
 */
async function createdAt(
  { tx, vouching, organizationId }: LeafCheck,
  leaf: Leaf,
  row: ActivityRow,
): Promise<Partial<ActivityRow>> {
  if (leaf.event === "SUBMITTED") return { created_at_ms: leaf.timeMs };
  const isVote = leaf.evidence.some(({ body }) => !equalBytes(body, leaf.fingerprint));
  if (!isOver(leaf) || isVote || row.created_at_ms === leaf.timeMs) return {};
  const rows = await rowsWith(tx, "leaves", organizationId, "activity_id", [row.activity_id]);
  const own = await vouching.leaves(rows.map((each) => each.leaf));
  const submitted = rows
    .flatMap((each, index) => (own[index] === true ? [decodeLeaf(withoutMac(each.leaf))] : []))
    .find(({ event, activityId }) => event === "SUBMITTED" && equalBytes(activityId, leaf.activityId));
  return { created_at_ms: submitted?.timeMs ?? leaf.timeMs };
}

function endOf(leaf: Leaf): Partial<ActivityRow> {
  return {
    status: `ACTIVITY_STATUS_${leaf.event}`,
    state_version: versionOf(leaf),
    updated_at_ms: leaf.timeMs,
  };
}

function versionOf(leaf: Leaf): number | null {
  const header = ownHeaderOf(leaf);
  return header === undefined ? null : decodeHeader(withoutMac(header)).version;
}

/** The journal that lists it: surely, while the state still has that journal; after that nobody asks. */
function slotIn({ journals }: LeafCheck, leaf: Leaf, { body, slot }: ActivityRow): Partial<ActivityRow> {
  if (!isOver(leaf) || ownHeaderOf(leaf) === undefined) return isOver(leaf) ? { slot: null } : {};
  const { timestampMs } = JSON.parse(Buffer.from(body).toString("utf8")) as { timestampMs: string };
  const own = slotOf(Number(timestampMs));
  const isListed = journals !== undefined && findJournalIn(journals, own).count > 0;
  return { slot: isListed || slot !== null ? own : null };
}

/** A result that was sealed lies in its leaf's row still: released once more, it is written anew. */
async function checkOutcome(
  { tx, organizationId, released, findings }: LeafCheck,
  { leaf, row: { boot, number, sealed }, isMarked }: LeafInRow,
  row: ActivityRow,
  name: string,
): Promise<void> {
  const isCompleted = leaf.event === "COMPLETED";
  const [said, other] = isCompleted ? (["result", "failure"] as const) : (["failure", "result"] as const);
  if (row[other] !== null && findings.differs(`${name}: ${other} not as in the log`)) {
    await updateRow(tx, "activities", row, { [other]: null });
  }
  const text = row[said];
  if (text === null && sealed !== null && isCompleted && (isMarked || released(boot, number) === false)) return;
  if (equalBytes(sha256(text ?? ""), leaf.outcome)) return;
  if (sealed === null || !isCompleted) {
    findings.lost(`${name}: ${said} was changed`);
    return;
  }
  if (!findings.differs(`${name}: ${said} not as in the log`)) return;
  await updateRow(tx, "activities", row, { result: null });
  if (!isMarked) await insertRow(tx, "unreleased", { organization_id: organizationId, boot, number });
}

const namedAtOnce = 1_000;

/** What no leaf tells of. It is not taken away: where the log itself was cut, it may be all that is left. */
export async function checkStrayActivities(tx: Inside, organizationId: string, findings: Findings): Promise<void> {
  for (const id of await activitiesWithoutLeaf(tx, organizationId, namedAtOnce)) {
    findings.lost(`activities ${id}: no leaf tells of it; \`npx keystead check-log\` says whether one is missing`);
  }
  for (const id of await miscountedVotes(tx, organizationId, namedAtOnce)) {
    findings.lost(`votes on ${id}: they are not as many as the log tells of`);
  }
}

/** What waits for consensus has a row that says so. */
export async function checkPending(
  tx: Inside,
  organizationId: string,
  pending: PendingPage,
  waitingSince: ReadonlyMap<string, number>,
  findings: Findings,
): Promise<void> {
  const ids = [...pending.values()].map(({ activityId }) => activityId);
  for (let at = 0; at < ids.length; at += namedAtOnce) {
    const rows = await rowsWith(tx, "activities", organizationId, "activity_id", ids.slice(at, at + namedAtOnce));
    for (const row of rows) {
      const waiting = pending.values().find(({ activityId }) => activityId === row.activity_id);
      if (waiting === undefined) continue;
      const expected = {
        status: waitingStatus,
        result: null,
        failure: null,
        slot: null,
        // Without a leaf that can be believed, nobody knows; that it is missing is said elsewhere.
        state_version: waitingSince.get(row.activity_id) || row.state_version,
        created_at_ms: waiting.createdAtMs,
        updated_at_ms: Math.max(...waiting.approvals.map(({ atMs }) => atMs)),
      };
      const columns = differingColumns(expected, row);
      if (columns.length === 0) continue;
      const what = `activities ${row.activity_id}: ${columns.join(", ")} not as in the state, in which it waits`;
      if (findings.differs(what)) await updateRow(tx, "activities", row, expected);
    }
  }
}
