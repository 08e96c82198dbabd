/**
 * Reads a stopped deployment, whatever it did, and holds database and signer's memory against each other: every state on one
 * line without a gap, every page the one that its state names, every activity with its leaf, every pin on its line. Each
 * difference is one line of text.
 */
import { isDeepStrictEqual } from "node:util";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck } from "@keystead/core/log/released.ts";
import { openKeyring } from "@keystead/server/signer/keyring.ts";
import { openMemory } from "@keystead/server/signer/memory.ts";
import { pinDigestLength } from "@keystead/server/signer/pins.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { decodeDirectory } from "@keystead/server/state/directory.ts";
import type { User } from "@keystead/server/state/entities.ts";
import { decodePage } from "@keystead/server/state/pages.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";
import type { Tables } from "@keystead/server/store/tables.ts";
import { findUser } from "@keystead/server/store/users.ts";

export type Stored = { source: StoreSource; memoryFolder: string; rootKey: Uint8Array };

export async function checkStored({ source, memoryFolder, rootKey }: Stored): Promise<string[]> {
  const store = await openStore(source);
  const memory = openMemory(memoryFolder, rootKey);
  try {
    const { keyring } = await store.db.selectFrom("deployment").select("keyring").executeTakeFirstOrThrow();
    const { deploymentId } = openKeyring(rootKey, 1, keyring);
    const organizations = await store.db.selectFrom("organizations").selectAll().execute();
    const leaves = await store.db.selectFrom("leaves").selectAll().execute();
    const found = await Promise.all(
      organizations.map(async (organization) => {
        const own = leaves.filter((leaf) => leaf.organization_id === organization.organization_id);
        const states = statesOf(own);
        const pin = memory.pins.get(uuidToBytes(organization.organization_id));
        return [
          ...checkLine(organization, states),
          ...(await checkPages(store, organization)),
          ...(await checkActivities(store, organization, own)),
          ...checkPin(pin, states),
        ].map((line) => `organization ${organization.organization_id}: ${line}`);
      }),
    );
    const ranges = memory.released();
    const released = createReleasedCheck([{ deploymentId, timeMs: 0, page: 0, pages: 1, ranges }]);
    for (const { leaf } of leaves) released.show(decodeLeaf(withoutMac(leaf)));
    const withheld = released.withheld().map(({ boot, number }) => `released and not there: ${toHex(boot)} ${number}`);
    const left = await store.db.selectFrom("unreleased").selectAll().execute();
    return [...found.flat(), ...withheld, ...left.map(({ number }) => `leaf ${number} is not released`)];
  } finally {
    memory.close();
    await closeStore(store);
  }
}

type State = { version: number; header: Uint8Array; digest: Uint8Array };

function statesOf(leaves: readonly Tables["leaves"][]): State[] {
  return leaves
    .flatMap(({ version, header }) => (version === null || header === null ? [] : { version, header }))
    .sort((a, b) => a.version - b.version)
    .map(({ version, header }) => ({ version, header, digest: sha256(withoutMac(header)) }));
}

const same = (a: Uint8Array, b: Uint8Array): boolean => toHex(a) === toHex(b);

function checkLine(organization: Tables["organizations"], states: readonly State[]): string[] {
  const found: string[] = [];
  let before: Uint8Array = new Uint8Array(32);
  states.forEach(({ version, header, digest }, index) => {
    if (version !== index + 1) found.push(`version ${version} stands at place ${index + 1}`);
    if (!same(decodeHeader(withoutMac(header)).previous, before)) found.push(`version ${version} does not follow`);
    before = digest;
  });
  const head = states.at(-1);
  if (head?.version !== organization.version || !same(head.header, organization.header)) {
    found.push(`the head (version ${organization.version}) is not the last state (version ${head?.version})`);
  }
  return found;
}

