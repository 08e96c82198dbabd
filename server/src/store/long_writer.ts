/**
 * Long commits in SQLite: a thread of their own plans and writes them, on a connection of its own. Half a megabyte of pages and a thousand
 * rows would hold the gateway's one thread for thirty milliseconds, and everybody with it; like this others read meanwhile, and wait
 * only to write. This file loads no package.
 */
import { Worker } from "node:worker_threads";
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import type { CommitGroup, CommittedGroup } from "./commit_item.ts";
import { dropThreads } from "./drop_threads.ts";
import type { SqliteConnection } from "./sqlite_dialect.ts";
import { mostWalBytes } from "./sqlite_readers.ts";
import { Turns } from "./turns.ts";

/**
 * What the thread is asked, one after the other. `plan` touches no file; `write` is asked by whoever has the pen, and `shorten` by whoever has
 * the other connection, too, while nobody reads.
 */
export type LongWriterRequest =
  | { kind: "open"; path: string }
  | { kind: "plan"; number: number; group: CommitGroup }
  | { kind: "write"; number: number }
  | { kind: "shorten"; number: number }
  | { kind: "close" };

/** To the request of that number. Errors lose their class and their own fields between threads: those that tell the trouble go beside it. */
export type LongWriterReply = { number: number } & (
  | { kind: "done"; group?: CommittedGroup; walPages?: number }
  | { kind: "failed"; error: Error; fields: Readonly<Record<string, unknown>>; fault: FaultCode | undefined }
);

export type WrittenFile = Pick<SqliteConnection, "path" | "pen" | "readers" | "cutWal" | "acquire" | "release">;

/** In pages, which have four kibibytes. */
const mostWalPages = mostWalBytes / 4096;

/** What takes longer than this has come to a stop. */
const answerMs = 60_000;

export type LongWriter = {
  /** Before it is asked for anything. */
  open(sqlite: WrittenFile): void;
  /** False before, and once the thread has ended, for whatever reason: then long commits are written like any other. */
  readonly isOpen: boolean;
  /** An error means that nothing was committed, unless the thread ended meanwhile: then only the database knows. */
  commit(...group: CommitGroup): Promise<CommittedGroup>;
  /** Why the thread has ended; undefined where it was closed. */
  readonly ended: Promise<Error | undefined>;
  /** What it has begun is committed first. */
  close(): Promise<void>;
};

const entry = new URL(`./long_writer_entry.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

type Done = Extract<LongWriterReply, { kind: "done" }>;
type Asked = PromiseWithResolvers<Done> & { number: number };

/** Starts the thread, and sees to it that no other can follow. */
export function startLongWriter(file = entry): LongWriter {
  const worker = new Worker(file, { name: "long writer" });
  dropThreads();
  const ended = Promise.withResolvers<Error | undefined>();
  const one = new Turns();
  let opened: WrittenFile | undefined;
  let isRunning = true;
  let isClosing = false;
  let failure: Error | undefined;
  let asked: Asked | undefined;
  let lastNumber = 0;

  worker.on("message", (reply: LongWriterReply) => {
    if (reply.number !== asked?.number) return;
    if (reply.kind === "done") asked.resolve(reply);
    else asked.reject(errorOf(reply));
  });
  // Nobody knows what it was: the thread is not to be relied on any more.
  worker.on("messageerror", (error) => end(error as Error));
  worker.on("error", (error) => {
    failure ??= error as Error;
  });
  worker.on("exit", (code) => {
    isRunning = false;
    const error = failure ?? new Error(`the thread of long commits ended with ${code}`);
    asked?.reject(error);
    ended.resolve(isClosing ? undefined : error);
  });

  function end(error: Error): void {
    failure ??= error;
    void worker.terminate();
  }

  async function ask(request: { kind: "plan"; group: CommitGroup } | { kind: "write" | "shorten" }): Promise<Done> {
    if (!isRunning) throw failure ?? new Error("the thread of long commits has ended");
    lastNumber += 1;
    asked = { ...Promise.withResolvers<Done>(), number: lastNumber };
    worker.postMessage({ ...request, number: lastNumber } satisfies LongWriterRequest);
    // Only its end says that it will not write after all.
    const own = asked;
    const timer = setTimeout(() => {
      // Where all of this process stood still, the answer may be there and not be read yet.
      setImmediate(() => own === asked && end(new Error("the thread of long commits does not answer")));
    }, answerMs);
    return asked.promise.finally(() => {
      clearTimeout(timer);
      if (own === asked) asked = undefined;
    });
  }

  async function commit(group: CommitGroup, file: WrittenFile): Promise<CommittedGroup> {
    const { walPages = 0 } = await ask({ kind: "plan", group });
    // At the next moment in which nobody reads. It is not waited for: it waits for this commit.
    if (walPages > mostWalPages) void file.readers.cut();
    await file.pen.acquire();
    try {
      const { group: committed } = await ask({ kind: "write" });
      if (committed === undefined) throw new Error("the thread of long commits wrote nothing");
      return committed;
    } finally {
      file.pen.release();
    }
  }

  async function shorten(file: WrittenFile): Promise<void> {
    await one.acquire();
    try {
      await file.acquire();
      try {
        await ask({ kind: "shorten" });
      } finally {
        file.release();
      }
    } finally {
      one.release();
    }
  }

  return {
    ended: ended.promise,
    get isOpen() {
      return isRunning && opened !== undefined;
    },
    open(sqlite) {
      opened = sqlite;
      const { cutWal } = sqlite;
      sqlite.cutWal = () => (isRunning ? shorten(sqlite) : cutWal());
      worker.postMessage({ kind: "open", path: sqlite.path } satisfies LongWriterRequest);
    },
    async commit(...group) {
      if (opened === undefined) throw new Error("the thread of long commits knows no file yet");
      await one.acquire();
      try {
        return await commit(group, opened);
      } finally {
        one.release();
      }
    },
    async close() {
      await one.acquire();
      isClosing = true;
      worker.postMessage({ kind: "close" } satisfies LongWriterRequest);
      await ended.promise;
      one.release();
    },
  };
}

function errorOf({ error, fields, fault }: Extract<LongWriterReply, { kind: "failed" }>): Error {
  if (fault !== undefined) return new Fault(fault, error.message, { cause: error });
  return Object.assign(error, fields);
}
