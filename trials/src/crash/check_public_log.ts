/**
 * The public log of a stopped deployment, by the few lines here: no leaf is lost, doubled or moved, and every checkpoint that ever left the
 * server is of this one history. Each difference is one line.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { parseCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { parseNote } from "@keystead/core/tlog/note.ts";
import { Frontier } from "@keystead/core/tlog/tree.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { type NamedPlace, readEntries, readRun } from "@keystead/server/store/log_rows.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";

export type PublicLogCheck = { wrong: string[]; leaves: number; checkpoints: number };

/** `notes`: the checkpoints that others were given. */
export async function checkPublicLog(source: StoreSource, notes: readonly string[]): Promise<PublicLogCheck> {
  const store = await openStore(source);
  try {
    return await check(store, notes);
  } finally {
    await closeStore(store);
  }
}

/** Those in a file of checkpoints. A kill may have cut one short; the next begins behind an empty line. */
export function notesIn(text: string): string[] {
  const notes = text.match(/^keystead\/\S+\n\d+\n\S+\n\n— \S+ \S+\n/gm);
  return notes === null ? [] : [...notes];
}

async function check({ db }: Store, notes: readonly string[]): Promise<PublicLogCheck> {
  const leaves = new Map<string, Uint8Array>();
  for (const { organization_id, boot, number, leaf } of await db.selectFrom("leaves").selectAll().execute()) {
    leaves.set(`${organization_id} ${boot} ${number}`, withoutMac(leaf));
  }
  const waiting = await db.selectFrom("unreleased").selectAll().execute();
  const homeless = new Set(leaves.keys());
  for (const { organization_id, boot, number } of waiting) homeless.delete(`${organization_id} ${boot} ${number}`);
  const wrong: string[] = [];
  let checkpoints = 0;
  for (const { log_id, origin, checkpoint } of await db.selectFrom("logs").selectAll().execute()) {
    const runs = await db.selectFrom("log_runs").selectAll().where("log_id", "=", log_id).execute();
    const rows = await db
      .selectFrom("log_entries")
      .selectAll()
      .where("log_id", "=", log_id)
      .orderBy("first_position")
      .execute();
    const entries: string[] = [];
    for (const row of rows) {
      if (row.first_position !== entries.length) wrong.push(`log ${log_id}: a gap before ${row.first_position}`);
      entries.push(...readEntries(row).map(toHex));
    }
    const places = runs.flatMap((run) => readRun(run)).sort((a, b) => a.position - b.position);
    wrong.push(...misplaced(places, entries, leaves).map((line) => `log ${log_id}: ${line}`));
    for (const place of places) homeless.delete(nameOf(place));
    const own = [...notes, ...(checkpoint === null ? [] : [checkpoint])].map((note) =>
      parseCheckpoint(parseNote(note).text),
    );
    const roots = rootsAt(entries, new Set(own.map(({ size }) => size)));
    for (const { size, root } of own.filter((each) => each.origin === origin)) {
      checkpoints += 1;
      if (roots.get(size) !== toHex(root)) wrong.push(`log ${log_id}: the checkpoint of ${size} is of another history`);
    }
  }
  wrong.push(...Array.from(homeless, (name) => `leaf ${name} is released and in no log`));
  return { wrong, leaves: leaves.size, checkpoints };
}

function nameOf({ organizationId, boot, number }: NamedPlace): string {
  return `${organizationId} ${boot} ${number}`;
}

/** Each position is one leaf's, each leaf has one, and each organization's are counted without a gap. */
function misplaced(
  places: readonly NamedPlace[],
  entries: readonly string[],
  leaves: ReadonlyMap<string, Uint8Array>,
): string[] {
  const wrong: string[] = [];
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  for (const [index, place] of places.entries()) {
    const { position, ordinal, organizationId } = place;
    const name = nameOf(place);
    if (position !== index) wrong.push(`position ${index} is not named once`);
    if (seen.has(name)) wrong.push(`leaf ${name} stands there twice`);
    seen.add(name);
    const leaf = leaves.get(name);
    if (leaf === undefined || entries[position] !== entryOf(leaf, ordinal))
      wrong.push(`position ${position} is not of ${name}`);
    if (ordinal === 0) continue;
    const expected = (counts.get(organizationId) ?? 0) + 1;
    if (ordinal !== expected) wrong.push(`leaf ${name} is counted as ${ordinal}, not ${expected}`);
    counts.set(organizationId, ordinal);
  }
  if (places.length !== entries.length) wrong.push(`${places.length} places and ${entries.length} entries`);
  return wrong;
}

function entryOf(leaf: Uint8Array, ordinal: number): string {
  const bytes = Buffer.alloc(40);
  bytes.set(sha256(leaf));
  bytes.writeBigUInt64BE(BigInt(ordinal), 32);
  return toHex(sha256(bytes));
}

function rootsAt(entries: readonly string[], sizes: ReadonlySet<number>): Map<number, string> {
  const roots = new Map<number, string>();
  const frontier = new Frontier(sha256);
  for (const entry of entries) {
    frontier.append(Uint8Array.fromHex(entry));
    if (sizes.has(frontier.size)) roots.set(frontier.size, toHex(frontier.root()));
  }
  return roots;
}
