/**
 * What each organization takes of the gateway's one thread, and how long it rests for that while others are there: it gets about a
 * quarter. What it does is done in pieces among the pieces of others, so nothing can be measured by its beginning and end alone. What
 * the thread works is shared by those that are under way meanwhile: each organization is charged the same, and within it each of its
 * queries. By queries alone, an organization with many short ones would pay for another's long one.
 */
import { performance } from "node:perf_hooks";
import { createLru } from "../../state/lru.ts";
import type { Presence } from "./presence.ts";

export type ThreadShares = {
  /** Work for an organization begins; what is returned ends it, and says how much of the thread it took in milliseconds. */
  start(organizationId: string): () => number;
  /** Charges the organization for it, and says how long it is to rest, in milliseconds. */
  charge(organizationId: string, tookMs: number): number;
};

export type ThreadClock = {
  nowMs(): number;
  /** How long the thread has worked. What the database is waited for is no work: a slow database is nobody's flood. */
  activeMs(): number;
};

const realClock: ThreadClock = {
  nowMs: () => performance.now(),
  activeMs: () => performance.eventLoopUtilization().active,
};

/** Of those that were seen last. Others are remembered for nothing, and begin anew. */
export const rememberedOrganizations = 16_384;

/** An organization gets one in so many milliseconds of the thread. */
const oneIn = 4;
/** Nobody rests for what is this little. It comes back with time. */
const freeMs = 20;
/** Who waits behind somebody's rest is not refused for having waited too long. */
const mostRestMs = 1_000;
/** An organization rests for no longer than this together, whatever it has done. */
const mostDebtMs = 2_500;

type Account = {
  underWay: number;
  /** What each of its queries was charged that has been under way since the beginning. */
  eachMs: number;
  /** Up to where of `eachOrganizationMs` that is worked out. */
  countedMs: number;
  /** When it will have rested for all that it took. */
  restedAt: number;
};

export function createThreadShares(isAlone: Presence["isAlone"], clock: ThreadClock = realClock): ThreadShares {
  const accounts = createLru<Account>(rememberedOrganizations);
  let organizationsUnderWay = 0;
  /** What each organization was charged that has been under way since the beginning, and up to where the thread's work is shared. */
  let eachOrganizationMs = 0;
  let sharedMs = 0;

  function accountOf(organizationId: string): Account {
    const known = accounts.get(organizationId);
    if (known !== undefined) return known;
    const account = { underWay: 0, eachMs: 0, countedMs: 0, restedAt: Number.NEGATIVE_INFINITY };
    accounts.set(organizationId, account, 1);
    return account;
  }

  /** Before the number of those that share changes. */
  function shareUntilNow(account: Account): void {
    const activeMs = clock.activeMs();
    if (organizationsUnderWay > 0) eachOrganizationMs += (activeMs - sharedMs) / organizationsUnderWay;
    sharedMs = activeMs;
    if (account.underWay > 0) account.eachMs += (eachOrganizationMs - account.countedMs) / account.underWay;
    account.countedMs = eachOrganizationMs;
  }

  return {
    start(organizationId) {
      const account = accountOf(organizationId);
      shareUntilNow(account);
      if (account.underWay === 0) organizationsUnderWay += 1;
      account.underWay += 1;
      const begunMs = account.eachMs;
      return () => {
        shareUntilNow(account);
        account.underWay -= 1;
        if (account.underWay === 0) organizationsUnderWay -= 1;
        return account.eachMs - begunMs;
      };
    },
    charge(organizationId, tookMs) {
      if (isAlone(organizationId)) return 0;
      const account = accountOf(organizationId);
      const now = clock.nowMs();
      // Up to when it has rested already, as it began: what time brings back meanwhile is not lost.
      const restedAt = Math.max(account.restedAt, now - tookMs - freeMs * oneIn);
      account.restedAt = Math.min(restedAt + tookMs * oneIn, now + mostDebtMs);
      return Math.min(Math.max(account.restedAt - now, 0), mostRestMs);
    },
  };
}
