/**
 * The one door through which anything is written: a group of activities in one transaction. An organization's items
 * commit all or not at all, and only on top of the version they were prepared on; organizations do not affect each other.
 */
import type { Change } from "../state/entities.ts";
import type { ActivityRow } from "./activities.ts";
import { type OrganizationPlan, planGroup } from "./commit_plan.ts";
import * as postgres from "./commit_postgres.ts";
import * as sqlite from "./commit_sqlite.ts";
import type { NewRecordRow } from "./key_rows.ts";
import type { Store } from "./store.ts";

export type CommitItem = {
  organizationId: string;
  /** The version it was prepared on: the database's, or the one the item before it in this group produces. */
  expectedVersion: number;
  /** The header it was prepared on. A version alone could be another gateway's; with it, only this very state fits. */
  expectedHeader?: Uint8Array;
  /** The organization's row is inserted, not updated. `keyring` comes with the deployment's first. */
  birth?: { parentId?: string; organizationName: string; keyring?: Uint8Array };
  /** Absent for items that change no state (failed, refused, pure signing): they only need the version to stand. */
  next?: {
    version: number;
    header: Uint8Array;
    directory: Uint8Array;
    /** Those that differ from the state before. */
    pages: readonly { name: string; content: Uint8Array }[];
  };
  /** For the projection tables. */
  changes: readonly Change[];
  /** Wallets, accounts, private keys and texts of interfaces that come into the world. */
  records?: readonly NewRecordRow[];
  leaf: { boot: string; number: number; leaf: Uint8Array; sealed?: Uint8Array; made?: Uint8Array };
  /** New, or the next form of one that waited for consensus; a finished one is never overwritten. */
  activity?: ActivityRow;
  /** A vote on an activity that exists already. */
  vote?: { activityId: string; voteId: string; vote: string; createdAtMs: number };
  /** What policies said about that vote, or else about the submission, and JSON of why. */
  evaluations?: Uint8Array;
  explanation?: string;
  /** What the client's idempotency key stands for from now on. */
  idempotency?: { userId: string; idempotencyKey: string; request: string; createdAtMs: number };
  /** Of a refusal at submission: whose it is, and what it takes. */
  refused?: { userId: string; day: number; bytes: number };
  /** Organizations this item brings into the world: they commit with it, or not at all. */
  births?: readonly CommitItem[];
};

/** A leaf of an earlier group that the signer has released. `result` is the opened JSON, for the activity's row. */
export type ReleasedLeaf = {
  organizationId: string;
  boot: string;
  number: number;
  activityId?: string;
  result?: string;
};

/**
 * One flag per item, in order. False: another writer was first (its version, fingerprint, leaf or birth), or an item
 * before it in its organization's chain does not fit; read again and repeat. An error means that nothing was committed,
 * unless the connection to PostgreSQL broke during the commit: then only the database knows.
 */
export async function commitGroup(
  store: Store,
  items: readonly CommitItem[],
  released: readonly ReleasedLeaf[],
): Promise<{ committed: boolean[] }> {
  const { plans, planOf } = planGroup(items);
  const done = plans.length + released.length === 0 ? new Set<string>() : await write(store, plans, released);
  const firsts = await writeFirsts(
    store,
    items,
    plans.filter(({ organizationId, keys }) => keys.claims.isMixed && !done.has(organizationId)),
  );
  return {
    committed: planOf.map((plan, index) => plan !== undefined && (done.has(plan.organizationId) || firsts.has(index))),
  };
}

/**
 * The first items of organizations whose items may have stood in each other's way: one takes what another frees. Alone the
 * first can only fail for what is committed already, so that nobody fails for ever.
 */
async function writeFirsts(
  store: Store,
  items: readonly CommitItem[],
  missed: readonly OrganizationPlan[],
): Promise<Set<number>> {
  if (missed.length === 0) return new Set();
  const first = new Map(
    missed.map(({ organizationId }) => [
      organizationId,
      items.findIndex((item) => item.organizationId === organizationId),
    ]),
  );
  const { plans } = planGroup(items.filter((_, index) => first.values().some((place) => place === index)));
  const done = await write(store, plans, []);
  return new Set([...first].flatMap(([organizationId, index]) => (done.has(organizationId) ? index : [])));
}

/** Together, or when some organization violates a constraint, once more with each on a savepoint of its own. */
async function write(
  store: Store,
  plans: readonly OrganizationPlan[],
  released: readonly ReleasedLeaf[],
): Promise<Set<string>> {
  if (store.dialect === "postgres") return postgres.write(store, plans, released);
  return store.sqlite.exclusive(() => sqlite.write(store.sqlite, plans, released));
}
