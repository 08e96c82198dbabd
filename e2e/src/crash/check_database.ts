/**
 * Reads a stopped deployment's database and the signer's memory, and holds them against each other and against what the
 * oracle was told. Everything is recomputed from the rows; the effects are replayed by the few lines here, not by the
 * server's code. Each difference is one line.
 */
import { isDeepStrictEqual } from "node:util";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck } from "@keystead/core/log/released.ts";
import type { Activity } from "@keystead/sdk";
import { openKeyring } from "@keystead/server/signer/keyring.ts";
import { openMemory } from "@keystead/server/signer/memory.ts";
import { pinDigestLength } from "@keystead/server/signer/pins.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { decodeDirectory } from "@keystead/server/state/directory.ts";
import { findJournal, runningDigest, slotOf } from "@keystead/server/state/journal.ts";
import { decodePage } from "@keystead/server/state/pages.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";
import type { Tables } from "@keystead/server/store/tables.ts";
import { findUser } from "@keystead/server/store/users.ts";
import type { OracleReport } from "./ledger.ts";

export type DatabaseCheck = {
  /** Acknowledged, and not there as it was acknowledged. */
  lost: string[];
  /** There in part: a row without its leaf, a page without its projection, a version without its activity. */
  halfApplied: string[];
  /** Fingerprints, activities or objects that exist more than once. */
  executedTwice: string[];
  /** Abandoned requests that turned out complete; the others are absent. */
  abandonedComplete: number;
  activities: number;
};

type Rows = {
  organization: Tables["organizations"];
  leaves: Tables["leaves"][];
  activities: Tables["activities"][];
  pages: Tables["pages"][];
  userTags: Tables["user_tags"][];
};

type Places = { source: StoreSource; organizationId: string; memoryFolder: string; rootKey: Uint8Array };

export async function checkDatabase(places: Places, report: OracleReport): Promise<DatabaseCheck> {
  const store = await openStore(places.source);
  try {
    const rows = await readRows(store, places.organizationId);
    const halfApplied = [
      ...checkHeaders(rows),
      ...checkLeaves(rows),
      ...checkActivities(rows),
      ...checkJournals(rows),
      ...(await checkPages(store, rows)),
      ...replay(rows),
      ...(await checkMemory(store, places, rows, new Set(report.abandoned.map(({ body }) => toHex(sha256(body)))))),
    ];
    const byFingerprint = new Map(rows.activities.map((row) => [row.fingerprint, row]));
    const find = (body: string) => byFingerprint.get(toHex(sha256(body)));
    return {
      lost: report.acknowledged.flatMap(({ body, answer }) => {
        const row = find(body);
        if (row === undefined) return [`absent: ${body}`];
        const same = answer.kind === "activity" ? isStored(row, answer.activity) : isRefused(row, answer);
        return same ? [] : [`stored otherwise: ${body}`];
      }),
      halfApplied,
      executedTwice: findDoubles(rows, report),
      abandonedComplete: report.abandoned.filter(({ body }) => find(body) !== undefined).length,
      activities: rows.activities.length,
    };
  } finally {
    await closeStore(store);
  }
}

async function readRows({ db }: Store, organizationId: string): Promise<Rows> {
  const own = <T extends "leaves" | "activities" | "pages" | "user_tags" | "organizations">(table: T) =>
    db
      .selectFrom(table as "leaves")
      .selectAll()
      .where("organization_id", "=", organizationId)
      .execute() as unknown as Promise<Tables[T][]>;
  const [organization] = await own("organizations");
  if (organization === undefined) throw new Error(`organization ${organizationId} is not in the database`);
  return {
    organization,
    leaves: await own("leaves"),
    activities: await own("activities"),
    pages: await own("pages"),
    userTags: await own("user_tags"),
  };
}

