/**
 * Everything that is sealed under the root key, of every organization: for the one piece of work that seals it anew. A row changes
 * only if it still holds the box that was read.
 */
import { sql } from "kysely";
import type { KeyRecordKind } from "../state/records.ts";
import { keyTables } from "./key_rows.ts";
import { selectUnreleased } from "./leaves.ts";
import type { Store } from "./store.ts";

export type RecordPosition = { organizationId: string; id: string };
export type SealedRecord = RecordPosition & { content: Uint8Array; sealed: Uint8Array };

/** In the order of the primary key. */
export async function listSealedRecords(
  { db }: Store,
  kind: KeyRecordKind,
  after: RecordPosition | undefined,
  limit: number,
): Promise<SealedRecord[]> {
  const { table, id } = keyTables[kind];
  const { organizationId, id: afterId } = after ?? { organizationId: "", id: "" };
  const { rows } = await sql<SealedRecord>`
    select organization_id as "organizationId", ${sql.ref(id)} as id, record as content, sealed
    from ${sql.table(table)} where (organization_id, ${sql.ref(id)}) > (${organizationId}, ${afterId})
    order by organization_id, ${sql.ref(id)} limit ${limit}`.execute(db);
  return rows;
}

/** A box that was read, and the one that takes its place. */
export type Replaced<Row> = { row: Row; sealed: Uint8Array };

/** All in one transaction. */
export async function replaceRecords(
  { db }: Store,
  kind: KeyRecordKind,
  replaced: readonly Replaced<SealedRecord>[],
): Promise<void> {
  const { table, id } = keyTables[kind];
  await db.transaction().execute(async (tx) => {
    for (const { row, sealed } of replaced) {
      await sql`update ${sql.table(table)} set sealed = ${sealed}
        where organization_id = ${row.organizationId} and ${sql.ref(id)} = ${row.id} and sealed = ${row.sealed}`.execute(
        tx,
      );
    }
  });
}

export type SealedLeaf = { organizationId: string; boot: string; number: number; leaf: Uint8Array; sealed: Uint8Array };

/** Results that nobody has opened yet. One that was released lies open in its activity, or ends soon. */
export async function listSealedLeaves({ db }: Store, limit: number, offset: number): Promise<SealedLeaf[]> {
  const rows = await selectUnreleased(db)
    .where("leaves.sealed", "is not", null)
    .orderBy("leaves.organization_id")
    .orderBy("leaves.boot")
    .orderBy("leaves.number")
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.flatMap(({ organizationId, boot, number, leaf, sealed }) =>
    sealed === null ? [] : [{ organizationId, boot, number, leaf, sealed }],
  );
}

export async function replaceLeaves({ db }: Store, replaced: readonly Replaced<SealedLeaf>[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const { row, sealed } of replaced) {
      await tx
        .updateTable("leaves")
        .set({ sealed })
        .where("organization_id", "=", row.organizationId)
        .where("boot", "=", row.boot)
        .where("number", "=", row.number)
        .where("sealed", "=", row.sealed)
        .execute();
    }
  });
}

export type SealedBody = RecordPosition & { fingerprint: string; sealed: Uint8Array };

/** Bodies whose bearer values have not ended, in the order of the primary key. */
export async function listSealedBodies(
  { db }: Store,
  after: RecordPosition | undefined,
  limit: number,
): Promise<SealedBody[]> {
  const { organizationId, id } = after ?? { organizationId: "", id: "" };
  const { rows } = await sql<SealedBody>`
    select sealed_bodies.organization_id as "organizationId", sealed_bodies.activity_id as id, fingerprint, sealed
    from sealed_bodies join activities on activities.organization_id = sealed_bodies.organization_id
      and activities.activity_id = sealed_bodies.activity_id
    where (sealed_bodies.organization_id, sealed_bodies.activity_id) > (${organizationId}, ${id})
    order by sealed_bodies.organization_id, sealed_bodies.activity_id limit ${limit}`.execute(db);
  return rows;
}

