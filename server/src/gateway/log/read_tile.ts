/** Tiles as they are served: full ones as they are stored, others from what they are made of. */
import { encodeEntries, type Tile, tileWidth, widthAt } from "@keystead/core/tlog/tiles.ts";
import { leafHash } from "@keystead/core/tlog/tree.ts";
import { sha256 } from "../../state/digest.ts";
import { findTile, type LogRow } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { loadEntries, loadRoots } from "./tile_edge.ts";

const hashLength = 32;

/** Undefined where the log, as far as it is signed, has no such tile. */
export async function readTile(store: Store, log: LogRow, tile: Tile): Promise<Uint8Array | undefined> {
  const { level, n, width } = tile;
  if (width > widthAt(level, n, log.checkpoint_size)) return undefined;
  const first = n * tileWidth;
  if (level === "entries") return encodeEntries(await loadEntries(store, log.log_id, first, first + width));
  const stored = await findTile(store, log.log_id, level, n);
  if (stored !== undefined) return stored.subarray(0, width * hashLength);
  if (level > 0) return Buffer.concat(await loadRoots(store, log.log_id, level - 1, first, first + width));
  const entries = await loadEntries(store, log.log_id, first, first + width);
  return Buffer.concat(entries.map((entry) => leafHash(entry, sha256)));
}
