/** A connection to the SQLite file, refused unless what is committed through it stays. */
import { dirname } from "node:path";
import { Fault } from "@keystead/core/fault.ts";
import { openSqlite, type SqliteConnection } from "./sqlite_dialect.ts";

/** `checkpointPages`: how long the WAL may be before a commit also carries it into the file; 0 for never. */
export function openDurable(path: string, { checkpointPages }: { checkpointPages: number }): SqliteConnection {
  const sqlite = openSqlite(path);
  for (const setting of [
    "journal_mode = wal",
    "synchronous = full",
    "fullfsync = on",
    "checkpoint_fullfsync = on",
    "foreign_keys = on",
    // What is deleted or sealed anew is overwritten in the file, not only forgotten; SECURITY.md says where a copy may be left.
    "secure_delete = on",
    "busy_timeout = 5000",
    "cache_size = -8192",
    `wal_autocheckpoint = ${checkpointPages}`,
  ]) {
    sqlite.database.exec(`pragma ${setting}`);
  }
  // Some builds report FULL while syncing less, and a file system without shared memory silently stays out of WAL.
  const pragma = (name: string) => sqlite.database.prepare(`pragma ${name}`).get()?.[name];
  if (pragma("synchronous") !== 2 || pragma("journal_mode") !== "wal") {
    sqlite.database.close();
    throw new Fault(
      "failed_precondition",
      `the file system under \`${dirname(path)}\` does not support a durable database`,
    );
  }
  if (pragma("secure_delete") !== 1) {
    sqlite.database.close();
    throw new Fault("failed_precondition", "this build of SQLite does not overwrite what is deleted");
  }
  return sqlite;
}
