/**
 * How one host asks another for a signed statement about that host's log: through a row that the other one finds, answers and leaves there. No
 * host needs to know where another is.
 */
import { sql } from "kysely";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

/** As a query answers it. */
export type StatementWithLogs = { statement: string; logs: string };

/** `ask` is a new name each time: an answer that was signed before it was asked for is not taken for one to it. */
export async function askForStatement(
  { db }: Store,
  organizationId: string,
  logId: string,
  ask: string,
  nowMs: number,
): Promise<void> {
  const row = { organization_id: organizationId, log_id: logId, ask, is_asked: 1, created_at_ms: nowMs };
  await db
    .insertInto("log_statements")
    .values({ ...row, statement: null, logs: null })
    .onConflict((clash) =>
      clash.columns(["organization_id", "log_id"]).doUpdateSet({
        ask,
        is_asked: 1,
        // Since when nobody has answered.
        created_at_ms: sql<number>`case when log_statements.is_asked = 1 then log_statements.created_at_ms else ${nowMs} end`,
      }),
    )
    .execute();
}

const oneStatement = compiled("log_statement", (db, organizationId: string, logId: string) =>
  db
    .selectFrom("log_statements")
    .select(["statement", "logs"])
    .where("organization_id", "=", organizationId)
    .where("log_id", "=", logId)
    .where("is_asked", "=", sql.lit(0)),
);

/** Undefined while nobody has answered the newest ask. */
export async function findStatement(
  store: Store,
  organizationId: string,
  logId: string,
): Promise<StatementWithLogs | undefined> {
  const [row] = await oneStatement(store, organizationId, logId);
  return row && { statement: row.statement ?? "", logs: row.logs ?? "" };
}

const askedOfLog = compiled("log_statements_asked", (db, logId: string, limit: number) =>
  db
    .selectFrom("log_statements")
    .select(["organization_id as organizationId", "ask", "created_at_ms as askedAtMs"])
    .where("log_id", "=", logId)
    .where("is_asked", "=", sql.lit(1))
    .orderBy("created_at_ms")
    .limit(limit),
);

export type AskedStatement = { organizationId: string; ask: string; askedAtMs: number };

/** What nobody has answered yet about a log, the oldest first, whoever asked. */
export async function listAskedStatements(store: Store, logId: string, limit: number): Promise<AskedStatement[]> {
  return (await askedOfLog(store, logId, limit)).map((row) => ({ ...row }));
}

/** Nothing, if it has been asked for anew meanwhile: that is answered by itself. */
export async function answerStatement(
  { db }: Store,
  organizationId: string,
  logId: string,
  ask: string,
  answer: StatementWithLogs,
): Promise<void> {
  await db
    .updateTable("log_statements")
    .set({ is_asked: 0, ...answer })
    .where("organization_id", "=", organizationId)
    .where("log_id", "=", logId)
    .where("ask", "=", ask)
    .execute();
}
