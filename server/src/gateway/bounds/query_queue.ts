/**
 * The queue of queries. The gateway has one thread, and queries are answered in it: many at once of one organization would stand before
 * everybody else's at each step. So an organization whose queries take long has one answered at a time, and organizations take turns.
 * While others are there, it also rests in between: each of their requests takes several steps, and would meet one of its queries at
 * every one of them. What a query takes is not known from its parameters, but the organization's last ones tell.
 */
import { performance } from "node:perf_hooks";
import { type Admission, createAdmission } from "./admission.ts";
import { queryLimits } from "./memory_bounds.ts";

export type QueryQueue = {
  /** Answers a query of a caller that is known, when its turn comes. */
  answer<T>(organizationId: string, bytes: number, work: () => Promise<T>): Promise<T>;
  /** Somebody of this organization is being served. */
  seen(organizationId: string): void;
  waitingBytes(): number;
};

/** How much the newest query counts. */
const weightOfNewest = 0.25;
/** Of organizations that are remembered for what their queries take; others begin anew. */
const most = 4_096;
/** In microseconds, of an organization that is not known yet; and what is worth a rest. */
const usual = 1_000;
const long = 2_000;
/** Three times as long as the work took, as large bodies do: then others have three quarters of the time. */
const restTimes = 3;
const mostRestMs = 200;
/** An organization that was not seen for so long is not there. */
const presenceMs = 250;

/** Starts to measure, and returns how long the thread has worked since then, in milliseconds. */
type StartMeasuring = () => () => number;

/** What the thread did meanwhile, not what the database was waited for: a slow database is nobody's flood. */
const measureThread: StartMeasuring = () => {
  const begun = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(begun).active;
};

export function createQueryQueue(
  admission: Admission = createAdmission(queryLimits),
  startMeasuring: StartMeasuring = measureThread,
): QueryQueue {
  const costs = new Map<string, number>();

  /** The two that were seen last. */
  let [last, other] = ["", ""];
  let [lastAt, otherAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];

  function seen(organizationId: string): void {
    if (organizationId !== last) {
      other = last;
      otherAt = lastAt;
      last = organizationId;
    }
    lastAt = performance.now();
  }

  function isAlone(organizationId: string): boolean {
    const since = performance.now() - presenceMs;
    return !((last !== organizationId && lastAt > since) || (other !== organizationId && otherAt > since));
  }

  function note(organizationId: string, before: number, tookMs: number): void {
    if (costs.size >= most) costs.clear();
    costs.set(organizationId, before + weightOfNewest * (tookMs * 1_000 - before));
  }

  return {
    seen,
    async answer(organizationId, bytes, work) {
      seen(organizationId);
      const cost = costs.get(organizationId) ?? usual;
      const weight = { cost, bytes };
      const turn = admission.enter(organizationId, weight);
      if (turn !== undefined) {
        await turn;
        // Other events come first: without this, a series of queries would block the process as one long piece of work.
        await new Promise((resolve) => setImmediate(resolve));
      }
      const workedMs = startMeasuring();
      try {
        return await work();
      } finally {
        const tookMs = workedMs();
        note(organizationId, cost, tookMs);
        const leave = () => admission.leave(organizationId, weight);
        if (cost > long && !isAlone(organizationId)) setTimeout(leave, Math.min(restTimes * tookMs, mostRestMs));
        else leave();
      }
    },
    waitingBytes: admission.waitingBytes,
  };
}
