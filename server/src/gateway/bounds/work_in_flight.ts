/** The work of all organizations that is under way together. */
import {
  type AdmissionLimits,
  largeCost,
  type Replies,
  replyShares,
  replySizeOf,
  smallCost,
  type Weight,
} from "./admission_limits.ts";

export type WorkInFlight = {
  hasRoomFor(weight: Weight): boolean;
  add(weight: Weight): void;
  remove(weight: Weight): void;
  bytes(): number;
};

/** `heldReplies`: the bytes of what was answered and is not committed yet. */
export function createWorkInFlight(limits: AdmissionLimits, heldReplies: () => Replies): WorkInFlight {
  let [inFlight, allCost, allBytes, large] = [0, 0, 0, 0];
  const replies = { short: 0, long: 0 };

  function count({ cost, bytes, offered = 0, reply = 0 }: Weight, sign: 1 | -1): void {
    inFlight += sign;
    allBytes += sign * (bytes + offered);
    replies[replySizeOf(reply)] += sign * reply;
    if (cost > smallCost) allCost += sign * cost;
    if (cost > largeCost) large += sign;
  }

  /**
   * The first of its size has room, however long it is: otherwise it would never be let in. What waits to be committed counts by its size,
   * too: one organization's long commits, which take turns and rest, must not keep everybody's short ones out.
   */
  function hasRoomForReply(reply: number): boolean {
    const size = replySizeOf(reply);
    const own = heldReplies()[size] + replies[size];
    return own === 0 || own + reply <= limits.allReplies * replyShares[size];
  }

  return {
    hasRoomFor({ cost, bytes, offered = 0, reply = 0 }) {
      if (!hasRoomForReply(reply)) return false;
      if (inFlight === 0) return true;
      if (inFlight >= limits.allInFlight || allBytes + bytes + offered > limits.allBytes) return false;
      if (cost <= smallCost || allCost + cost <= limits.allCost) return true;
      return cost > largeCost && large === 0;
    },
    add: (weight) => count(weight, 1),
    remove: (weight) => count(weight, -1),
    bytes: () => allBytes,
  };
}