async function checkPages({ db, ...store }: Store, organization: Tables["organizations"]): Promise<string[]> {
  const { organization_id: id, header, directory } = organization;
  const found: string[] = [];
  if (!same(sha256(directory), decodeHeader(withoutMac(header)).directory)) found.push("another directory");
  const pages = await db.selectFrom("pages").selectAll().where("organization_id", "=", id).execute();
  const listed = decodeDirectory(directory).pages;
  if (pages.length !== listed.length) found.push(`${pages.length} pages, ${listed.length} listed`);
  for (const { name, content } of pages) {
    const digest = listed.find((page) => page.name === name)?.digest;
    if (digest === undefined || !same(sha256(content), digest)) found.push(`page ${name} is another`);
    if (name !== "members" || organization.deleted_at_ms !== null) continue;
    const { users, userTags } = decodePage("members", content);
    for (const user of users.values()) {
      const shown = await findUser({ db, ...store } as Store, id, user.userId);
      if (!isDeepStrictEqual(ordered(shown), ordered(user))) found.push(`user ${user.userId} is shown otherwise`);
    }
    const tags = await db.selectFrom("user_tags").select("tag_id").where("organization_id", "=", id).execute();
    const shown = new Set(tags.map(({ tag_id }) => tag_id));
    if (!isDeepStrictEqual(shown, new Set(userTags.keys()))) found.push("other tags are shown");
  }
  return found;
}

/** Keys of one moment have no order among themselves. */
function ordered(user: User | undefined): object | undefined {
  return user && { ...user, apiKeys: user.apiKeys.toSorted((a, b) => (a.apiKeyId < b.apiKeyId ? -1 : 1)) };
}

const terminal = ["COMPLETED", "FAILED", "REJECTED"];

/** One leaf for each activity that has ended, and one for each submission that waits or waited and for each vote on it. */
async function checkActivities(
  { db }: Store,
  { organization_id: id }: Tables["organizations"],
  leaves: readonly Tables["leaves"][],
): Promise<string[]> {
  const found: string[] = [];
  const activities = await db.selectFrom("activities").selectAll().where("organization_id", "=", id).execute();
  const votes = await db.selectFrom("votes").select("activity_id").where("organization_id", "=", id).execute();
  const byActivity = Map.groupBy(
    leaves.filter((row) => row.activity_id !== null),
    (row) => row.activity_id,
  );
  for (const row of activities) {
    const own = (byActivity.get(row.activity_id) ?? []).map(({ leaf }) => decodeLeaf(withoutMac(leaf)));
    byActivity.delete(row.activity_id);
    const its = votes.filter(({ activity_id }) => activity_id === row.activity_id).length;
    found.push(...checkActivity(row, own, its).map((line) => `activity ${row.activity_id} (${row.type}): ${line}`));
  }
  for (const orphan of byActivity.keys()) found.push(`leaves of activity ${orphan}, which is not there`);
  return found;
}

function checkActivity(row: Tables["activities"], leaves: readonly Leaf[], votes: number): string[] {
  const found: string[] = [];
  const status = row.status.replace("ACTIVITY_STATUS_", "");
  const ends = leaves.filter(({ event }) => terminal.includes(event));
  const waited = leaves.filter(({ event }) => event === "SUBMITTED").length;
  const voted = leaves.filter(({ event }) => event === "VOTED").length;
  if (toHex(sha256(row.body)) !== row.fingerprint) found.push("not its body's fingerprint");
  if (leaves.some(({ fingerprint }) => toHex(fingerprint) !== row.fingerprint)) found.push("a leaf of another body");
  if (ends.length !== (terminal.includes(status) ? 1 : 0)) found.push(`${status} with ${ends.length} leaves of an end`);
  if (ends[0] !== undefined && ends[0].event !== status) found.push(`${status}, but its leaf says ${ends[0].event}`);
  if (ends[0] !== undefined && !same(ends[0].outcome, sha256(row.result ?? row.failure ?? ""))) {
    found.push("its leaf is of another outcome");
  }
  if (waited > 1 || (waited === 0 && ends.length === 0)) found.push(`${waited} leaves of its submission`);
  // The vote that ends it has the leaf of the end.
  const expected = waited === 0 ? 0 : votes - (ends.length > 0 ? 1 : 0);
  if (voted !== expected) found.push(`${voted} leaves of votes, ${votes} votes`);
  return found;
}

/** The memory may be behind, never beside: it is a state that the database has. */
function checkPin(pin: { version: number; digest: Uint8Array } | undefined, states: readonly State[]): string[] {
  if (pin === undefined) return [];
  const at = states[pin.version - 1];
  if (at !== undefined && same(at.digest.subarray(0, pinDigestLength), pin.digest)) return [];
  return [`the signer remembers another version ${pin.version} than the database has`];
}
