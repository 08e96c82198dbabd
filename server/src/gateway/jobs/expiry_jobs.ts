import { forgetIdempotencyKeys, forgetRefusedBytes } from "../../store/across.ts";
import type { Store } from "../../store/store.ts";
import type { Job } from "./job_runner.ts";

const hourMs = 3_600_000;

/** Rows that mean nothing after a day are deleted. */
export function expiryJobs(store: Store): Job[] {
  return [
    {
      name: "delete old idempotency keys",
      everyMs: hourMs,
      run: (signal) => forgetIdempotencyKeys(store, Date.now(), signal),
    },
    { name: "delete old counts of refusals", everyMs: hourMs, run: () => forgetRefusedBytes(store, Date.now()) },
  ];
}
