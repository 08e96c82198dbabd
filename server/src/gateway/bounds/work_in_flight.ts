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
   * With nothing before it, there is room for any reply. Otherwise it would never be let in. The first of its size needs no room but what
   * waits to be committed has left: the other size may have as much on its way as it may at all. What waits counts by its size, too: one
   * organization's long commits, which take turns and rest, must not keep everybody's short ones out. The sum is held besides, because a
   * reply may be longer than it was taken for.
   */
  function hasRoomForReply(reply: number): boolean {
    const size = replySizeOf(reply);
    const held = heldReplies();
    const [own, waiting, coming] = [held[size] + replies[size], held.short + held.long, replies.short + replies.long];
    if (waiting + coming === 0) return true;
    if (own === 0) return waiting + reply <= limits.allReplies;
    return waiting + coming + reply <= limits.allReplies && own + reply <= limits.allReplies * replyShares[size];
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
