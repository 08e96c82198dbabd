import { backoff } from "./backoff.ts";
import { endWithin } from "./child.ts";
import type { ProcessName, ProcessRow } from "./processes.ts";
import { type ProcessStart, type StartedProcess, startProcess } from "./start_process.ts";

/** What is the same at each start of a process. Its environment is asked for each time: the gateway's port is known only later. */
export type Supervised = Pick<ProcessStart, "program" | "folder" | "files" | "user" | "linePrefix"> & {
  name: ProcessName;
  row: ProcessRow;
  restartPauseMs: number;
  environment(): Record<string, string>;
  hear(value: unknown, from: StartedProcess): void;
};

/** One process through all its restarts: starts it, ends it, and says how long to wait before it is started again. */
export class Supervisor {
  readonly name: ProcessName;
  readonly row: ProcessRow;
  readonly #supervised: Supervised;
  readonly #pauseAfter: (livedMs: number) => number;
  #current: StartedProcess | undefined;

  constructor(supervised: Supervised) {
    this.name = supervised.name;
    this.row = supervised.row;
    this.#supervised = supervised;
    this.#pauseAfter = backoff(supervised.restartPauseMs);
  }

  /** The newest; it may have ended. */
  get current(): StartedProcess | undefined {
    return this.#current;
  }

  start(orders: readonly Uint8Array[]): StartedProcess {
    const { environment, hear, ...rest } = this.#supervised;
    const started: StartedProcess = startProcess({
      ...rest,
      env: environment(),
      orders,
      hear: (value) => hear(value, started),
    });
    this.#current = started;
    return started;
  }

  /** How long to wait before the next start, by how long this one lived; it counts as one more end. */
  pauseMs(ended: StartedProcess | undefined): number {
    return this.#pauseAfter(ended ? Date.now() - ended.startedAtMs : 0);
  }

  kill(): void {
    this.#current?.process.kill("SIGKILL");
  }

  /** Two processes must never share a folder, so the next one waits for this. */
  async killAndWait(): Promise<void> {
    this.kill();
    await this.#current?.gone;
  }

  async stop(): Promise<void> {
    if (!this.#current || this.#current.isGone()) return;
    this.#current.askToStop();
    await endWithin(this.#current, this.row.stopsWithinMs);
  }
}
