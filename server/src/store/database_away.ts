import { Fault } from "@keystead/core/fault.ts";
import pg from "pg";

/**
 * What a failed query of PostgreSQL is to its caller. A server that is away, or went away in the middle, is no mistake of
 * ours: the caller may send the same request again. Everything else stays what it is.
 */
export function unlessAway(error: unknown): unknown {
  return isAway(error) ? new Fault("unavailable", "the database does not answer; try again", { cause: error }) : error;
}

function isAway(error: unknown): boolean {
  // The server's own words have a state: 08 is the connection, 53 a limit of the server, 57P its end or its start.
  if (error instanceof pg.DatabaseError) return /^(08|53|57P)/.test(error.code ?? "");
  if (!(error instanceof Error) || error instanceof Fault) return false;
  // The driver's have none; those of a socket name the call that failed.
  return "syscall" in error || /connection|timeout/i.test(error.message);
}
