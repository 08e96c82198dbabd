import type { MigrationStep } from "./step.ts";

/**
 * Passkeys are credentials like API keys: their credential id is in the place of the key, so they are found and kept apart by the same
 * indexes. The rest of what is known about one is in a column of its own.
 */
export const passkeys: MigrationStep = async (db, { text }) => {
  await db.schema.alterTable("credentials").addColumn("passkey", text).execute();
};
