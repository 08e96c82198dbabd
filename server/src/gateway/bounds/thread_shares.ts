/**
 * What each organization takes of the gateway's one thread, and how long it rests for that while others are there: it gets about a
 * quarter.
 */
import { createLru } from "../../state/lru.ts";
import type { Presence } from "./presence.ts";

/** Charges an organization for what the thread did for it, and says how long it is to rest; both in milliseconds. */
export type ThreadShares = (organizationId: string, tookMs: number) => number;

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

export function createThreadShares(
  isAlone: Presence["isAlone"],
  now: () => number = () => performance.now(),
): ThreadShares {
  /** When each will have rested for all that it took. */
  const restedAt = createLru<number>(rememberedOrganizations);
  return (organizationId, tookMs) => {
    if (isAlone(organizationId)) return 0;
    const at = now();
    // Up to when it has rested already, as it began: what time brings back meanwhile is not lost.
    const before = Math.max(restedAt.get(organizationId) ?? 0, at - tookMs - freeMs * oneIn);
    const after = Math.min(before + tookMs * oneIn, at + mostDebtMs);
    restedAt.set(organizationId, after, 1);
    return Math.min(Math.max(after - at, 0), mostRestMs);
  };
}
