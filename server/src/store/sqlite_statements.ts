import type { DatabaseSync, StatementSync } from "node:sqlite";

/** Texts vary only with the length of lists, so the bound is far above what a server uses. */
const maxStatements = 1000;

/** The prepared statement of a text, on one connection. Its use ends before the next await, so sharing it is safe. */
export function createStatements(database: DatabaseSync): (text: string) => StatementSync {
  const statements = new Map<string, StatementSync>();
  return (text) => {
    let statement = statements.get(text);
    if (statement === undefined) {
      if (statements.size >= maxStatements) statements.clear();
      statement = database.prepare(text);
      statements.set(text, statement);
    }
    return statement;
  };
}
