/**
 * The only function that writes: a group of activities in one transaction. An organization's items
 * commit all or not at all, and only on top of the version they were prepared on; organizations do not affect each other.
 */
import { setImmediate as breath } from "node:timers/promises";
import { finishWithBreaths } from "./breaths.ts";
import type { CommitGroup, CommitItem, CommittedGroup, Marks } from "./commit_item.ts";
import { planningGroup } from "./commit_plan.ts";
import * as postgres from "./commit_postgres.ts";
import * as sqlite from "./commit_sqlite.ts";
import { toLogRows } from "./log_rows.ts";
import type { OrganizationPlan } from "./organization_plan.ts";
import type { PostgresStore, SqliteStore, Store } from "./store.ts";

/**
 * One flag per item, in order. False: another writer was first (its version, fingerprint, leaf or birth), or an item
 * before it in its organization's chain does not fit; read again and repeat. An error means that nothing was committed,
 * unless the connection to PostgreSQL broke during the commit, or the thread of long commits ended: then only the database knows.
 */
export async function commitGroup(store: Store, ...group: CommitGroup): Promise<CommittedGroup> {
  const planned = await planCommit(...group);
  if (planned.hasManyRows) await breath();
  return planned.write(store);
}

/** What is left to do once it is planned. */
export type PlannedCommit = {
  hasManyRows: boolean;
  write(store: Writable): Promise<CommittedGroup>;
};

type Writable = Pick<SqliteStore, "dialect" | "sqlite"> | PostgresStore;

export async function planCommit(...[items, released, placed]: CommitGroup): Promise<PlannedCommit> {
  let workedMs = 0;
  const worked = (ms: number) => {
    workedMs += ms;
  };
  const { plans, planOf } = await finishWithBreaths(planningGroup(items), worked);
  const marks = { released, ...(placed === undefined ? noPlaces : toLogRows(placed)) };
  const isEmpty = plans.length + released.length + marks.entries.length === 0;
  return {
    hasManyRows: plans.some(hasManyRows),
    async write(store) {
      const done = isEmpty ? new Set<string>() : await write(store, plans, marks, worked);
      const firsts = await writeFirsts(
        store,
        items,
        plans.filter(({ organizationId, keys }) => keys.claims.isMixed && !done.has(organizationId)),
        worked,
      );
      const isDone = (plan: OrganizationPlan, index: number) => done.has(plan.organizationId) || firsts.has(index);
      return { committed: planOf.map((plan, index) => plan !== undefined && isDone(plan, index)), workedMs };
    },
  };
}

const manyRows = 100;

/** Planning a thousand rows holds the thread for ten milliseconds, and writing them for longer: others come in between. */
function hasManyRows({ entities }: OrganizationPlan): boolean {
  return entities.values().reduce((sum, planned) => sum + planned.size, 0) > manyRows;
}

const noPlaces = { entries: [], runs: [] };
const noMarks: Marks = { released: [], ...noPlaces };

/**
 * The first items of organizations whose items may have stood in each other's way: one takes what another frees. Alone the
 * first can only fail for what is committed already, so that nobody fails for ever.
 */
async function writeFirsts(
  store: Writable,
  items: readonly CommitItem[],
  missed: readonly OrganizationPlan[],
  worked: (ms: number) => void,
): Promise<Set<number>> {
  if (missed.length === 0) return new Set();
  const first = new Map(
    missed.map(({ organizationId }) => [
      organizationId,
      items.findIndex((item) => item.organizationId === organizationId),
    ]),
  );
  const { plans } = await finishWithBreaths(
    planningGroup(items.filter((_, index) => first.values().some((place) => place === index))),
  );
  const done = await write(store, plans, noMarks, worked);
  return new Set([...first].flatMap(([organizationId, index]) => (done.has(organizationId) ? index : [])));
}

/** Together, or when some organization violates a constraint, once more with each on a savepoint of its own. */
async function write(
  store: Writable,
  plans: readonly OrganizationPlan[],
  marks: Marks,
  worked: (ms: number) => void,
): Promise<Set<string>> {
  if (store.dialect === "postgres") {
    const begunAt = performance.now();
    return postgres.write(store, plans, marks).finally(() => worked(performance.now() - begunAt));
  }
  return store.sqlite.exclusive(() => {
    // Not what it waited for somebody else's.
    const begunAt = performance.now();
    try {
      return sqlite.write(store.sqlite, plans, marks);
    } finally {
      worked(performance.now() - begunAt);
    }
  });
}
