import { setTimeout as sleep } from "node:timers/promises";

/** The launcher's exit code, once it is decided. Nothing is started afterwards, and nobody waits any longer. */
export class Verdict {
  readonly #waiting = new AbortController();
  readonly #exitCode = Promise.withResolvers<number>();
  /** Settles with the first decision. */
  readonly exitCode = this.#exitCode.promise;

  get isDecided(): boolean {
    return this.#waiting.signal.aborted;
  }

  decide(exitCode: number): void {
    this.#waiting.abort();
    this.#exitCode.resolve(exitCode);
  }

  /** Ends early with the decision. */
  async pause(timeMs: number): Promise<void> {
    await sleep(timeMs, undefined, { signal: this.#waiting.signal }).catch(() => {});
  }
}
