/** Brings a database forward, never back. Each step is one object here and stays as it is once released. */
import { Fault } from "@keystead/core/fault.ts";
import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { firstTables } from "./0001_first_tables.ts";
import { votesAndSubOrganizations } from "./0002_votes_and_sub_organizations.ts";
import { keys } from "./0003_keys.ts";
import { policies } from "./0004_policies.ts";
import { madeRecords } from "./0005_made_records.ts";
import { provenKeys } from "./0006_proven_keys.ts";
import { refusedBytes } from "./0007_refused_bytes.ts";
import { leafFormat2 } from "./0008_leaf_format_2.ts";
import { passkeys } from "./0009_passkeys.ts";
import { sessionProfiles } from "./0010_session_profiles.ts";
import { oneTimeCodes } from "./0011_one_time_codes.ts";
import { outbox } from "./0012_outbox.ts";
import { emailEvents } from "./0013_email_events.ts";
import { verifiedContacts } from "./0014_verified_contacts.ts";
import { sealedBodies } from "./0015_sealed_bodies.ts";
import { oauthProviders } from "./0016_oauth_providers.ts";
import { authProxies } from "./0017_auth_proxies.ts";
import { publicLog } from "./0018_log.ts";
import { disclosures } from "./0019_disclosures.ts";
import { bootProofs } from "./0020_boot_proofs.ts";
import { appProofs } from "./0021_app_proofs.ts";
import { logStatements } from "./0022_log_statements.ts";
import { sealedDisclosures } from "./0023_sealed_disclosures.ts";
import { plainPages } from "./0024_plain_pages.ts";
import { contactClaims } from "./0025_contact_claims.ts";
import { identitiesByIssuer } from "./0026_identities_by_issuer.ts";
import { columnTypes, type MigrationStep, type SqlDialect } from "./step.ts";

/** In order of their names. */
export const migrations: Readonly<Record<string, MigrationStep>> = {
  "0001_first_tables": firstTables,
  "0002_votes_and_sub_organizations": votesAndSubOrganizations,
  "0003_keys": keys,
  "0004_policies": policies,
  "0005_made_records": madeRecords,
  "0006_proven_keys": provenKeys,
  "0007_refused_bytes": refusedBytes,
  "0008_leaf_format_2": leafFormat2,
  "0009_passkeys": passkeys,
  "0010_session_profiles": sessionProfiles,
  "0011_one_time_codes": oneTimeCodes,
  "0012_outbox": outbox,
  "0013_email_events": emailEvents,
  "0014_verified_contacts": verifiedContacts,
  "0015_sealed_bodies": sealedBodies,
  "0016_oauth_providers": oauthProviders,
  "0017_auth_proxies": authProxies,
  "0018_log": publicLog,
  "0019_disclosures": disclosures,
  "0020_boot_proofs": bootProofs,
  "0021_app_proofs": appProofs,
  "0022_log_statements": logStatements,
  "0023_sealed_disclosures": sealedDisclosures,
  "0024_plain_pages": plainPages,
  "0025_contact_claims": contactClaims,
  "0026_identities_by_issuer": identitiesByIssuer,
};

/** A database that has steps we do not know was written by a newer release: it is refused, untouched. */
export async function migrate<T>(
  db: Kysely<T>,
  dialect: SqlDialect,
  steps: Readonly<Record<string, MigrationStep>> = migrations,
): Promise<void> {
  const types = columnTypes(dialect);
  const all: Record<string, Migration> = {};
  for (const [name, step] of Object.entries(steps)) all[name] = { up: (tx) => step(tx, types) };
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => all },
    migrationTableName: "migrations",
    migrationLockTableName: "migrations_lock",
  });
  const known = new Set(Object.keys(steps));
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const missing = /previously executed migration (\S+) is missing/.exec(String(error))?.[1];
  if (missing !== undefined && !known.has(missing)) {
    throw new Fault(
      "failed_precondition",
      `the database was written by a newer release: it has migration \`${missing}\``,
    );
  }
  throw error;
}
