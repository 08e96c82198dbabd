/**
 * Long commits in SQLite: a thread of their own plans and writes them, on a connection of its own. Half a megabyte of pages and a thousand
 * rows would hold the gateway's one thread for thirty milliseconds, and everybody with it; like this others read meanwhile, and wait
 * only to write.
 */
import { Worker } from "node:worker_threads";
import type { CommitGroup, CommittedGroup } from "./commit_item.ts";
import type { SqliteConnection } from "./sqlite_dialect.ts";
import { Turns } from "./turns.ts";

/** What the thread is asked, one after the other. `plan` touches no file; `write` is asked by whoever has the pen. */
export type LongWriterRequest =
  | { kind: "open"; path: string }
  | { kind: "plan"; group: CommitGroup }
  | { kind: "write" }
  | { kind: "close" };

/** Errors lose their own fields on the way between threads: those that name the trouble go beside it. */
export type LongWriterReply =
  | { kind: "done"; group?: CommittedGroup }
  | { kind: "failed"; error: Error; fields: Readonly<Record<string, unknown>> };

export type LongWriter = {
  /** Before it is asked for anything. */
  open(sqlite: Pick<SqliteConnection, "path" | "pen">): void;
  /** False before, and once the thread has ended, for whatever reason: then long commits are written like any other. */
  readonly isOpen: boolean;
  /** An error means that nothing was committed, unless the thread ended meanwhile: then only the database knows. */
  commit(...group: CommitGroup): Promise<CommittedGroup>;
  /** What it has begun is committed first. */
  close(): Promise<void>;
};

/** For a process that starts none, or has. */
export function dropThreads(): void {
  process.permission?.drop("worker");
}

const entry = new URL(`./long_writer_entry.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url);

/**
 * Starts the thread, and sees to it that no other can follow: a thread may be started with permissions that this process was not given.
 * `onEnd` is told why it ended, unless it was closed.
 */
export function startLongWriter(onEnd: (error: Error) => void, file = entry): LongWriter {
  const worker = new Worker(file, { name: "long writer" });
  dropThreads();
  const ended = Promise.withResolvers<void>();
  const one = new Turns();
  let pen: Turns | undefined;
  let isRunning = true;
  let isClosing = false;
  let failure: Error | undefined;
  let asked: PromiseWithResolvers<CommittedGroup | undefined> | undefined;

  worker.on("message", (reply: LongWriterReply) => {
    const answered = asked;
    asked = undefined;
    if (reply.kind === "done") answered?.resolve(reply.group);
    else answered?.reject(Object.assign(reply.error, reply.fields));
  });
  worker.on("error", (error) => {
    failure = error as Error;
  });
  worker.on("exit", (code) => {
    isRunning = false;
    const error = failure ?? new Error(`the thread of long commits ended with ${code}`);
    asked?.reject(error);
    ended.resolve();
    if (!isClosing) onEnd(error);
  });

  function ask(request: LongWriterRequest): Promise<CommittedGroup | undefined> {
    if (!isRunning) return Promise.reject(failure ?? new Error("the thread of long commits has ended"));
    asked = Promise.withResolvers();
    worker.postMessage(request);
    return asked.promise;
  }

  async function commit(group: CommitGroup, held: Turns): Promise<CommittedGroup> {
    await ask({ kind: "plan", group });
    await held.acquire();
    try {
      const committed = await ask({ kind: "write" });
      if (committed === undefined) throw new Error("the thread of long commits wrote nothing");
      return committed;
    } finally {
      held.release();
    }
  }

  return {
    get isOpen() {
      return isRunning && pen !== undefined;
    },
    open(sqlite) {
      pen = sqlite.pen;
      worker.postMessage({ kind: "open", path: sqlite.path } satisfies LongWriterRequest);
    },
    async commit(...group) {
      if (pen === undefined) throw new Error("the thread of long commits knows no file yet");
      await one.acquire();
      try {
        return await commit(group, pen);
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
