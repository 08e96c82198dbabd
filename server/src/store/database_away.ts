import { Fault } from "@keystead/core/fault.ts";
import pg from "pg";

/**
 * What a failed query of PostgreSQL is to its caller. A server that is away, went away in the middle, or has no room or no leave to
 * write, is no mistake of ours: the caller may send the same request again. Everything else stays what it is.
 */
export function unlessAway(error: unknown): unknown {
  if (!isAway(error)) return error;
  const why = plainReason(error);
  const message = why === undefined ? "the database does not answer" : `the database cannot be used now (${why})`;
  return new Fault("unavailable", `${message}; try again`, { cause: error });
}

/** In words of ours, because PostgreSQL's name tables and paths: what the operator has to mend, where its state says that. */
const reasons: Readonly<Record<string, string>> = {
  "25006": "it is read-only",
  "53100": "its disk is full",
  "58030": "its disk fails",
};

/** Words that anybody may hear, if the error has any. */
export function plainReason(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? reasons[error.code ?? ""] : undefined;
}

function isAway(error: unknown): boolean {
  // The server's own words have a state: 08 is the connection, 53 a limit of the server, 57P its end or its start.
  if (error instanceof pg.DatabaseError) {
    return /^(08|53|57P)/.test(error.code ?? "") || plainReason(error) !== undefined;
  }
  if (!(error instanceof Error) || error instanceof Fault) return false;
  // The driver's have none; those of a socket name the call that failed.
  return "syscall" in error || /connection|timeout/i.test(error.message);
}
