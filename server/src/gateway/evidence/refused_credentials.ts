/**
 * Keys in doubt: somebody has lately sent a stamp under them that did not verify. Whoever claims such a key has its stamp verified here
 * first, few at a time, and reaches the signer only with one that does. So those who know a key and cannot stamp with it have a few
 * places together, whatever connections they come on, and nobody else waits for them.
 */
import { type ConcurrencyLimit, createConcurrencyLimit } from "../bounds/concurrency_limit.ts";

export type RefusedCredentials = {
  /** Where stamps under such keys are verified; left as soon as that is done. */
  verifyLimit: ConcurrencyLimit;
  areNone(): boolean;
  has(organizationId: string, credential: string): boolean;
  /** A stamp under this key was refused. */
  note(organizationId: string, credential: string): void;
  /** A stamp under this key was verified. */
  clear(organizationId: string, credential: string): void;
};

export type RefusedCredentialLimits = {
  /** Stamps that are verified at once. */
  places: number;
  waiting: number;
  keys: number;
  /** How long a doubt lasts. After that the key is as good as any other. */
  keptMs: number;
};

export function createRefusedCredentials({
  places,
  waiting,
  keys,
  keptMs,
}: RefusedCredentialLimits): RefusedCredentials {
  /** When each doubt ends, which is the order they are in. */
  const ends = new Map<string, number>();
  const refusal = "too many requests at once under keys whose stamps were refused; try again";

  function forgetOld(): void {
    const now = performance.now();
    for (const [name, endsAt] of ends) {
      if (endsAt > now && ends.size <= keys) return;
      ends.delete(name);
    }
  }

  return {
    verifyLimit: createConcurrencyLimit({ slots: places, waiting, refusal }),
    areNone: () => ends.size === 0,
    has(organizationId, credential) {
      if (ends.size === 0) return false;
      forgetOld();
      return ends.has(nameOf(organizationId, credential));
    },
    note(organizationId, credential) {
      const name = nameOf(organizationId, credential);
      ends.delete(name);
      ends.set(name, performance.now() + keptMs);
      forgetOld();
    },
    clear(organizationId, credential) {
      if (ends.size > 0) ends.delete(nameOf(organizationId, credential));
    },
  };
}

function nameOf(organizationId: string, credential: string): string {
  return `${organizationId} ${credential}`;
}
