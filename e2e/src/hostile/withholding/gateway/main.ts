/**
 * The real gateway with a hand in its database: while a file `withhold` lies in the database folder, what it commits is taken back
 * behind its back. It believes in its commits, has them released, and answers.
 */
import { existsSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

type Run = StatementSync["run"];

const { prepare } = DatabaseSync.prototype;
let isActivity = false;

DatabaseSync.prototype.prepare = function prepareWithheld(this: DatabaseSync, text: string): StatementSync {
  const statement = prepare.call(this, text);
  const run = statement.run.bind(statement) as Run;
  statement.run = ((...values: SQLInputValue[]) => {
    if (text === "begin immediate") isActivity = false;
    if (text.startsWith("insert into activities")) isActivity = true;
    const isWithheld = text === "commit" && isActivity && existsSync("withhold");
    return isWithheld ? prepare.call(this, "rollback").run() : run(...values);
  }) as Run;
  return statement;
};

await import("../../../../../server/src/gateway/main.ts");
