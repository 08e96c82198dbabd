import {
  forgetCodes,
  forgetIdempotencyKeys,
  forgetLogStatements,
  forgetMessages,
  forgetRefusedBytes,
  forgetSignUpClaims,
} from "../../store/across_ended.ts";
import type { Store } from "../../store/store.ts";
import type { Job } from "./job_runner.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Rows that mean nothing any more are deleted: after a day, or those that tell of contacts after `contactDays`. */
export function expiryJobs(store: Store, contactDays: number): Job[] {
  return [
    {
      name: "delete old idempotency keys",
      everyMs: hourMs,
      run: (signal) => forgetIdempotencyKeys(store, Date.now(), signal),
    },
    { name: "delete old counts of refusals", everyMs: hourMs, run: () => forgetRefusedBytes(store, Date.now()) },
    {
      name: "delete old messages",
      everyMs: hourMs,
      run: (signal) => forgetMessages(store, Date.now() - contactDays * dayMs, signal),
    },
    {
      name: "delete old claims of sign-ups",
      everyMs: hourMs,
      run: (signal) => forgetSignUpClaims(store, Date.now() - hourMs, signal),
    },
    {
      name: "delete old statements about logs",
      everyMs: hourMs,
      run: (signal) => forgetLogStatements(store, Date.now() - hourMs, signal),
    },
    {
      name: "delete old one-time codes",
      everyMs: hourMs,
      run: (signal) => forgetCodes(store, Date.now() - contactDays * dayMs, signal),
    },
  ];
}
