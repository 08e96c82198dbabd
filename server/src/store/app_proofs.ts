/** App proofs of activities, and what the proven decisions were taken on. */
import type { KeptPart } from "../state/decision_context.ts";
import { compiled } from "./compiled.ts";
import { joinPieces, piecesIn } from "./context_pieces.ts";
import type { Store } from "./store.ts";

/** As a commit brings them. */
export type NewAppProofs = {
  sealed: Uint8Array;
  /** The context of the decision, and its parts. */
  contexts: readonly KeptPart[];
};

/** App proofs of one activity: JSON once they are open, and what the signer opens until then. */
export type StoredAppProofs = {
  organizationId: string;
  activityId: string;
  boot: string;
  number: number;
  sealed: Uint8Array;
  proofs: string | null;
};

const proofsOf = compiled("app_proofs", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("app_proofs")
    .select(["organization_id as organizationId", "activity_id as activityId", "boot", "number", "sealed", "proofs"])
    .where("organization_id", "=", organizationId)
    .where("activity_id", "=", activityId),
);

/** None of an activity that did not ask for them, or is not over. */
export async function findAppProofs(
  store: Store,
  organizationId: string,
  activityId: string,
): Promise<StoredAppProofs | undefined> {
  const [row] = await proofsOf(store, organizationId, activityId);
  return row && { ...row };
}

/** Of several activities, those that have any. */
export async function loadAppProofs(
  { db }: Store,
  organizationId: string,
  activityIds: readonly string[],
): Promise<StoredAppProofs[]> {
  if (activityIds.length === 0) return [];
  const rows = await db
    .selectFrom("app_proofs")
    .select(["organization_id as organizationId", "activity_id as activityId", "boot", "number", "sealed", "proofs"])
    .where("organization_id", "=", organizationId)
    .where("activity_id", "in", [...activityIds])
    .execute();
  return rows.map((row) => ({ ...row }));
}

export type StoredContext = { digest: string; ownerId: string; content: Uint8Array };

/** Contexts and their parts, by the hex of their digests. What is missing, or lacks a piece, is left out. */
export async function loadContexts(
  store: Store,
  organizationId: string,
  digests: readonly string[],
): Promise<StoredContext[]> {
  const rows = await loadRows(store, organizationId, digests);
  const named = rows.flatMap(({ content }) => piecesIn(content) ?? []);
  const loaded = await loadRows(store, organizationId, [...new Set(named)]);
  const pieces = new Map(loaded.map(({ digest, content }) => [digest, content]));
  return rows.flatMap((row) => {
    const own = piecesIn(row.content);
    const content = own === undefined ? row.content : joinPieces(own, pieces);
    return content === undefined ? [] : [{ ...row, content }];
  });
}

/** A statement takes so many values. */
const rowsAtOnce = 500;

async function loadRows({ db }: Store, organizationId: string, digests: readonly string[]): Promise<StoredContext[]> {
  const found: StoredContext[] = [];
  for (let at = 0; at < digests.length; at += rowsAtOnce) {
    const rows = await db
      .selectFrom("decision_contexts")
      .select(["digest", "owner_id as ownerId", "content"])
      .where("organization_id", "=", organizationId)
      .where("digest", "in", digests.slice(at, at + rowsAtOnce))
      .execute();
    found.push(...rows.map((row) => ({ ...row })));
  }
  return found;
}
