import type { MigrationStep } from "./step.ts";

/**
 * Links to identity providers are credentials like the others: the digest of the identity is in the place of the key, so they are found by
 * the same indexes. Issuer, audience and subject are in a column of their own.
 */
export const oauthProviders: MigrationStep = async (db, { text }) => {
  await db.schema.alterTable("credentials").addColumn("identity", text).execute();
};
