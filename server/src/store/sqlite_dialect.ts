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

/** Texts vary only with the length of lists, so the bound is far above what a server uses. */
const maxStatements = 1000;

export type SqliteConnection = {
  readonly database: DatabaseSync;
  /** The prepared statement of a text. Its use ends before the next await, so sharing it is safe. */
  statement(text: string): StatementSync;
  /** Runs `work` while no Kysely transaction is open: at once, in this same tick, unless one is. */
  exclusive<T>(work: () => T): T | Promise<T>;
  acquire(): void | Promise<void>;
  release(): void;
};

export function openSqlite(path: string): SqliteConnection {
  const database = new DatabaseSync(path);
  const statements = new Map<string, StatementSync>();
  const waiting: (() => void)[] = [];
  let taken = false;
  const connection: SqliteConnection = {
    database,
    statement(text) {
      let statement = statements.get(text);
      if (statement === undefined) {
        if (statements.size >= maxStatements) statements.clear();
        statement = database.prepare(text);
        statements.set(text, statement);
      }
      return statement;
    },
    acquire() {
      if (taken) return new Promise((resolve) => waiting.push(resolve));
      taken = true;
    },
    release() {
      const next = waiting.shift();
      if (next === undefined) taken = false;
      else next();
    },
    exclusive(work) {
      const run = () => {
        try {
          return work();
        } finally {
          connection.release();
        }
      };
      const turn = connection.acquire();
      return turn === undefined ? run() : turn.then(run);
    },
  };
  return connection;
}

/** Kysely's own says no, and would run migrations outside a transaction; SQLite takes tables back like rows. */
class TransactionalAdapter extends SqliteAdapter {
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

function sqliteDriver(connection: SqliteConnection): Driver {
  const session: DatabaseConnection = {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> => {
      const statement = connection.statement(sql);
      const values = parameters as readonly SQLInputValue[];
      // Rows come without a prototype; a copy has one, as rows of PostgreSQL do.
      if (statement.columns().length > 0) return { rows: statement.all(...values).map((row) => ({ ...row })) as R[] };
      const { changes, lastInsertRowid } = statement.run(...values);
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    },
    streamQuery: () => {
      throw new Error("streaming is not supported: page by key instead");
    },
  };
  return {
    init: async () => {},
    acquireConnection: async () => {
      await connection.acquire();
      return session;
    },
    releaseConnection: async () => connection.release(),
    beginTransaction: async () => connection.database.exec("begin immediate"),
    commitTransaction: async () => connection.database.exec("commit"),
    rollbackTransaction: async () => connection.database.exec("rollback"),
    destroy: async () => connection.database.close(),
  };
}
