/** Requests that their organizations let go: small ones first, and organizations of each size take turns by cost. */
import { createFairQueue, type FairQueue } from "../../state/fair_queue.ts";
import { type AdmissionLimits, largeCost, replySizeOf, smallCost, type Weight } from "./admission_limits.ts";
import { type Entry, mayStart, type Organization, quantum, reserve, unreserve } from "./admission_organizations.ts";

export type ReadyRequests = {
  /** Moves an organization's next requests here, as many as it may have under way. */
  promote(organization: Organization): void;
  /** Starts requests while there is room for the next one. */
  dispatch(hasRoomFor: (entry: Entry) => boolean, start: (entry: Entry) => void): void;
  /** Whether none of this size waits here. */
  isEmptyFor(weight: Weight): boolean;
};

export function createReadyRequests(limits: AdmissionLimits): ReadyRequests {
  const small = createFairQueue<Entry>(quantum);
  const middle = createFairQueue<Entry>(quantum);
  const large = createFairQueue<Entry>(quantum);
  const [long, largeAndLong] = [createFairQueue<Entry>(quantum), createFairQueue<Entry>(quantum)];
  const queues: readonly FairQueue<Entry>[] = [small, middle, long, large, largeAndLong];

  /** One whose reply may lack room must not stand before those for whose replies there is some. */
  function queueFor({ cost, reply = 0 }: Weight): FairQueue<Entry> {
    if (replySizeOf(reply) === "long") return cost <= largeCost ? long : largeAndLong;
    if (cost <= smallCost) return small;
    return cost <= largeCost ? middle : large;
  }

  function promote(organization: Organization): void {
    const { waiting } = organization;
    for (let flow = waiting.next(); flow !== undefined; flow = waiting.next()) {
      const entry = flow.first();
      if (!entry.isGone) {
        if (!mayStart(organization, entry, limits)) return;
        flow.charge(entry.cost);
        reserve(organization, entry);
        queueFor(entry).add(organization.id, entry);
      }
      flow.shift();
    }
  }

  return {
    promote,
    dispatch(hasRoomFor, start) {
      for (const queue of queues) {
        for (let flow = queue.next(); flow !== undefined; flow = queue.next()) {
          const entry = flow.first();
          if (entry.isGone) {
            flow.shift();
            unreserve(entry.organization, entry);
            promote(entry.organization);
            continue;
          }
          if (!hasRoomFor(entry)) break;
          flow.charge(entry.cost);
          flow.shift();
          start(entry);
        }
      }
    },
    isEmptyFor: (weight) => queueFor(weight).size === 0,
  };
}
