import type { MigrationStep } from "./step.ts";

/**
 * Leaves are bytes to the database, so no table changes. The step tells an older release, which could not read new leaves, that it
 * must not go on with this database.
 */
export const leafFormat2: MigrationStep = async () => undefined;
