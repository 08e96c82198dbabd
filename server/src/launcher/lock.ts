import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Refusal } from "./refusal.ts";

export type Lock = { release(): void };

/**
 * Holds the data folder for this launcher. SQLite's exclusive lock is a POSIX record lock, so the kernel drops it with the process,
 * also after kill -9; Node itself offers no file lock. `worksOnData` is true for work on this very folder: another would not help then.
 */
export function lockData(dataFolder: string, worksOnData: boolean): Lock {
  const path = join(dataFolder, "lock");
  // SQLite would create it readable to all, and a reader can hold a shared lock against us.
  closeSync(openSync(path, "a", 0o600));
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    if (!(cause instanceof Error && /locked/.test(cause.message))) throw cause;
    const advice = worksOnData
      ? ": stop the server first, then run this command again"
      : "; stop it, or set KEYSTEAD_DATA to another folder";
    throw new Refusal(`another Keystead is running on ${dataFolder}${advice}`);
  }
  return { release: () => database.close() };
}
