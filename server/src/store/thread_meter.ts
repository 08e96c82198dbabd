/**
 * How long the gateway's one thread works for something, without what it does for others meanwhile. Work goes on in bursts: whatever it has
 * waited for calls `resumes`, and the burst is over when nothing of it can go on at once. Other waits end unseen, and what follows them is
 * not counted until the next that is.
 */
import { AsyncLocalStorage } from "node:async_hooks";

type Meter = { workedMs: number };

const meters = new AsyncLocalStorage<Meter>();

/** Whose burst it is, and since when. */
let running: Meter | undefined;
let begunAt = 0;

export type Metered<T> = { value: Promise<T>; workedMs(): number };

export function metered<T>(work: () => Promise<T> | T): Metered<T> {
  const meter: Meter = { workedMs: 0 };
  const value = meters.run(meter, () => {
    resumes();
    return Promise.try(work);
  });
  return { value, workedMs: () => meter.workedMs + (running === meter ? performance.now() - begunAt : 0) };
}

/** The thread goes on with what this is called in, and with nothing else. */
export function resumes(): void {
  const meter = meters.getStore();
  if (meter === undefined || running === meter) return;
  endBurst();
  running = meter;
  begunAt = performance.now();
  // After all that has been promised to go on.
  process.nextTick(endBurst);
}

function endBurst(): void {
  if (running !== undefined) running.workedMs += performance.now() - begunAt;
  running = undefined;
}

/** What a driver takes to read one row, which it does before anybody is called. */
const rowMs = 0.005;

/** `resumes` with so many rows of a database that is another process. */
export function resumesWith<Row>(rows: Row[]): Row[] {
  const meter = meters.getStore();
  if (meter !== undefined) meter.workedMs += rows.length * rowMs;
  resumes();
  return rows;
}
