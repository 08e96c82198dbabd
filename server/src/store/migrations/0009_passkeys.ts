import type { MigrationStep } from "./step.ts";

/**
 * Passkeys are credentials like API keys: their credential id is in the place of the key, so they are found and kept apart by the same
 * indexes. The rest of what is known about one is in a column of its own.
 */
export const passkeys: MigrationStep = async (db, { text }) => {
  await db.schema.alterTable("credentials").addColumn("passkey", text).execute();
  // Strangers can register an id or a key any number of times, and have it proven in sub-organizations of their own. The look-up reads the
  // oldest alone, and with this index nothing else.
  await db.schema.dropIndex("credentials_proven_across").execute();
  await db.schema
    .createIndex("credentials_across_by_age")
    .on("credentials")
    .columns(["public_key", "curve", "proven", "created_at_ms", "organization_id"])
    .execute();
};
