/** The files of a log by their paths (`core/src/tlog/SPEC.md`): its newest checkpoint and its tiles. Nothing beyond the checkpoint is there. */
import { parseTilePath, type Tile } from "@keystead/core/tlog/tiles.ts";
import { findLog, type LogRow } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { readTile } from "./read_tile.ts";

/** A tile never changes; the checkpoint does. */
export type LogFile = { kind: "checkpoint"; content: string } | { kind: "tile"; content: Uint8Array };

/** Undefined for a log or a file that is not there, and for a path that no file can have. */
export async function readLogFile(store: Store, logId: string, path: string): Promise<LogFile | undefined> {
  const log = await findLog(store, logId);
  if (log === undefined) return undefined;
  if (path === "checkpoint") return checkpointOf(log);
  const tile = parsePath(path);
  const content = tile && (await readTile(store, log, tile));
  return content && { kind: "tile", content };
}

/** None before the first. */
function checkpointOf({ checkpoint, cosignatures }: LogRow): LogFile | undefined {
  return checkpoint === null ? undefined : { kind: "checkpoint", content: `${checkpoint}${cosignatures}` };
}

function parsePath(path: string): Tile | undefined {
  try {
    return parseTilePath(path);
  } catch {
    return undefined;
  }
}