function isStored(row: Tables["activities"], activity: Activity): boolean {
  const [result] = Object.values(activity.result);
  return (
    row.activity_id === activity.id &&
    row.status === activity.status &&
    new Date(row.created_at_ms).toISOString() === activity.createdAt &&
    isDeepStrictEqual(JSON.parse(row.result ?? "null"), result)
  );
}

function isRefused(row: Tables["activities"], { code, message }: { code: number; message: string }): boolean {
  const failure = JSON.parse(row.failure ?? "null") as { code: number; message: string } | null;
  return row.status === "ACTIVITY_STATUS_FAILED" && failure?.code === code && failure.message === message;
}

const macLength = 32;
const unmarked = (marked: Uint8Array): Uint8Array => marked.subarray(0, marked.length - macLength);
const same = (a: Uint8Array, b: Uint8Array): boolean => toHex(a) === toHex(b);

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

/** One leaf per terminal activity, and each leaf says what its row and its activity say. */
function checkLeaves({ organization, leaves, activities }: Rows): string[] {
  const found: string[] = [];
  const byId = new Map(activities.map((activity) => [activity.activity_id, activity]));
  const withLeaf = new Set<string>();
  for (const row of leaves) {
    const leaf = decodeLeaf(unmarked(row.leaf));
    const name = `leaf ${row.boot} ${row.number}`;
    if (toHex(leaf.boot) !== row.boot || leaf.number !== row.number) found.push(`${name} is named otherwise inside`);
    if (uuidFromBytes(leaf.organizationId) !== organization.organization_id)
      found.push(`${name}: another organization's`);
    if ((leaf.header === undefined) !== (row.header === null)) found.push(`${name}: with a header, and without`);
    if (leaf.header !== undefined && row.header !== null && !same(leaf.header, row.header)) {
      found.push(`${name}: another header inside`);
    }
    // A birth was decided on a state of the organization's parent.
    if (row.version !== null && leaf.event !== "BIRTH" && leaf.stateVersion !== row.version - 1) {
      found.push(`${name}: decided on version ${leaf.stateVersion}, led to ${row.version}`);
    }
    if (row.activity_id === null) continue;
    const activity = byId.get(row.activity_id);
    if (activity === undefined) {
      found.push(`${name} without its activity ${row.activity_id}`);
      continue;
    }
    if (withLeaf.has(row.activity_id)) found.push(`${name}: a second leaf of activity ${row.activity_id}`);
    withLeaf.add(row.activity_id);
    const { fingerprint, result, failure, state_version, status, created_at_ms } = activity;
    if (
      toHex(leaf.fingerprint) !== fingerprint ||
      `ACTIVITY_STATUS_${leaf.event}` !== status ||
      !same(leaf.outcome, sha256(result ?? failure ?? "")) ||
      leaf.timeMs !== created_at_ms ||
      row.version !== state_version
    ) {
      found.push(`${name} and its activity ${row.activity_id} differ`);
    }
  }
  for (const id of byId.keys()) if (!withLeaf.has(id)) found.push(`activity ${id} without a leaf`);
  return found;
}

/** Versions 2 and up belong to one activity each; version 1 is the birth. */
function checkActivities({ organization, activities }: Rows): string[] {
  const found: string[] = [];
  for (const { activity_id, body, fingerprint, status, result, failure, state_version, slot } of activities) {
    const completed = status === "ACTIVITY_STATUS_COMPLETED";
    if (toHex(sha256(body)) !== fingerprint) found.push(`activity ${activity_id}: not the body's fingerprint`);
    if (!completed && status !== "ACTIVITY_STATUS_FAILED") found.push(`activity ${activity_id} is ${status}`);
    for (const part of [result, state_version, slot]) {
      if ((part !== null) !== completed) found.push(`activity ${activity_id}: ${status} with half of its parts`);
    }
    if ((failure === null) !== completed) found.push(`activity ${activity_id}: ${status} and failure ${failure}`);
  }
  const versions = activities.flatMap(({ state_version }) => state_version ?? []).sort((a, b) => a - b);
  versions.forEach((version, index) => {
    if (version !== index + 2) found.push(`activity of version ${version} stands at place ${index + 2}`);
  });
  if (organization.version !== versions.length + 1)
    found.push(`${versions.length} changes led to ${organization.version}`);
  return found;
}

