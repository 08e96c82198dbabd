/** Kysely over `node:sqlite`: one connection, statements prepared once by their text, transactions that take turns. */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { createSqliteReaders, type SqliteReaders } from "./sqlite_readers.ts";
import { createStatements } from "./sqlite_statements.ts";
import { Turns } from "./turns.ts";

/**
 * There is one connection that writes, and one thread at a time may write to the file: this one through it, or the one that writes what is
 * long (`long_writer.ts`). Whoever needs both takes the pen first. Snapshots are read through others.
 */
export type SqliteConnection = {
  readonly path: string;
  readonly database: DatabaseSync;
  statement(text: string): StatementSync;
  /** Runs `work`, which only reads, while nobody has a transaction open on the connection: at once, in this same tick, unless one is. */
  reading<T>(work: () => T): T | Promise<T>;
  /** Runs `work` while nobody else writes either. */
  exclusive<T>(work: () => T): T | Promise<T>;
  /** What `exclusive` has, until it is released. */
  acquire(): void | Promise<void>;
  release(): void;
  /** Who may write to the file, through whatever connection. */
  readonly pen: Turns;
  /** For what is to be read of one moment. */
  readonly readers: SqliteReaders;
  /** Has the WAL begin anew, while nobody reads in a snapshot. The thread of long commits does it where there is one. */
  cutWal(): Promise<void> | void;
  close(): void;
};

export function openSqlite(path: string): SqliteConnection {
  const database = new DatabaseSync(path);
  const pen = new Turns();
  const line = new Turns();
  const connection: SqliteConnection = {
    path,
    database,
    pen,
    readers: createSqliteReaders(path, () => connection.cutWal()),
    cutWal: () => connection.exclusive(() => cutWal(database)),
    statement: createStatements(database),
    close() {
      connection.readers.close();
      database.close();
    },
    acquire() {
      const turn = pen.acquire();
      return turn === undefined ? line.acquire() : turn.then(() => line.acquire());
    },
    release() {
      line.release();
      pen.release();
    },
    reading: (work) => during(work, line.acquire(), () => line.release()),
    exclusive: (work) => during(work, connection.acquire(), connection.release),
  };
  return connection;
}

/**
 * Has the WAL begin anew, at its shortest: two milliseconds for each mebibyte that is not in the file yet. To be called while nobody
 * writes, nor reads in a snapshot; readers of other programs are not waited for.
 */
export function cutWal(database: DatabaseSync): void {
  database.exec("pragma busy_timeout = 0");
  try {
    database.prepare("pragma wal_checkpoint(truncate)").all();
  } finally {
    database.exec("pragma busy_timeout = 5000");
  }
}

function during<T>(work: () => T, turn: void | Promise<void>, release: () => void): T | Promise<T> {
  const run = () => {
    try {
      return work();
    } finally {
      release();
    }
  };
  return turn === undefined ? run() : turn.then(run);
}

/** Kysely's own says no, and would run migrations outside a transaction; SQLite takes tables back like rows. */
class TransactionalAdapter extends SqliteAdapter {
  /** Our driver has everybody take turns, and knows that who reads need not wait for who wants to write. */
  override get supportsMultipleConnections(): boolean {
    return true;
  }

  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

export function sqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => sqliteDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/** What Kysely asks one after the other: alone, or in a transaction, which has the connection and the pen until it is over. */
type Session = DatabaseConnection & { hasTurn: boolean };

function sqliteDriver(connection: SqliteConnection): Driver {
  const { database } = connection;
  function run<R>({ sql, parameters }: CompiledQuery): QueryResult<R> {
    const statement = connection.statement(sql);
    const values = parameters as readonly SQLInputValue[];
    // Rows come without a prototype; a copy has one, as rows of PostgreSQL do.
    if (statement.columns().length > 0) return { rows: statement.all(...values).map((row) => ({ ...row })) as R[] };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }
  function newSession(): Session {
    const session: Session = {
      hasTurn: false,
      executeQuery: async <R>(query: CompiledQuery): Promise<QueryResult<R>> => {
        if (session.hasTurn) return run(query);
        return isReading(query) ? connection.reading(() => run<R>(query)) : connection.exclusive(() => run<R>(query));
      },
      streamQuery: () => {
        throw new Error("streaming is not supported: page by key instead");
      },
    };
    return session;
  }
  return {
    init: async () => {},
    acquireConnection: async () => newSession(),
    async beginTransaction(session) {
      if (!(session as Session).hasTurn) await connection.acquire();
      (session as Session).hasTurn = true;
      database.exec("begin immediate");
    },
    commitTransaction: async () => database.exec("commit"),
    rollbackTransaction: async () => database.exec("rollback"),
    async releaseConnection(session) {
      if ((session as Session).hasTurn) connection.release();
      (session as Session).hasTurn = false;
    },
    destroy: async () => connection.close(),
  };
}

/** Whatever is not plainly a question may write. */
function isReading({ sql }: CompiledQuery): boolean {
  return /^\s*select\s/i.test(sql);
}
