/**
 * The same request more than once at a time, or shortly after. The database would find out at the commit; but a commit that must
 * fail takes its organization's others with it, so whoever repeats a body could keep an organization from committing at all.
 */
import { Fault } from "@keystead/core/fault.ts";
import { createHashTable } from "./hash_table.ts";

export type Repeats = {
  /** Runs `work` alone among those of one name. It is told whether it had to wait: then it should look before it acts. */
  alone<T>(name: string, work: (waited: boolean) => Promise<T>): Promise<T>;
  /** Notes what is stored although no journal lists it, so that the signer would take it for new. */
  note(name: string): void;
  wasNoted(name: string): boolean;
};

/** How many are remembered at least; a body counts as likely new for ten seconds only. */
const notedAtLeast = 10_000;

/** The same bytes so often at once are no retry any more. */
const mostWaiting = 1_000;

export function createRepeats(): Repeats {
  const underWay = createHashTable<Promise<unknown>>();
  const waiting = createHashTable<number>();
  let noted = new Set<string>();
  let notedBefore = new Set<string>();

  /** Others come in between: a row of answers to the same bytes would be one long piece of work. */
  async function behind<T>(name: string, before: Promise<unknown>, work: () => Promise<T>): Promise<T> {
    waiting.set(name, (waiting.get(name) ?? 0) + 1);
    try {
      await before;
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      const left = (waiting.get(name) ?? 1) - 1;
      if (left > 0) waiting.set(name, left);
      else waiting.delete(name);
    }
    return work();
  }

  return {
    async alone(name, work) {
      const before = underWay.get(name);
      // Before it takes a place in the row: those behind wait for whoever has one.
      if ((waiting.get(name) ?? 0) >= mostWaiting) {
        throw new Fault("resource_exhausted", "too many copies of this request are waiting; wait for the first answer");
      }
      const own = before === undefined ? work(false) : behind(name, before, () => work(true));
      // Whatever became of it, the next one's turn has come.
      const over = own.catch(() => undefined);
      underWay.set(name, over);
      try {
        return await own;
      } finally {
        if (underWay.get(name) === over) underWay.delete(name);
      }
    },
    note(name) {
      if (noted.size >= notedAtLeast) [notedBefore, noted] = [noted, new Set()];
      noted.add(name);
    },
    wasNoted: (name) => noted.has(name) || notedBefore.has(name),
  };
}