/** The journals in the directory are what the executed activities add up to. */
function checkJournals({ organization, activities }: Rows): string[] {
  const { journals } = decodeDirectory(organization.directory);
  const expected = new Map<number, { count: number; digest: Uint8Array }>();
  for (const { slot, fingerprint, body } of inOrder(activities)) {
    const { timestampMs } = JSON.parse(Buffer.from(body).toString()) as { timestampMs: string };
    if (slot !== slotOf(Number(timestampMs))) return [`activity in slot ${slot} was made at ${timestampMs}`];
    const { count, digest } = expected.get(slot) ?? { count: 0, digest: new Uint8Array(32) };
    expected.set(slot, { count: count + 1, digest: runningDigest(digest, Buffer.from(fingerprint, "hex")) });
  }
  const found: string[] = [];
  const rowLength = 40;
  if (journals.length !== expected.size * rowLength) {
    found.push(`${journals.length / rowLength} journals in the directory, ${expected.size} in the activities`);
  }
  for (const [slot, { count, digest }] of expected) {
    const journal = findJournal(journals, slot);
    if (journal.count !== count || !same(journal.digest, digest)) found.push(`journal ${slot} differs`);
  }
  return found;
}

/** Pages are those the directory lists, and the tables show exactly what they hold. */
async function checkPages(store: Store, { organization, pages, userTags }: Rows): Promise<string[]> {
  const found: string[] = [];
  const listed = new Map(decodeDirectory(organization.directory).pages.map(({ name, digest }) => [name, digest]));
  for (const { name, content } of pages) {
    const digest = listed.get(name);
    if (digest === undefined || !same(sha256(content), digest)) found.push(`page ${name} is not the one listed`);
  }
  const content = (name: string) => pages.find((page) => page.name === name)?.content ?? new Uint8Array(0);
  if (pages.length !== listed.size) return [...found, `${pages.length} pages, ${listed.size} listed`];
  const members = decodePage("members", content("members"));
  const settings = decodePage("settings", content("settings"));
  const rows = [...members.userTags.values()].map(({ tagId, tagName, createdAtMs, updatedAtMs }) => ({
    organization_id: organization.organization_id,
    tag_id: tagId,
    tag_name: tagName,
    created_at_ms: createdAtMs,
    updated_at_ms: updatedAtMs,
  }));
  const byId = (a: { tag_id: string }, b: { tag_id: string }) => (a.tag_id < b.tag_id ? -1 : 1);
  const plain = userTags.map((row) => ({ ...row })).sort(byId);
  if (!isDeepStrictEqual(plain, rows.sort(byId))) found.push("user_tags shows other tags than the page");
  for (const user of members.users.values()) {
    const shown = await findUser(store, organization.organization_id, user.userId);
    if (!isDeepStrictEqual(shown, user)) found.push(`users shows user ${user.userId} otherwise than the page`);
  }
  if (settings.organizationName !== organization.organization_name) found.push("the organization's name differs");
  return found;
}

type Executed = Tables["activities"] & { slot: number; state_version: number; result: string };

function inOrder(activities: readonly Tables["activities"][]): Executed[] {
  return activities
    .filter((row): row is Executed => row.state_version !== null && row.slot !== null && row.result !== null)
    .sort((a, b) => a.state_version - b.state_version);
}

