import type { MigrationStep } from "./step.ts";

/** What a leaf's activity made, for whoever executes the log anew: records of deleted keys are gone. */
export const madeRecords: MigrationStep = async (db, { bytes }) => {
  await db.schema.alterTable("leaves").addColumn("made", bytes).execute();
};
