/**
 * Connections that only read, for whoever must see one state of the file over several statements. Nobody waits for them to write, and what
 * is committed meanwhile they do not see.
 *
 * The WAL begins anew only at a moment when nobody reads in it, and snapshots that overlap would have it grow for ever. So once it is
 * long, the next ones wait until those under way are over and it has been cut.
 */
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createStatements } from "./sqlite_statements.ts";
import { Turns } from "./turns.ts";

export type SqliteReader = { readonly database: DatabaseSync; statement: ReturnType<typeof createStatements> };

export type SqliteReaders = {
  /** A connection in a transaction, which is its taker's until it is given back. */
  take(): Promise<SqliteReader>;
  giveBack(reader: SqliteReader): void;
  /** Has the WAL cut at a moment in which none of these reads, or not at all if such a moment does not come soon. Never fails. */
  cut(): Promise<void>;
  /** Those in use are closed when they are given back. */
  close(): void;
};

/** More than snapshots under way at any moment of a usual day; each has a page cache and two descriptors. */
const mostReaders = 8;

/** The WAL may be so long before it is cut. */
export const mostWalBytes = 64 * 1024 * 1024;
/** How often its length is looked at. */
const lookMs = 5_000;
/** How long new snapshots wait for the old ones to end. */
const patienceMs = 2_000;

export type WalWatch = { lookMs?: number; mostBytes?: number; patienceMs?: number };

/** `cutNow` has the WAL begin anew, and is called while nobody reads. */
export function createSqliteReaders(
  path: string,
  cutNow: () => Promise<void> | void,
  watch: WalWatch = {},
): SqliteReaders {
  const idle: SqliteReader[] = [];
  const waiting: (() => void)[] = [];
  const cutting = new Turns();
  let reading = 0;
  /** Who cuts, or waits to. */
  let cutters = 0;
  let isClosed = false;
  let noneReads: (() => void) | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const mayRead = () => cutters === 0 && reading < mostReaders;

  function admit(): void {
    while (waiting.length > 0 && mayRead()) {
      reading += 1;
      waiting.shift()?.();
    }
  }

  function leave(): void {
    reading -= 1;
    if (reading === 0) noneReads?.();
    admit();
  }

  function begin(): SqliteReader {
    if (isClosed) throw new Error("the database is closed");
    const reader = idle.pop() ?? open(path);
    try {
      reader.database.exec("begin");
      return reader;
    } catch (error) {
      reader.database.close();
      throw error;
    }
  }

  /** False as long as it is not looked at. */
  function isWalLong(): boolean {
    const now = performance.now();
    if (now - lookedAt < (watch.lookMs ?? lookMs)) return false;
    lookedAt = now;
    const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return bytes > (watch.mostBytes ?? mostWalBytes);
  }

  async function cut(): Promise<void> {
    cutters += 1;
    await cutting.acquire();
    try {
      if (reading === 0 || (await untilNoneReads())) await cutNow();
    } catch {
      // What keeps it from being cut now keeps nobody from reading; the next look tries again.
    } finally {
      cutters -= 1;
      cutting.release();
      admit();
    }
  }

  async function untilNoneReads(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), watch.patienceMs ?? patienceMs);
    noneReads = () => resolve(true);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      noneReads = undefined;
    }
  }

  return {
    async take() {
      if (isWalLong()) void cut();
      if (waiting.length === 0 && mayRead()) reading += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return begin();
      } catch (error) {
        leave();
        throw error;
      }
    },
    giveBack(reader) {
      keepOrClose(reader);
      leave();
    },
    cut,
    close() {
      isClosed = true;
      for (const { database } of idle.splice(0)) database.close();
    },
  };

  /** One whose transaction cannot be ended would show the past to its next taker. */
  function keepOrClose(reader: SqliteReader): void {
    try {
      reader.database.exec("rollback");
      if (!isClosed) {
        idle.push(reader);
        return;
      }
    } catch {
      // It is of no use any more.
    }
    if (reader.database.isOpen) reader.database.close();
  }
}

function open(path: string): SqliteReader {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  database.exec("pragma cache_size = -2048");
  return { database, statement: createStatements(database) };
}
