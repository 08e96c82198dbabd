/** The work of all organizations that is under way together. */
import { type AdmissionLimits, largeCost, smallCost, type Weight } from "./admission_limits.ts";

export type WorkInFlight = {
  hasRoomFor(weight: Weight): boolean;
  add(weight: Weight): void;
  remove(weight: Weight): void;
  bytes(): number;
};

/** `hasRoom` says whether results can be taken further; while they cannot, nothing is let in. */
export function createWorkInFlight(limits: AdmissionLimits, hasRoom: () => boolean): WorkInFlight {
  let [inFlight, allCost, allBytes, large] = [0, 0, 0, 0];

  function count({ cost, bytes }: Weight, sign: 1 | -1): void {
    inFlight += sign;
    allBytes += sign * bytes;
    if (cost > smallCost) allCost += sign * cost;
    if (cost > largeCost) large += sign;
  }

  return {
    hasRoomFor({ cost, bytes }) {
      if (inFlight === 0) return true;
      if (inFlight >= limits.allInFlight || allBytes + bytes > limits.allBytes || !hasRoom()) return false;
      if (cost <= smallCost || allCost + cost <= limits.allCost) return true;
      return cost > largeCost && large === 0;
    },
    add: (weight) => count(weight, 1),
    remove: (weight) => count(weight, -1),
    bytes: () => allBytes,
  };
}
