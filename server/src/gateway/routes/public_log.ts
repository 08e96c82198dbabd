/**
 * The public log as static tiles (`core/src/tlog/SPEC.md`). Anybody may read it. It holds digests that tell nothing, and nothing of it is
 * served before a checkpoint covers it: whatever a power cut takes back, nobody has seen.
 */
import { parseTilePath, type Tile } from "@keystead/core/tlog/tiles.ts";
import { findLog, type LogRow } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import { nothingAt } from "../http/request_check.ts";
import type { Content, Route } from "../http/route.ts";
import { readTile } from "../log/read_tile.ts";

export type PublicLogDependencies = { store: Store };

/** Checkpoints come once a second at most. */
const newest = "public, max-age=1";
const forEver = "public, max-age=31536000, immutable";

export function publicLogRoutes({ store }: PublicLogDependencies): Route[] {
  return [
    {
      method: "GET",
      path: "/log/:logId/*",
      limits: { bodyBytes: 0 },
      async handle(request, send) {
        const { logId = "", "*": path = "" } = request.params;
        // Every file has one path: the router has joined slashes and read escapes.
        if (!request.url.split("?", 1)[0]?.endsWith(`/${logId}/${path}`)) throw nothingAt(request);
        const log = await findLog(store, logId);
        const content = log && (path === "checkpoint" ? checkpointOf(log) : await tileOf(store, log, path));
        if (content === undefined) throw nothingAt(request);
        send(content);
      },
    },
  ];
}

/** None before the first. */
function checkpointOf({ checkpoint, cosignatures }: LogRow): Content | undefined {
  if (checkpoint === null) return undefined;
  return {
    kind: "content",
    status: 200,
    contentType: "text/plain; charset=utf-8",
    content: `${checkpoint}${cosignatures}`,
    headers: { "cache-control": newest },
  };
}

async function tileOf(store: Store, log: LogRow, path: string): Promise<Content | undefined> {
  const tile = readPath(path);
  const content = tile && (await readTile(store, log, tile));
  if (content === undefined) return undefined;
  const headers = { "cache-control": forEver };
  return { kind: "content", status: 200, contentType: "application/octet-stream", content, headers };
}

function readPath(path: string): Tile | undefined {
  try {
    return parseTilePath(path);
  } catch {
    return undefined;
  }
}
