/** Proofs for witnesses that the log has only grown, from the tiles that are stored. */
import { Fault } from "@keystead/core/fault.ts";
import { type Tile, tileHashReader, tileOf } from "@keystead/core/tlog/tiles.ts";
import { consistencyNodes, consistencyProof } from "@keystead/core/tlog/tree.ts";
import { sha256 } from "../../state/digest.ts";
import { findLog } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { readTile } from "./read_tile.ts";

export async function proveConsistency(
  store: Store,
  logId: string,
  oldSize: number,
  newSize: number,
): Promise<Uint8Array[]> {
  const log = await findLog(store, logId);
  if (log === undefined) throw new Fault("not_found", `unable to find log ${logId}`);
  const nameOf = ({ level, n }: Tile) => `${level}/${n}`;
  const tiles = new Map<string, Uint8Array>();
  for (const node of consistencyNodes(oldSize, newSize)) {
    const tile = tileOf(node, newSize);
    if (tiles.has(nameOf(tile))) continue;
    tiles.set(nameOf(tile), (await readTile(store, log, tile)) ?? new Uint8Array());
  }
  const read = tileHashReader(newSize, (tile) => tiles.get(nameOf(tile)) ?? new Uint8Array(), sha256);
  return consistencyProof(oldSize, newSize, read, sha256);
}
