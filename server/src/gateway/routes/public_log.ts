/**
 * The public log as static tiles (`core/src/tlog/SPEC.md`). Anybody may read it. It holds digests that tell nothing, and nothing of it is
 * served before a checkpoint covers it: whatever a power cut takes back, nobody has seen.
 */
import { createLru } from "../../state/lru.ts";
import type { Store } from "../../store/store.ts";
import { createLimitedWork } from "../bounds/limited_work.ts";
import { nothingAt } from "../http/request_check.ts";
import type { Route } from "../http/route.ts";
import { type LogFile, readLogFile } from "../log/read_log_file.ts";

export type PublicLogDependencies = { store: Store };

const served = {
  // Checkpoints come once a second at most.
  checkpoint: { contentType: "text/plain; charset=utf-8", headers: { "cache-control": "public, max-age=1" } },
  tile: {
    contentType: "application/octet-stream",
    headers: { "cache-control": "public, max-age=31536000, immutable" },
  },
} as const satisfies Record<LogFile["kind"], object>;

/**
 * Anybody may ask as often as they like. What was read lately is at hand; all else asks the database. Few do so at once: on PostgreSQL
 * thousands would stand before every commit for a connection, and on SQLite it is this thread that reads, so both slots together take a
 * quarter of it.
 */
const readLimits = {
  slots: 2,
  waiting: 256,
  refusal: "too many requests for the log at once; try again",
  restTimes: 7,
};

/** Of tiles, which never change: eight kibibytes at most. */
const keptBytes = 2 * 1024 * 1024;
/** What is kept of each besides. */
const entryBytes = 256;

export function publicLogRoutes({ store }: PublicLogDependencies): Route[] {
  const limited = createLimitedWork(readLimits);
  // Whoever reads nothing but tiles keeps nobody from the checkpoint.
  const limitedCheckpoint = createLimitedWork({ ...readLimits, slots: 1 });
  const kept = createLru<LogFile>(keptBytes);

  async function read(logId: string, path: string): Promise<LogFile | undefined> {
    const name = `${logId}/${path}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const file = await (path === "checkpoint" ? limitedCheckpoint : limited)(() => readLogFile(store, logId, path));
    if (file?.kind !== "tile") return file;
    // A copy: part of a tile, or of what the database sent, would keep all of it.
    const own: LogFile = { kind: "tile", content: new Uint8Array(file.content) };
    kept.set(name, own, file.content.length + name.length + entryBytes);
    return own;
  }

  return [
    {
      method: "GET",
      path: "/log/:logId/*",
      limits: { bodyBytes: 0 },
      async handle(request, send) {
        const { logId = "", "*": path = "" } = request.params;
        // Every file has one path: the router has joined slashes and read escapes.
        if (!request.url.split("?", 1)[0]?.endsWith(`/${logId}/${path}`)) throw nothingAt(request);
        const file = await read(logId, path);
        if (file === undefined) throw nothingAt(request);
        send({ kind: "content", status: 200, ...served[file.kind], content: file.content });
      },
    },
  ];
}
