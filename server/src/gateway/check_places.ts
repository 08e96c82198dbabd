/** Where wallets and accounts stand in lists, worked out from the leaves that tell of their making. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { withoutMac } from "../state/authenticity.ts";
import { objectId } from "../state/derived_id.ts";
import { type KeyRecord, recordIdOf } from "../state/records.ts";
import { sortKey } from "../store/key_rows.ts";
import { type Inside, rowsOf, rowsWith } from "../store/projection_rows.ts";
import type { CheckedState } from "./check_state.ts";
import type { Vouching } from "./vouching.ts";

const leavesAtOnce = 200;

/** More than an activity can make. */
const maxObjects = 2_000;

type Room = { tx: Inside; vouching: Vouching; state: CheckedState };

/**
 * Where a record stands in lists: behind the version that it came with, and at its place among those that came with it. Both
 * follow from its id, which derives from the body that made it.
 */
export async function placeOf(room: Room, record: KeyRecord, stored: string): Promise<string> {
  const { tx, state } = room;
  const version = /^\d{15}\.\d{4}$/.test(stored) ? Number(stored.slice(0, 15)) : 0;
  const near = await rowsWith(tx, "leaves", state.organizationId, "version", [version]);
  const place = await placeAmong(room, near, record, stored);
  if (place !== undefined) return place;
  for await (const rows of rowsOf(tx, "leaves", state.organizationId, leavesAtOnce)) {
    const found = await placeAmong(room, rows, record, stored);
    if (found !== undefined) return found;
  }
  return stored;
}

async function placeAmong(
  { vouching, state }: Room,
  rows: readonly { leaf: Uint8Array }[],
  record: KeyRecord,
  stored: string,
): Promise<string | undefined> {
  const own = await vouching.leaves(rows.map(({ leaf }) => leaf));
  for (const [index, { leaf }] of rows.entries()) {
    if (own[index] !== true) continue;
    const place = placeIn(decodeLeaf(withoutMac(leaf)), state, record, stored);
    if (place !== undefined) return place;
  }
  return undefined;
}

function placeIn(
  leaf: Leaf,
  { organizationId, header }: CheckedState,
  record: KeyRecord,
  stored: string,
): string | undefined {
  if (uuidFromBytes(leaf.organizationId) !== organizationId) return undefined;
  if (leaf.header === undefined || leaf.timeMs !== record.createdAtMs) return undefined;
  // The ids of what is born with an organization derive from its creator's.
  const maker = leaf.event === "BIRTH" ? header.parentId : header.organizationId;
  const place = maker && indexOf(maker, leaf, recordIdOf(record));
  if (maker === undefined || place === undefined) return undefined;
  const { version } = decodeHeader(withoutMac(leaf.header));
  const wallet = record.kind === "walletAccount" ? indexOf(maker, leaf, record.walletId) : undefined;
  // Users and their keys come before: which of the records was the first is not told.
  if (leaf.event === "BIRTH" && wallet === undefined && stored.startsWith(sortKey(version, 0).slice(0, 15)))
    return stored;
  return sortKey(version, place - (wallet ?? 0));
}

function indexOf(maker: Uint8Array, { fingerprint }: Leaf, id: string): number | undefined {
  for (let index = 0; index < maxObjects; index++) if (objectId(maker, fingerprint, index) === id) return index;
  return undefined;
}
