/** Before the first test file: one PostgreSQL for all of them. Its absence is not an error here; suites skip and say so. */
import { type Postgres, startPostgres } from "../e2e/src/postgres.ts";

let postgres: Postgres | undefined;

export async function globalSetup(): Promise<void> {
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
}
