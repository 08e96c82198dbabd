/** The work of all organizations that is under way together. */
import {
  type AdmissionLimits,
  largeCost,
  shortReplies,
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

function kindOf(reply: number): "short" | "long" {
  return reply > shortReply ? "long" : "short";
}

/** `heldReplies`: the bytes of what was answered and is not committed yet. */
export function createWorkInFlight(limits: AdmissionLimits, heldReplies: () => number): WorkInFlight {
  let [inFlight, allCost, allBytes, large] = [0, 0, 0, 0];
  const replies = { short: 0, long: 0 };

  function count({ cost, bytes, offered = 0, reply = 0 }: Weight, sign: 1 | -1): void {
    inFlight += sign;
    allBytes += sign * (bytes + offered);
    replies[kindOf(reply)] += sign * reply;
    if (cost > smallCost) allCost += sign * cost;
    if (cost > largeCost) large += sign;
  }

  /**
   * With nothing before it, there is room for any reply. Otherwise it would never be let in. The first of its kind needs no room but what
   * waits to be committed has left: the other kind may have as much on its way as it may at all.
   */
  function hasRoomForReply(reply: number): boolean {
    const { short, long } = replies;
    const held = heldReplies();
    if (held + short + long === 0) return true;
    const [own, share] = kindOf(reply) === "short" ? [short, shortReplies] : [long, 1 - shortReplies];
    if (own === 0) return held + reply <= limits.allReplies;
    return own + reply <= limits.allReplies * share && held + short + long + reply <= limits.allReplies;
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
