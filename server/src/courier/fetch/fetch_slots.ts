/** How many fetches run at once, in total and to one host; others wait for their turn. */
import { FetchFailure } from "./fetch_failure.ts";

export type SlotLimits = { total: number; perHost: number; waiting: number };

export type FetchSlots = {
  /** Resolves when it may begin; the function that it gives back ends it. Rejects when too many wait, and with the signal's reason. */
  take(host: string, signal: AbortSignal): Promise<() => void>;
};

type Waiter = { host: string; begin(): void };

export function createFetchSlots({ total, perHost, waiting }: SlotLimits): FetchSlots {
  const running = new Map<string, number>();
  const queue: Waiter[] = [];
  let count = 0;

  const isFree = (host: string) => count < total && (running.get(host) ?? 0) < perHost;

  function begin(host: string): () => void {
    count += 1;
    running.set(host, (running.get(host) ?? 0) + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      count -= 1;
      const left = (running.get(host) ?? 1) - 1;
      if (left === 0) running.delete(host);
      else running.set(host, left);
      startNext();
    };
  }

  /** The first that may: a host that has all of its own does not hold up others. */
  function startNext(): void {
    const place = queue.findIndex(({ host }) => isFree(host));
    if (place >= 0) queue.splice(place, 1)[0]?.begin();
  }

  return {
    async take(host, signal) {
      signal.throwIfAborted();
      if (isFree(host)) return begin(host);
      if (queue.length >= waiting) throw new FetchFailure("busy", "too many fetches wait; try again");
      return new Promise((resolve, reject) => {
        const waiter: Waiter = {
          host,
          begin() {
            signal.removeEventListener("abort", giveUp);
            resolve(begin(host));
          },
        };
        const giveUp = () => {
          const place = queue.indexOf(waiter);
          if (place >= 0) queue.splice(place, 1);
          reject(signal.reason);
        };
        signal.addEventListener("abort", giveUp, { once: true });
        queue.push(waiter);
      });
    },
  };
}
