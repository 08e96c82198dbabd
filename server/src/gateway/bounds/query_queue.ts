/**
 * The queue of queries. The gateway has one thread, and queries are answered in it: many at once of one organization would stand before
 * everybody else's at each step. So an organization whose queries take long has one answered at a time, and organizations take turns.
 * While others are there, it also rests in between: each of their requests takes several steps, and would meet one of its queries at
 * every one of them. What a query takes is not known from its parameters, but the organization's last ones tell.
 */
import { type Admission, createAdmission } from "./admission.ts";
import { queryLimits } from "./memory_bounds.ts";
import { createPresence, measureThread, type Presence, restAfter, type StartMeasuring } from "./presence.ts";

export type QueryQueue = {
  /** Answers a query of a caller that is known, when its turn comes. */
  answer<T>(organizationId: string, bytes: number, work: () => Promise<T>): Promise<T>;
  seen: Presence["seen"];
  waitingBytes(): number;
};

/** How much the newest query counts. */
const weightOfNewest = 0.25;
/** Of organizations that are remembered for what their queries take; others begin anew. */
const most = 4_096;
/** In microseconds, of an organization that is not known yet; and what is worth a rest. */
const usual = 1_000;
const long = 2_000;

/** The rest is after the answer: only the organization's next query waits for its end, and none for longer than this. */
const mostRestMs = 1_000;

export type QueryQueueOptions = { admission?: Admission; presence?: Presence; startMeasuring?: StartMeasuring };

export function createQueryQueue({
  admission = createAdmission(queryLimits),
  presence: { seen, isAlone } = createPresence(),
  startMeasuring = measureThread,
}: QueryQueueOptions = {}): QueryQueue {
  const costs = new Map<string, number>();

  function note(organizationId: string, before: number, tookMs: number): void {
    if (costs.size >= most) costs.clear();
    costs.set(organizationId, before + weightOfNewest * (tookMs * 1_000 - before));
  }

  return {
    seen,
    async answer(organizationId, bytes, work) {
      seen(organizationId);
      const known = costs.get(organizationId);
      const cost = known ?? usual;
      const weight = { cost, bytes };
      const turn = admission.enter(organizationId, weight);
      if (turn !== undefined) await turn;
      // Other events come first. What was read from many connections at once would otherwise be one long piece of work: each query would be
      // answered before the next is looked at, so that none of them ever waits.
      if (turn !== undefined || known === undefined || known > long)
        await new Promise((resolve) => setImmediate(resolve));
      const workedMs = startMeasuring();
      try {
        return await work();
      } finally {
        const tookMs = workedMs();
        note(organizationId, cost, tookMs);
        const leave = () => admission.leave(organizationId, weight);
        if (cost > long && !isAlone(organizationId)) setTimeout(leave, restAfter(tookMs, mostRestMs));
        else leave();
      }
    },
    waitingBytes: admission.waitingBytes,
  };
}