/** What the completed activities, taken one after the other, leave behind. */
function replay({ activities, userTags }: Rows): string[] {
  const found: string[] = [];
  const tags = new Map<string, string>();
  for (const { type, body, result, state_version } of inOrder(activities)) {
    const { parameters } = JSON.parse(Buffer.from(body).toString());
    if (type === "ACTIVITY_TYPE_CREATE_USER_TAG") {
      const { userTagId } = JSON.parse(result);
      if (tags.has(userTagId) || [...tags.values()].includes(parameters.userTagName)) {
        found.push(`version ${state_version} creates a tag that exists`);
      }
      tags.set(userTagId, parameters.userTagName);
    } else {
      for (const tagId of parameters.userTagIds) {
        if (!tags.delete(tagId)) found.push(`version ${state_version} deletes a tag that does not exist`);
      }
    }
  }
  const left = new Map(userTags.map(({ tag_id, tag_name }) => [tag_id, tag_name]));
  if (!isDeepStrictEqual(left, tags)) found.push(`${left.size} tags are left, a replay leaves ${tags.size}`);
  return found;
}

/**
 * The signer's own marks and memory: every leaf is its own, every leaf it released is here, and its pin is the head.
 * Only an abandoned request's leaf may be there unreleased: a dying gateway's last statement may commit after the next
 * one has looked.
 */
async function checkMemory(
  store: Store,
  places: Places,
  { organization, leaves }: Rows,
  abandoned: ReadonlySet<string>,
): Promise<string[]> {
  const found: string[] = [];
  const deployment = await store.db.selectFrom("deployment").select("keyring").executeTakeFirstOrThrow();
  const { authenticity, deploymentId } = openKeyring(places.rootKey, 1, deployment.keyring);
  for (const { leaf, header } of leaves) {
    authenticity.check("leaf", leaf);
    if (header !== null) authenticity.check("header", header);
  }
  const memory = openMemory(places.memoryFolder, places.rootKey);
  try {
    const check = createReleasedCheck([{ deploymentId, timeMs: 0, page: 0, pages: 1, ranges: memory.released() }]);
    for (const { leaf } of leaves) check.show(decodeLeaf(unmarked(leaf)));
    for (const { boot, number } of check.withheld()) {
      found.push(`leaf ${toHex(boot)} ${number} was released and is not in the database`);
    }
    const unmarkedRows = await store.db.selectFrom("unreleased").select(["boot", "number"]).execute();
    const unreleased = new Set(unmarkedRows.map(({ boot, number }) => `${boot} ${number}`));
    for (const { boot, number, leaf } of leaves) {
      const isMarked = !unreleased.has(`${boot} ${number}`);
      const remembered = memory.wasReleased(Buffer.from(boot, "hex"), number);
      if (!remembered && abandoned.has(toHex(decodeLeaf(unmarked(leaf)).fingerprint))) continue;
      if (!remembered) found.push(`leaf ${boot} ${number} was never released (marked: ${isMarked})`);
      else if (!isMarked) found.push(`leaf ${boot} ${number} is not marked as released after a clean stop`);
    }
    const pin = memory.pins.get(uuidToBytes(organization.organization_id));
    const digest = sha256(unmarked(organization.header)).subarray(0, pinDigestLength);
    if (pin?.version !== organization.version || !same(pin.digest, digest)) {
      found.push(`the pin stands at version ${pin?.version}, the database at ${organization.version}`);
    }
  } finally {
    memory.close();
  }
  return found;
}

function findDoubles({ activities }: Rows, { acknowledged }: OracleReport): string[] {
  const created = activities.flatMap(({ type, result }) =>
    type === "ACTIVITY_TYPE_CREATE_USER_TAG" && result !== null ? [JSON.parse(result).userTagId as string] : [],
  );
  return [
    ...doubles(acknowledged.flatMap(({ answer }) => (answer.kind === "activity" ? answer.activity.id : []))),
    ...doubles(acknowledged.map(({ body }) => body)),
    ...doubles(activities.map(({ fingerprint }) => fingerprint)),
    ...doubles(activities.map(({ activity_id }) => activity_id)),
    ...doubles(created),
  ];
}

function doubles(names: readonly string[]): string[] {
  const seen = new Set<string>();
  return names.filter((name) => seen.size === seen.add(name).size).map((name) => `twice: ${name}`);
}
