import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

/** Whether anybody is registered at an issuer. Each identity begins with its issuer, and may be longer than an entry of an index. */
export const identitiesByIssuer: MigrationStep = async (db) => {
  await db.schema
    .createIndex("credentials_by_issuer")
    .on("credentials")
    .expression(sql`substr(identity, 1, 600)`)
    .where(sql.ref("identity"), "is not", null)
    .execute();
};
