/**
 * The queue of queries. The gateway has one thread, and queries are answered in it: many at once of one organization would stand before
 * everybody else's at each step. So an organization whose queries take long has one answered at a time, organizations take turns, and
 * so do the callers within one. While others are there, an organization gets a quarter of the thread (thread_shares.ts) and rests when it
 * has had that. What a query takes is not known from its parameters, but the organization's last ones tell; and one that turns out to take
 * long while it is answered waits for a turn among its like before it goes on.
 */
import { createLru } from "../../state/lru.ts";
import { withLongTurn } from "../../store/long_turn.ts";
import { metered } from "../../store/thread_meter.ts";
import { type Admission, createAdmission } from "./admission.ts";
import type { Weight } from "./admission_limits.ts";
import { longQueryLimits, queryLimits } from "./memory_bounds.ts";
import { createPresence, type Presence } from "./presence.ts";
import { createThreadShares, rememberedOrganizations } from "./thread_shares.ts";

/** Of a caller that is known: a user of the organization, whose turns they are. */
export type QueuedQuery = { organizationId: string; caller: string; bytes: number };

/**
 * What a submit reads for its decision is work of the same thread, but it has a place with the signer already and does not wait for one
 * here. The organization is charged for it; returned is how long it is to rest, in milliseconds.
 */
export type ReadForSubmit = (organizationId: string, reading: () => Promise<void> | void) => Promise<number> | number;

/** Where there is no queue: nobody is charged. */
export const noRest: ReadForSubmit = (_, reading) => reading()?.then(() => 0) ?? 0;

export type QueryQueue = {
  /** Answers a query when its turn comes. */
  answer<T>(query: QueuedQuery, work: () => Promise<T>): Promise<T>;
  readForSubmit: ReadForSubmit;
  seen: Presence["seen"];
  waitingBytes(): { queries: number; longQueries: number };
};

/** How much the newest query counts where it took less than those before. Many short ones would otherwise soon hide a long one. */
const weightOfShorter = 0.05;
/** In microseconds. An organization's first query goes alone, and tells about the others. */
const unknown = queryLimits.cost;
/** For those that wait behind that one. */
const usual = 1_000;
/** Before those that take longer, other events come first. */
const long = 2_000;

/** What takes less is read for nearly every submit. */
const leastReadingMs = 1;

/** Does the work, and can say what the thread has done for it. */
type Measure = typeof metered;

export type QueryQueueOptions = { admission?: Admission; presence?: Presence; measure?: Measure; now?: () => number };

export function createQueryQueue({
  admission = createAdmission(queryLimits),
  presence: { seen, isAlone } = createPresence(),
  measure = metered,
  now,
}: QueryQueueOptions = {}): QueryQueue {
  /** Queries that turned out to take long, and go on among their like. */
  const longOnes = createAdmission(longQueryLimits);
  const charge = createThreadShares(isAlone, now);
  const costs = createLru<number>(rememberedOrganizations);
  /** Organizations whose first query is on its way. */
  const learning = new Set<string>();

  function note(organizationId: string, tookMs: number): void {
    const took = tookMs * 1_000;
    const before = costs.get(organizationId) ?? 0;
    costs.set(organizationId, Math.max(took, before + weightOfShorter * (took - before)), 1);
  }

  /** Resolves to the weight that it has its place with. */
  async function enter({ organizationId, caller, bytes }: QueuedQuery, isFirst: boolean): Promise<Weight> {
    const known = () => costs.get(organizationId) ?? unknown;
    const isBehindFirst = !isFirst && learning.has(organizationId);
    for (let cost = isBehindFirst ? usual : known(); ; cost = known()) {
      const weight = { cost, bytes };
      const turn = admission.enter(organizationId, weight, caller);
      if (turn !== undefined) await turn;
      if (!isMuchMore(known(), cost)) {
        // What was read from many connections at once would otherwise be one long piece of work: each query would be answered before the
        // next is looked at, so that none of them ever waits.
        if (turn !== undefined || cost > long) await new Promise((resolve) => setImmediate(resolve));
        return weight;
      }
      // While it waited, its organization's queries turned out to take long: it must not go beside others.
      admission.leave(organizationId, weight);
    }
  }

  async function answerInTurn<T>(query: QueuedQuery, work: () => Promise<T>, isFirst: boolean): Promise<T> {
    const { organizationId, caller, bytes } = query;
    type Place = { of: Admission; weight: Weight };
    let place: Place | undefined = { of: admission, weight: await enter(query, isFirst) };
    let workedMs = () => 0;
    let chargedMs = 0;

    function leavePlace(): void {
      const tookMs = workedMs() - chargedMs;
      chargedMs += tookMs;
      if (place?.of === admission) note(organizationId, tookMs);
      const restMs = charge(organizationId, tookMs);
      place?.of.leave(organizationId, place.weight, restMs);
      place = undefined;
    }

    /** While it waits it has no place: neither short queries nor those of others stand behind it. */
    async function takePlaceOfLong(): Promise<void> {
      // It may be the first thing that the work does: from the next moment on it is measured.
      await undefined;
      leavePlace();
      const weight = { cost: usual, bytes };
      await longOnes.enter(organizationId, weight, caller);
      place = { of: longOnes, weight };
      await new Promise((resolve) => setImmediate(resolve));
    }

    const takeLongTurn = () => (place?.of === admission ? takePlaceOfLong() : undefined);
    const measured = measure(() => withLongTurn(takeLongTurn, work));
    workedMs = measured.workedMs;
    try {
      return await measured.value;
    } finally {
      leavePlace();
    }
  }

  return {
    seen,
    async answer(query, work) {
      const { organizationId } = query;
      seen(organizationId);
      const isFirst = costs.get(organizationId) === undefined && !learning.has(organizationId);
      if (!isFirst) return answerInTurn(query, work, false);
      learning.add(organizationId);
      try {
        return await answerInTurn(query, work, true);
      } finally {
        learning.delete(organizationId);
      }
    },
    async readForSubmit(organizationId, reading) {
      // Many may be let in at one moment: what they do at once is one burst, and each would be charged for all of it.
      await new Promise((resolve) => setImmediate(resolve));
      const { value, workedMs } = measure(reading);
      await value;
      const tookMs = workedMs();
      return tookMs < leastReadingMs ? 0 : charge(organizationId, tookMs);
    },
    waitingBytes: () => ({ queries: admission.waitingBytes(), longQueries: longOnes.waitingBytes() }),
  };
}

/** So much that a query which is to go with others would have to go with fewer. It at least doubles, so this is soon over. */
function isMuchMore(cost: number, taken: number): boolean {
  return cost > long && cost > 2 * taken;
}
