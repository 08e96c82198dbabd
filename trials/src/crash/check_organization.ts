/**
 * Holds the rows of one organization against each other: headers, leaves, activities, journals. Everything is recomputed from the rows
 * by the few lines here. Each difference is one line.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { decodeDirectory } from "@keystead/server/state/directory.ts";
import { findJournalIn, runningDigest, slotOf } from "@keystead/server/state/journal.ts";
import { ownHeaderOf, ownStateOf } from "@keystead/server/state/leaf_header.ts";
import { decodePage } from "@keystead/server/state/pages.ts";
import type { Tables } from "@keystead/server/store/tables.ts";
import { checkCodes } from "./check_codes.ts";
import { checkProjections } from "./check_projections.ts";
import type { Rows } from "./deployment_rows.ts";

type Activity = Tables["activities"];

const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const macLength = 32;

/** The content of bytes that end with the signer's MAC. */
export const unmarked = (marked: Uint8Array): Uint8Array => marked.subarray(0, marked.length - macLength);
export const same = (a: Uint8Array, b: Uint8Array): boolean => toHex(a) === toHex(b);

export function checkOrganization(rows: Rows): string[] {
  const { organization_id } = rows.organization;
  return [
    ...checkHeaders(rows),
    ...checkLeaves(rows),
    ...checkActivities(rows),
    ...checkJournals(rows),
    ...checkProjections(rows),
    ...checkCodes(rows),
    ...doubles(rows.activities.map(({ fingerprint }) => fingerprint)),
    ...doubles(rows.activities.map(({ activity_id }) => activity_id)),
  ].map((line) => `organization ${organization_id}: ${line}`);
}

/** One header per version, none missing, each naming the one before; the organization's row is the last. */
function checkHeaders({ organization, leaves }: Rows): string[] {
  const found: string[] = [];
  const moves = leaves.filter(({ version }) => version !== null).sort((a, b) => Number(a.version) - Number(b.version));
  let digest: Uint8Array = new Uint8Array(32);
  moves.forEach(({ version, header }, index) => {
    if (version !== index + 1 || header === null) {
      found.push(`leaf of version ${version} stands at place ${index + 1}`);
      return;
    }
    const content = unmarked(header);
    const decoded = decodeHeader(content);
    if (decoded.version !== version) found.push(`header of version ${version} says ${decoded.version}`);
    if (!same(decoded.previous, digest)) found.push(`header ${version} does not follow the one before`);
    digest = sha256(content);
  });
  const last = moves.at(-1)?.header;
  if (organization.version !== moves.length) found.push(`version ${organization.version} with ${moves.length} headers`);
  if (last === undefined || last === null || !same(last, organization.header))
    found.push("the head is not the last header");
  if (!same(sha256(organization.directory), decodeHeader(unmarked(organization.header)).directory)) {
    found.push("the directory is not the one the head names");
  }
  return found;
}

type ReadLeaf = { row: Tables["leaves"]; leaf: Leaf; name: string };

/** One leaf per terminal activity and one per submission or vote that waits, and each says what its row and its activity say. */
function checkLeaves({ organization, leaves, activities, votes }: Rows): string[] {
  const found: string[] = [];
  const byActivity = new Map<string, ReadLeaf[]>(activities.map(({ activity_id }) => [activity_id, []]));
  for (const row of leaves) {
    const leaf = decodeLeaf(unmarked(row.leaf));
    const name = `leaf ${row.boot} ${row.number}`;
    if (toHex(leaf.boot) !== row.boot || leaf.number !== row.number) found.push(`${name} is named otherwise inside`);
    if (uuidFromBytes(leaf.organizationId) !== organization.organization_id)
      found.push(`${name}: another organization's`);
    const header = ownHeaderOf(leaf);
    if ((header === undefined) !== (row.header === null)) found.push(`${name}: with a header, and without`);
    if (header !== undefined && row.header !== null && !same(header, row.header)) {
      found.push(`${name}: another header inside`);
    }
    // A birth was decided on a state of the organization's parent.
    const decidedOn = ownStateOf(leaf)?.version;
    if (row.version !== null && leaf.event !== "BIRTH" && decidedOn !== row.version - 1) {
      found.push(`${name}: decided on version ${decidedOn}, led to ${row.version}`);
    }
    if (row.activity_id === null) continue;
    const own = byActivity.get(row.activity_id);
    if (own === undefined) found.push(`${name} without its activity ${row.activity_id}`);
    else own.push({ row, leaf, name });
  }
  for (const activity of activities) {
    const voted = votes.filter(({ activity_id }) => activity_id === activity.activity_id).length;
    found.push(...checkLeavesOf(activity, byActivity.get(activity.activity_id) ?? [], voted));
  }
  return found;
}

