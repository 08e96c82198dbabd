import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import type { Kysely } from "kysely";
import { withoutMac } from "../state/authenticity.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** A committed leaf that no gateway has marked as released. */
export type UnreleasedLeaf = {
  organizationId: string;
  boot: string;
  number: number;
  activityId: string | null;
  version: number | null;
  leaf: Uint8Array;
  header: Uint8Array | null;
  sealed: Uint8Array | null;
};

/**
 * Unreleased leaves with their bytes, for whoever narrows them down. Those are always few, and leaves are all there ever were: SQLite
 * takes the tables of a cross join in the order in which they are written, and would begin with the leaves of an inner one.
 */
export function selectUnreleased(db: Kysely<Tables>) {
  return db
    .selectFrom("unreleased")
    .crossJoin("leaves")
    .whereRef("leaves.organization_id", "=", "unreleased.organization_id")
    .whereRef("leaves.boot", "=", "unreleased.boot")
    .whereRef("leaves.number", "=", "unreleased.number")
    .select([
      "leaves.organization_id as organizationId",
      "leaves.boot",
      "leaves.number",
      "leaves.activity_id as activityId",
      "leaves.version",
      "leaves.leaf",
      "leaves.header",
      "leaves.sealed",
    ]);
}

/**
 * The activity is asked of each unreleased leaf by a subquery. Said of the joined leaves, it is a condition that PostgreSQL takes for one
 * that leaves a single row, and it reads all leaves of the organization for it whenever it believes that many are unreleased.
 */
const unreleasedOf = compiled("unreleased_of_activity", (db, organizationId: string, activityId: string) =>
  selectUnreleased(db)
    .where("unreleased.organization_id", "=", organizationId)
    .where(
      (inside) =>
        inside
          .selectFrom("leaves as own")
          .select("own.activity_id")
          .whereRef("own.organization_id", "=", "unreleased.organization_id")
          .whereRef("own.boot", "=", "unreleased.boot")
          .whereRef("own.number", "=", "unreleased.number"),
      "=",
      activityId,
    )
    .orderBy("leaves.number"),
);

const unreleasedBirths = compiled("unreleased_births", (db, parentId: string) =>
  selectUnreleased(db)
    .crossJoin("organizations")
    .whereRef("organizations.organization_id", "=", "unreleased.organization_id")
    .where("organizations.parent_id", "=", parentId)
    .where("leaves.version", "=", 1)
    .orderBy("leaves.number"),
);

/**
 * Leaves of one activity that no gateway has marked as released, its own and those of the organizations it brought into the world: its
 * answer must wait until they are.
 */
export async function findUnreleasedLeaves(
  store: Store,
  organizationId: string,
  activityId: string,
): Promise<UnreleasedLeaf[]> {
  const own = await unreleasedOf(store, organizationId, activityId);
  const births = await unreleasedBirths(store, organizationId);
  return [...own, ...births.filter(({ leaf }) => isOf(activityId, leaf))].map((row) => ({ ...row }));
}

const unreleasedOfOrganization = compiled("unreleased_of_organization", (db, organizationId: string) =>
  selectUnreleased(db).where("unreleased.organization_id", "=", organizationId).orderBy("leaves.number"),
);

/** All leaves of an organization that wait for their release. */
export async function loadUnreleasedOf(store: Store, organizationId: string): Promise<UnreleasedLeaf[]> {
  return (await unreleasedOfOrganization(store, organizationId)).map((row) => ({ ...row }));
}

const leafByNumber = compiled("leaf", (db, organizationId: string, boot: string, number: number) =>
  db
    .selectFrom("leaves")
    .select(["organization_id as organizationId", "boot", "number", "activity_id as activityId"])
    .select(["version", "leaf", "header", "sealed"])
    .where("organization_id", "=", organizationId)
    .where("boot", "=", boot)
    .where("number", "=", number),
);

/** One leaf by its name, released or not. */
export async function findLeaf(
  store: Store,
  organizationId: string,
  boot: string,
  number: number,
): Promise<UnreleasedLeaf | undefined> {
  const [row] = await leafByNumber(store, organizationId, boot, number);
  return row && { ...row };
}

const madeByNumber = compiled("made_with_leaf", (db, organizationId: string, boot: string, number: number) =>
  db
    .selectFrom("leaves")
    .select("made")
    .where("organization_id", "=", organizationId)
    .where("boot", "=", boot)
    .where("number", "=", number),
);

/** What lies beside a leaf about the records that came with it. */
export async function findMade(
  store: Store,
  organizationId: string,
  boot: string,
  number: number,
): Promise<Uint8Array | undefined> {
  const [row] = await madeByNumber(store, organizationId, boot, number);
  return row?.made ?? undefined;
}

const unreleasedLeaf = compiled("unreleased_leaf", (db, organizationId: string, boot: string, number: number) =>
  db
    .selectFrom("unreleased")
    .select("number")
    .where("organization_id", "=", organizationId)
    .where("boot", "=", boot)
    .where("number", "=", number),
);

/** Whether no gateway has marked this leaf as released. */
export async function isUnreleased(
  store: Store,
  organizationId: string,
  boot: string,
  number: number,
): Promise<boolean> {
  return (await unreleasedLeaf(store, organizationId, boot, number)).length > 0;
}

/** A leaf that somebody has damaged is nobody's; `keystead check-log` names it. */
function isOf(activityId: string, leaf: Uint8Array): boolean {
  try {
    return uuidFromBytes(decodeLeaf(withoutMac(leaf)).activityId) === activityId;
  } catch {
    return false;
  }
}
