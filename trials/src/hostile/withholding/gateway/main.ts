/**
 * The real gateway with a hand in its database: while a file `withhold` lies in the database folder, what it commits is taken back
 * behind its back. It believes in its commits, has them released, and answers. Which leaves there would have been is written down in
 * the file `withheld`.
 */
import { appendFileSync, existsSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import pg from "pg";

type Place = { boot: string; number: number | string };

const leaves = "select boot, number from leaves";

function writeDown(during: readonly Place[], before: readonly Place[]): void {
  const name = ({ boot, number }: Place) => `${boot} ${number}\n`;
  const there = new Set(before.map(name));
  for (const line of during.map(name)) if (!there.has(line)) appendFileSync("withheld", line);
}

// On SQLite a commit is a transaction of many statements, of which the last is taken for another.
type Run = StatementSync["run"];

const { prepare } = DatabaseSync.prototype;
let isActivity = false;

DatabaseSync.prototype.prepare = function prepareWithheld(this: DatabaseSync, text: string): StatementSync {
  const statement = prepare.call(this, text);
  const run = statement.run.bind(statement) as Run;
  const leavesNow = () => prepare.call(this, leaves).all() as Place[];
  statement.run = ((...values: SQLInputValue[]) => {
    if (text === "begin immediate") isActivity = false;
    if (text.startsWith("insert into activities")) isActivity = true;
    const isWithheld = text === "commit" && isActivity && existsSync("withhold");
    if (!isWithheld) return run(...values);
    const during = leavesNow();
    const taken = prepare.call(this, "rollback").run();
    writeDown(during, leavesNow());
    return taken;
  }) as Run;
  return statement;
};

// On PostgreSQL it is one statement, around which a transaction is laid.
type Query = (statement: pg.QueryConfig) => Promise<pg.QueryResult>;

const query = pg.Pool.prototype.query as Query;

pg.Pool.prototype.query = async function queryWithheld(this: pg.Pool, ...given: Parameters<Query>) {
  const [statement] = given;
  const isActivity = typeof statement === "object" && statement.text.includes("insert into activities");
  if (!isActivity || !existsSync("withhold")) return query.apply(this, given);
  const client = await this.connect();
  try {
    const { rows: before } = await client.query<Place>(leaves);
    await client.query("begin");
    const result = await client.query(statement);
    const { rows: during } = await client.query<Place>(leaves);
    await client.query("rollback");
    writeDown(during, before);
    return result;
  } finally {
    client.release();
  }
} as unknown as typeof pg.Pool.prototype.query;

await import("../../../../../server/src/gateway/main.ts");
