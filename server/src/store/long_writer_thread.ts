/** The thread of long commits (`long_writer.ts`). */
import { parentPort } from "node:worker_threads";
import { Fault } from "@keystead/core/fault.ts";
import { type PlannedCommit, planCommit } from "./commit.ts";
import type { CommitGroup } from "./commit_item.ts";
import type { LongWriterReply, LongWriterRequest } from "./long_writer.ts";
import { cutWal, type SqliteConnection } from "./sqlite_dialect.ts";
import { openDurable } from "./sqlite_file.ts";

/** The WAL is carried into the file when about so much was written: long pages are most of it, where there are any. */
const checkpointBytes = 4 * 1024 * 1024;
const checkpointCommits = 16;

let path = "";
let opened: SqliteConnection | undefined;
let planned: PlannedCommit | undefined;
const written = { bytes: 0, commits: 0 };
/** Of the WAL, in pages, as the last checkpoint has left it; not told yet. */
let walPages = 0;

// At the first commit: until then nothing of the file is known to be as this release wants it.
function sqlite(): SqliteConnection {
  opened ??= openDurable(path, { checkpointPages: 0 });
  return opened;
}

async function plan(group: CommitGroup): Promise<void> {
  const [items] = group;
  planned = await planCommit(...group);
  for (const { next } of items) for (const { content } of next?.pages ?? []) written.bytes += content.length;
  written.commits += 1;
}

async function write(): ReturnType<PlannedCommit["write"]> {
  if (planned === undefined) throw new Error("there is nothing to be written");
  try {
    return await planned.write({ dialect: "sqlite", sqlite: sqlite() });
  } finally {
    // It could not even be taken back: on this connection the file would stay closed to everybody.
    if (opened?.database.isTransaction === true) reopen();
  }
}

function reopen(): void {
  const before = opened;
  opened = undefined;
  before?.close();
}

/** It takes as long as a commit, and others may write meanwhile. What it cannot do now, the next one does, or that of another connection. */
function checkpoint(): void {
  if (written.bytes < checkpointBytes && written.commits < checkpointCommits) return;
  written.bytes = 0;
  written.commits = 0;
  try {
    const [done] = sqlite().statement("pragma wal_checkpoint(passive)").all();
    walPages = Number(done?.log ?? 0);
  } catch {
    // A disk that is full or broken fails the commits themselves, and they say so.
  }
}

function close(): void {
  try {
    opened?.close();
  } finally {
    parentPort?.close();
  }
}

function failureOf(thrown: unknown, number: number): LongWriterReply {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const fault = error instanceof Fault ? error.code : undefined;
  return { kind: "failed", number, error, fields: { ...error }, fault };
}

/** One answer to each, whatever happens after it. */
async function answer(number: number, work: () => Promise<LongWriterReply>): Promise<void> {
  parentPort?.postMessage(await work().catch((error) => failureOf(error, number)));
}

// Whoever asked would wait for ever.
parentPort?.on("messageerror", (error) => {
  throw error;
});
parentPort?.on("message", async (request: LongWriterRequest) => {
  if (request.kind === "open") path = request.path;
  else if (request.kind === "close") close();
  else if (request.kind === "plan") {
    const { number, group } = request;
    await answer(number, async () => {
      await plan(group);
      const pages = walPages;
      walPages = 0;
      return { kind: "done", number, walPages: pages };
    });
  } else if (request.kind === "shorten") {
    const { number } = request;
    await answer(number, async () => {
      cutWal(sqlite().database);
      return { kind: "done", number };
    });
  } else {
    const { number } = request;
    await answer(number, async () => ({ kind: "done", number, group: await write() }));
    planned = undefined;
    checkpoint();
  }
});
