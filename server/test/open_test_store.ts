/** Stores for tests: every suite runs on both databases, each test on an empty one of its own. */
import type { TestContext } from "node:test";
import { databaseTemplate, testSource } from "../../e2e/src/databases.ts";
import { closeStore, openStore, type Store } from "../src/store/store.ts";

export { administer, databaseUrl, dialects, openSession, testSource } from "../../e2e/src/databases.ts";

/** Migrating an empty PostgreSQL takes longer than most tests: one for each test file is migrated, and the others are its copies. */
const migrated = databaseTemplate(async (source) => closeStore(await openStore(source)));

/** `testSource` for the common case of one open store. */
export async function openTestStore(t: TestContext, dialect: Store["dialect"]): Promise<Store | undefined> {
  const source = await testSource(t, dialect, migrated);
  if (source === undefined) return undefined;
  const store = await openStore(source);
  t.after(() => closeStore(store));
  return store;
}
