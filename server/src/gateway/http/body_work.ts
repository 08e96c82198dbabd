/**
 * Bounds the work on requests by their bodies: all bodies together in bytes, and large ones to one at a time with a pause in between,
 * so that small requests always find the process free.
 */
import { Fault } from "@keystead/core/fault.ts";
import { createConcurrencyLimit } from "../bounds/concurrency_limit.ts";
import type { Connection } from "./connection.ts";

export type BodyWorkLimits = {
  /** Bodies from here on are large. They are worked on one at a time, with a pause in between. */
  largeBytes: number;
  /** Large requests that wait for that. */
  largeWaiting: number;
  /** Of all bodies whose requests are worked on. */
  bodiesBytes: number;
};

export type BodyWork = {
  /** Undefined when work on the request may begin at once; otherwise resolves when it may. Throws when too many wait. */
  begin(connection: Connection, bodyBytes: number, isOpen: () => boolean): Promise<void> | undefined;
  /** The answer is written, or never will be. May be called again. */
  end(connection: Connection): void;
  bytes(): number;
};

/** Three times as long as the work took, so that large requests have a quarter of the time, unless they only waited for others. */
const pauseFactor = 3;
const maxPauseMs = 300;

export const tooManyLarge = "too many large requests at once; try again";

export function createBodyWork(limits: BodyWorkLimits): BodyWork {
  const large = createConcurrencyLimit({ slots: 1, waiting: limits.largeWaiting, refusal: tooManyLarge });
  let allBytes = 0;

  function end(connection: Connection): void {
    connection.releaseSlot?.();
    connection.releaseSlot = undefined;
    allBytes -= connection.bodyBytes;
    connection.bodyBytes = 0;
  }

  return {
    begin(connection, bodyBytes, isOpen) {
      if (allBytes + bodyBytes > limits.bodiesBytes) throw new Fault("resource_exhausted", tooManyLarge);
      allBytes += bodyBytes;
      connection.bodyBytes += bodyBytes;
      if (bodyBytes < limits.largeBytes) return undefined;
      const begun = (): void => {
        const begunAt = performance.now();
        connection.releaseSlot = () => large.leave(Math.min(pauseFactor * (performance.now() - begunAt), maxPauseMs));
        // Closed in the moment it was its turn: nothing else would give the slot back.
        if (!isOpen()) end(connection);
      };
      const waited = large.enter(() => connection.socket.destroyed);
      if (waited !== undefined) return waited.then(begun);
      begun();
      return undefined;
    },
    end,
    bytes: () => allBytes,
  };
}
