/** The work of all organizations that is under way together. */
import {
  type AdmissionLimits,
  largeCost,
  longReplies,
  shortReply,
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
export function createWorkInFlight(limits: AdmissionLimits, heldReplies: () => number): WorkInFlight {
  let [inFlight, allCost, allBytes, allReplies, large] = [0, 0, 0, 0, 0];

  function count({ cost, bytes, offered = 0, reply = 0 }: Weight, sign: 1 | -1): void {
    inFlight += sign;
    allBytes += sign * (bytes + offered);
    allReplies += sign * reply;
    if (cost > smallCost) allCost += sign * cost;
    if (cost > largeCost) large += sign;
  }

  /** With nothing before it, there is room for any reply. Otherwise it would never be let in. */
  function hasRoomForReply(reply: number): boolean {
    const held = heldReplies() + allReplies;
    return held === 0 || held + reply <= limits.allReplies * (reply > shortReply ? longReplies : 1);
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
