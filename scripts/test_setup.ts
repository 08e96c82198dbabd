/**
 * Before the first test file: one PostgreSQL for all of them, and one folder that all of them put theirs into, which goes with the last
 * test. The absence of PostgreSQL is not an error here; suites skip and say so.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Postgres, startPostgres } from "../e2e/src/postgres.ts";

let postgres: Postgres | undefined;
let folder: string | undefined;

export async function globalSetup(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), "keystead-tests-"));
  // Servers that run as users of their own pass through it.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  // Hundreds of test files load the same modules. The servers they start never see this: their environment is the launcher's.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  if (process.env.KEYSTEAD_TEST_DATABASE_URL) return;
  try {
    postgres = await startPostgres();
    process.env.KEYSTEAD_TEST_DATABASE_URL = postgres.url;
  } catch (error) {
    process.env.KEYSTEAD_TEST_DATABASE_MISSING = error instanceof Error ? error.message : String(error);
  }
}

/** Silent, so that the runner's summary stays last. */
export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
