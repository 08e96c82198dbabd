/** Where wallets and accounts stand in lists, worked out from the leaves that tell of their making. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { keyId, objectId } from "../../state/derived_id.ts";
import { decodeMade } from "../../state/drawn.ts";
import { ownHeaderOf } from "../../state/leaf_header.ts";
import { type KeyRecord, recordIdOf } from "../../state/records.ts";
import { sortKey } from "../../store/key_rows.ts";
import { type Inside, rowsOf, rowsWith } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { CheckedState } from "./check_state.ts";
import type { Vouching } from "./vouching.ts";

const leavesAtOnce = 200;

/** More than an activity can make. */
const maxObjects = 2_000;

type KeyCheck = { tx: Inside; vouching: Vouching; state: CheckedState };

/**
 * Where a record stands in lists: behind the version that it came with, and at its place among those that came with it. Both
 * follow from its id, which derives from the body that made it.
 */
export async function placeOf(check: KeyCheck, record: KeyRecord, stored: string): Promise<string> {
  const { tx, state } = check;
  const version = /^\d{15}\.\d{4}$/.test(stored) ? Number(stored.slice(0, 15)) : 0;
  const near = await rowsWith(tx, "leaves", state.organizationId, "version", [version]);
  const place = await placeAmong(check, near, record, stored);
  if (place !== undefined) return place;
  for await (const rows of rowsOf(tx, "leaves", state.organizationId, leavesAtOnce)) {
    const found = await placeAmong(check, rows, record, stored);
    if (found !== undefined) return found;
  }
  return stored;
}

async function placeAmong(
  { vouching, state }: KeyCheck,
  rows: readonly Pick<Tables["leaves"], "leaf" | "made">[],
  record: KeyRecord,
  stored: string,
): Promise<string | undefined> {
  const own = await vouching.leaves(rows.map(({ leaf }) => leaf));
  for (const [index, { leaf, made }] of rows.entries()) {
    if (own[index] !== true) continue;
    const place = placeIn(decodeLeaf(withoutMac(leaf)), walletTagIn(made), state, record, stored);
    if (place !== undefined) return place;
  }
  return undefined;
}

function placeIn(
  leaf: Leaf,
  walletTag: string | undefined,
  { organizationId, header }: CheckedState,
  record: KeyRecord,
  stored: string,
): string | undefined {
  if (uuidFromBytes(leaf.organizationId) !== organizationId) return undefined;
  const led = ownHeaderOf(leaf);
  if (led === undefined || leaf.timeMs !== record.createdAtMs) return undefined;
  // The ids of what is born with an organization derive from its creator's.
  const maker = leaf.event === "BIRTH" ? header.parentId : header.organizationId;
  const place = maker && indexOf(maker, leaf, recordIdOf(record), record.tag);
  if (maker === undefined || place === undefined) return undefined;
  const { version } = decodeHeader(withoutMac(led));
  const wallet =
    record.kind === "walletAccount" ? indexOf(maker, leaf, record.walletId, record.tag && walletTag) : undefined;
  // Users and their keys come before: which of the records was the first is not told.
  if (leaf.event === "BIRTH" && wallet === undefined && stored.startsWith(sortKey(version, 0).slice(0, 15)))
    return stored;
  return sortKey(version, place - (wallet ?? 0));
}

/** The id of a key with a tag derives from that as well. */
function indexOf(maker: Uint8Array, { fingerprint }: Leaf, id: string, tag: string | undefined): number | undefined {
  for (let index = 0; index < maxObjects; index++) {
    const own = tag === undefined ? objectId(maker, fingerprint, index) : keyId(maker, fingerprint, index, tag);
    if (own === id) return index;
  }
  return undefined;
}

/** The tag of the wallet that a leaf's activity made, which lies beside the leaf. */
function walletTagIn(made: Uint8Array | null): string | undefined {
  try {
    const wallet = made === null ? undefined : decodeMade(made).find(({ kind }) => kind === "wallet");
    return wallet && toHex(wallet.tag);
  } catch {
    return undefined;
  }
}
