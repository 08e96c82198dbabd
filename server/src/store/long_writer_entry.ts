/** The thread of long commits (`long_writer.ts`). */
import { parentPort } from "node:worker_threads";
import { type PlannedCommit, planCommit } from "./commit.ts";
import { dropThreads, type LongWriterReply, type LongWriterRequest } from "./long_writer.ts";
import type { SqliteConnection } from "./sqlite_dialect.ts";
import { openDurable } from "./sqlite_file.ts";

// A thread's permissions are its own, and it starts with those of the command line.
dropThreads();

/** The WAL is carried into the file when about so much was written. */
const checkpointBytes = 4 * 1024 * 1024;

let path = "";
let opened: SqliteConnection | undefined;
let planned: PlannedCommit | undefined;
let plannedBytes = 0;
let writtenBytes = 0;

// At the first commit: until then nothing of the file is known to be as this release wants it.
function sqlite(): SqliteConnection {
  opened ??= openDurable(path, { checkpointPages: 0 });
  return opened;
}

function answer(reply: LongWriterReply): void {
  parentPort?.postMessage(reply);
}

async function write(): Promise<void> {
  if (planned === undefined) throw new Error("there is nothing to be written");
  const group = await planned.write({ dialect: "sqlite", sqlite: sqlite() });
  planned = undefined;
  answer({ kind: "done", group });
  writtenBytes += plannedBytes;
  if (writtenBytes < checkpointBytes) return;
  // After the answer: it takes as long as a commit, and others may write meanwhile.
  writtenBytes = 0;
  sqlite().statement("pragma wal_checkpoint(passive)").all();
}

async function work(request: LongWriterRequest): Promise<void> {
  if (request.kind === "open") path = request.path;
  else if (request.kind === "plan") {
    const [items] = request.group;
    planned = planCommit(...request.group);
    plannedBytes = items.reduce((sum, { next }) => sum + bytesOf(next?.pages ?? []), 0);
    answer({ kind: "done" });
  } else if (request.kind === "write") await write();
  else {
    opened?.database.close();
    parentPort?.close();
  }
}

function bytesOf(pages: readonly { content: Uint8Array }[]): number {
  return pages.reduce((sum, { content }) => sum + content.length, 0);
}

parentPort?.on("message", async (request: LongWriterRequest) => {
  try {
    await work(request);
  } catch (thrown) {
    planned = undefined;
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    answer({ kind: "failed", error, fields: { ...error } });
  }
});
