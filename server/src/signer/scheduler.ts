/**
 * Whose request is worked on. Requests of one organization are decided in their order, one at a time: nothing else of it is decided while
 * one pauses, so that each follows on the state the one before led to. Organizations take turns by the time they really use, in pieces
 * of a few milliseconds; between two of them the socket is read, releases are served, and requests nobody waits for any more are dropped.
 *
 * A release may move an organization's pin while one of its requests pauses. That request was begun on a state that was right then, and
 * what it comes to names that state: releasing it checks its place on the line against the pin of that later moment, as for
 * everything that is prepared and waits for its commit. So it can only be refused then, never released wrongly. A gateway that lies
 * about a request's queue has two of one organization decided on the same state, which it can have anyway by offering it twice.
 */
import type { Work } from "@keystead/core/work.ts";
import { createFairQueue, type Flow } from "../state/fair_queue.ts";

export type QueuedWork = {
  work: Work<void>;
  /** On the clock of `performance.now`: after this nobody waits for it. */
  expiresAt: number;
  fail(error: unknown): void;
  /** It was dropped, with all it had begun. */
  dropped(): void;
};

export type Scheduler = {
  add(queue: string, job: QueuedWork): void;
  /** Nothing more is begun, because nobody takes what comes of it. */
  hold(): void;
  goOn(): void;
};

/** What an organization may use before others have their turn. */
const quantumMs = 2;

/** What is worked on before the socket is read again. Those who have just come wait so long at most, and for one piece of work. */
const turnMs = 4;

/** `afterTurn` sends what was answered in it. */
export function createScheduler(afterTurn: () => void): Scheduler {
  const queue = createFairQueue<QueuedWork>(quantumMs);
  let isScheduled = false;
  let isHeld = false;

  function schedule(): void {
    if (isScheduled || isHeld || queue.size === 0) return;
    isScheduled = true;
    setImmediate(turn);
  }

  function turn(): void {
    isScheduled = false;
    let at = performance.now();
    const until = at + turnMs;
    while (at < until) {
      const flow = queue.next();
      if (flow === undefined) break;
      at = workOn(flow, at, until);
    }
    afterTurn();
    schedule();
  }

  return {
    add(name, job) {
      queue.add(name, job);
      schedule();
    },
    hold() {
      isHeld = true;
    },
    goOn() {
      isHeld = false;
      schedule();
    },
  };
}

/** One organization's turn, or what is left of everybody's. Returns the time it ended. */
function workOn(flow: Flow<QueuedWork>, beganAt: number, until: number): number {
  const job = flow.first();
  if (job.expiresAt <= beganAt) {
    flow.shift();
    drop(job);
    return beganAt;
  }
  const end = Math.min(until, beganAt + flow.credit);
  let at: number;
  let isDone: boolean | undefined;
  do {
    isDone = step(job);
    at = performance.now();
  } while (!isDone && at < end);
  if (isDone) flow.shift();
  flow.charge(at - beganAt);
  return at;
}

function step({ work, fail }: QueuedWork): boolean {
  try {
    return work.next().done === true;
  } catch (error) {
    fail(error);
    return true;
  }
}

/** Its `finally` blocks run, which wipe the secrets it has opened. */
function drop({ work, fail, dropped }: QueuedWork): void {
  try {
    work.return();
    dropped();
  } catch (error) {
    fail(error);
  }
}
