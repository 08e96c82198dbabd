/**
 * Background jobs. Each runs in a loop of its own: never twice at once, again after its interval, and sooner with growing pauses while
 * it fails. A failure that lasts is logged once, and so is its end.
 */
import { setTimeout as pause } from "node:timers/promises";

export type Job = {
  /** A verb phrase for the log. */
  name: string;
  /** From the end of one run to the start of the next; also before the first. */
  everyMs: number;
  /** `signal` says that the process is stopping: a long run should look at it between its steps. */
  run(signal: AbortSignal): Promise<void>;
};

export type JobLog = {
  failed(job: string, error: unknown): void;
  recovered(job: string): void;
};

export type JobRunner = {
  /** Starts no run any more, and resolves when those under way have ended. */
  stop(): Promise<void>;
};

/** The pause after the first failure; each further one doubles it, up to the job's interval. */
const firstRetryMs = 1_000;

export function startJobs(jobs: readonly Job[], log: JobLog): JobRunner {
  const stopping = new AbortController();
  const loops = jobs.map((job) => repeat(job, stopping.signal, log));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function repeat({ name, everyMs, run }: Job, signal: AbortSignal, log: JobLog): Promise<void> {
  let failures = 0;
  while (await paused(failures === 0 ? everyMs : retryMs(failures, everyMs), signal)) {
    try {
      await run(signal);
      if (failures > 0) log.recovered(name);
      failures = 0;
    } catch (error) {
      if (failures === 0 && !signal.aborted) log.failed(name, error);
      failures += 1;
    }
  }
}

/** Half of it by chance, so that several gateways do not come back to a struggling database in step. */
export function retryMs(failures: number, everyMs: number, random = Math.random()): number {
  const longest = Math.min(everyMs, firstRetryMs * 2 ** (failures - 1));
  return longest / 2 + (longest / 2) * random;
}

/** False when the process is stopping. A job that waits does not keep the process alive. */
async function paused(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}
