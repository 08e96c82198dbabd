/** Work of one kind that must not crowd out everything else: few pieces at once, and rests in between. */
import { performance } from "node:perf_hooks";
import { type ConcurrencyLimits, createConcurrencyLimit } from "./concurrency_limit.ts";

export type LimitedWork = <T>(work: () => Promise<T>) => Promise<T>;

/** A slot rests this many times as long as its work took, and no longer than this. */
const mostRestMs = 200;

/** `restTimes`: with 3, others have three quarters of whatever the work takes. */
export function createLimitedWork({ restTimes, ...limits }: ConcurrencyLimits & { restTimes: number }): LimitedWork {
  const limit = createConcurrencyLimit(limits);
  return async (work) => {
    await limit.enter(() => false);
    const begunMs = performance.now();
    try {
      return await work();
    } finally {
      limit.leave(Math.min(mostRestMs, restTimes * (performance.now() - begunMs)));
    }
  };
}