export async function replaceBodies({ db }: Store, replaced: readonly Replaced<SealedBody>[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const { row, sealed } of replaced) {
      await tx
        .updateTable("sealed_bodies")
        .set({ sealed })
        .where("organization_id", "=", row.organizationId)
        .where("activity_id", "=", row.id)
        .where("sealed", "=", row.sealed)
        .execute();
    }
  });
}

export type SealedDisclosure = RecordPosition & { sealed: Uint8Array };

/** Tokens that have not ended, in the order of the primary key. Their ids are their digests. */
export async function listSealedDisclosures(
  { db }: Store,
  after: RecordPosition | undefined,
  limit: number,
): Promise<SealedDisclosure[]> {
  const { organizationId, id } = after ?? { organizationId: "", id: "" };
  const { rows } = await sql<SealedDisclosure>`
    select organization_id as "organizationId", digest as id, sealed from sealed_disclosures
    where (organization_id, digest) > (${organizationId}, ${id}) order by organization_id, digest limit ${limit}`.execute(
    db,
  );
  return rows;
}

export async function replaceDisclosures(
  { db }: Store,
  replaced: readonly Replaced<SealedDisclosure>[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const { row, sealed } of replaced) {
      await tx
        .updateTable("sealed_disclosures")
        .set({ sealed })
        .where("organization_id", "=", row.organizationId)
        .where("digest", "=", row.id)
        .where("sealed", "=", row.sealed)
        .execute();
    }
  });
}

/** Results of these activities. As long as their bodies are sealed, whoever sends one again is given its result again. */
export async function listLeavesOf({ db }: Store, bodies: readonly RecordPosition[]): Promise<SealedLeaf[]> {
  const found: SealedLeaf[] = [];
  for (const { organizationId, id } of bodies) {
    const rows = await db
      .selectFrom("leaves")
      .select(["organization_id as organizationId", "boot", "number", "leaf", "sealed"])
      .where("organization_id", "=", organizationId)
      .where("activity_id", "=", id)
      .where("sealed", "is not", null)
      .execute();
    found.push(...rows.flatMap(({ sealed, ...row }) => (sealed === null ? [] : [{ ...row, sealed }])));
  }
  return found;
}

export type SealedProofs = RecordPosition & { leaf: Uint8Array; sealed: Uint8Array };

/** App proofs with the leaves that they open beside, in the order of the primary key. Open ones, too: they are held against their boxes. */
export async function listSealedProofs(
  { db }: Store,
  after: RecordPosition | undefined,
  limit: number,
): Promise<SealedProofs[]> {
  const { organizationId, id } = after ?? { organizationId: "", id: "" };
  const { rows } = await sql<SealedProofs>`
    select app_proofs.organization_id as "organizationId", app_proofs.activity_id as id, leaf, app_proofs.sealed as sealed
    from app_proofs join leaves on leaves.organization_id = app_proofs.organization_id
      and leaves.boot = app_proofs.boot and leaves.number = app_proofs.number
    where (app_proofs.organization_id, app_proofs.activity_id) > (${organizationId}, ${id})
    order by app_proofs.organization_id, app_proofs.activity_id limit ${limit}`.execute(db);
  return rows;
}

export async function replaceProofs({ db }: Store, replaced: readonly Replaced<SealedProofs>[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    for (const { row, sealed } of replaced) {
      await tx
        .updateTable("app_proofs")
        .set({ sealed })
        .where("organization_id", "=", row.organizationId)
        .where("activity_id", "=", row.id)
        .where("sealed", "=", row.sealed)
        .execute();
    }
  });
}

export async function replaceKeyring({ db }: Store, before: Uint8Array, keyring: Uint8Array): Promise<void> {
  await db.updateTable("deployment").set({ keyring }).where("keyring", "=", before).execute();
}