/** The submission has a leaf and so has each later vote; the last one says what the activity is now. */
function checkLeavesOf(activity: Activity, leaves: readonly ReadLeaf[], laterVotes: number): string[] {
  const found: string[] = [];
  const about = `activity ${activity.activity_id} (${activity.status})`;
  const events = leaves.map(({ leaf }) => leaf.event);
  const terminal = leaves.filter(({ leaf }) => `ACTIVITY_STATUS_${leaf.event}` === activity.status);
  const isWaiting = activity.status === waits;
  const count = (event: string) => events.filter((each) => each === event).length;
  if (leaves.length !== 1 + laterVotes) found.push(`${about} has ${leaves.length} leaves for ${1 + laterVotes} votes`);
  if (terminal.length !== (isWaiting ? 0 : 1)) found.push(`${about} has ${terminal.length} leaves of its end`);
  if (count("SUBMITTED") !== (isWaiting || laterVotes > 0 ? 1 : 0))
    found.push(`${about}: ${count("SUBMITTED")} submissions`);
  if (count("SUBMITTED") + count("VOTED") + terminal.length !== leaves.length) found.push(`${about}: leaves ${events}`);
  const last = terminal[0] ?? leaves.toSorted((a, b) => Number(a.row.version) - Number(b.row.version)).at(-1);
  for (const { leaf, name } of leaves) {
    if (toHex(leaf.fingerprint) !== activity.fingerprint) found.push(`${name} and ${about} differ in the fingerprint`);
  }
  if (last === undefined) return found;
  const { row, leaf, name } = last;
  if (
    !same(leaf.outcome, sha256(activity.result ?? activity.failure ?? "")) ||
    leaf.timeMs !== activity.updated_at_ms ||
    row.version !== activity.state_version
  ) {
    found.push(`${name} and ${about} differ`);
  }
  return found;
}

/** What an activity has of result, failure and place in a journal, by its status. */
function checkActivities({ activities, sealed_bodies }: Rows): string[] {
  const found: string[] = [];
  const sealed = new Set(sealed_bodies.map(({ activity_id }) => activity_id));
  for (const { activity_id, body, fingerprint, status, result, failure, state_version, slot } of activities) {
    const name = `activity ${activity_id} (${status})`;
    const isDone = status === "ACTIVITY_STATUS_COMPLETED";
    // Of a body with a bearer value the row has another form, for as long as the sealed one is beside it.
    const isWhole = toHex(sha256(body)) === fingerprint;
    if (!isWhole && !sealed.has(activity_id)) found.push(`${name}: not the body's fingerprint`);
    if (![waits, ...ends].includes(status)) found.push(`${name}: an unknown status`);
    if ((result !== null) !== isDone) found.push(`${name} and its result is ${result}`);
    if (failure !== null && isDone) found.push(`${name} and its failure is ${failure}`);
    if (status === "ACTIVITY_STATUS_FAILED" && failure === null) found.push(`${name} without a failure`);
    if (slot !== null && (state_version === null || status === waits)) found.push(`${name} is in journal ${slot}`);
    if (slot === null && state_version !== null && status !== waits) found.push(`${name} is in no journal`);
  }
  return found;
}

const ends = ["COMPLETED", "FAILED", "REJECTED"].map((event) => `ACTIVITY_STATUS_${event}`);

/** Activities that led to a state and are over, in that order. */
export function inOrder(activities: readonly Activity[]): (Activity & { slot: number; state_version: number })[] {
  return activities
    .filter(
      (row): row is Activity & { slot: number; state_version: number } =>
        row.state_version !== null && row.slot !== null,
    )
    .sort((a, b) => a.state_version - b.state_version);
}

/** The journals in the directory and in their page are what the executed activities add up to. */
function checkJournals({ organization, pages, activities }: Rows): string[] {
  const { journals: recent } = decodeDirectory(organization.directory);
  const page = pages.find(({ name }) => name === "journals");
  const older = page === undefined ? new Uint8Array() : decodePage("journals", page.content);
  const expected = new Map<number, { count: number; digest: Uint8Array }>();
  for (const { slot, fingerprint, body } of inOrder(activities)) {
    const { timestampMs } = JSON.parse(Buffer.from(body).toString()) as { timestampMs: string };
    if (slot !== slotOf(Number(timestampMs))) return [`activity in slot ${slot} was made at ${timestampMs}`];
    const { count, digest } = expected.get(slot) ?? { count: 0, digest: new Uint8Array(32) };
    expected.set(slot, { count: count + 1, digest: runningDigest(digest, Buffer.from(fingerprint, "hex")) });
  }
  const found: string[] = [];
  const rowLength = 40;
  const count = (recent.length + older.length) / rowLength;
  if (count !== expected.size) found.push(`${count} journals in the state, ${expected.size} in the activities`);
  for (const [slot, { count, digest }] of expected) {
    const journal = findJournalIn({ recent, older }, slot);
    if (journal.count !== count || !same(journal.digest, digest)) found.push(`journal ${slot} differs`);
  }
  return found;
}

export function doubles(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size).map((name) => `twice: ${name}`);
}
