import { Fault } from "@keystead/core/fault.ts";
import { plainReason } from "../../store/database_away.ts";

/** While `/readyz` says no, nobody may send the commit that would prove otherwise: after this time one may try again. */
const keptMs = 10_000;

/** The newest outcome of each of the two steps, where it was a failure. */
export class RecentFailures {
  readonly #failures = new Map<"commit" | "release", { message: string; atMs: number }>();

  async watch<T>(step: "commit" | "release", message: string, work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      this.#failures.delete(step);
      return done;
    } catch (error) {
      this.#failures.set(step, { message: `${message}${reasonFor(error)}`, atMs: performance.now() });
      throw error;
    }
  }

  newest(): string | undefined {
    for (const { message, atMs } of this.#failures.values()) if (performance.now() - atMs < keptMs) return message;
    return undefined;
  }
}

/** The signer's words are meant to be passed on, and so are SQLite's; those of a driver may name a host. */
function reasonFor(error: unknown): string {
  if (error instanceof Fault) return `: ${error.message}`;
  const { errstr = plainReason(error) } = error as { errstr?: string };
  return errstr === undefined ? "" : ` (${errstr})`;
}
