/**
 * Who may go to the signer. Requests wait here, where they are counted in bytes and end in time, and not in the signer. Each
 * organization has so much cost under way at once; what waits beyond that is let in by turns between organizations. One that is alone
 * keeps the signer busy all by itself. When too much waits, the organization that has most of it is refused, and nobody else. Within an
 * organization its callers take turns in the same way: one who floods must not keep the quorum from removing her.
 */
import { Fault } from "@keystead/core/fault.ts";
import { createFairQueue, type FairQueue } from "../../state/fair_queue.ts";

/** What a request weighs: its cost (`endpoints/cost.ts`), and the bytes that are kept while it waits. */
export type Weight = { cost: number; bytes: number };

export type Admission = {
  /** Undefined when it may go at once. Otherwise when it may; or it is refused, at once or after it has waited too long. */
  enter(organizationId: string, weight: Weight, caller?: string): Promise<void> | undefined;
  /** The signer has answered it. */
  leave(organizationId: string, weight: Weight): void;
  /** Whether so many are under way that a stranger should not join them. */
  isCrowded(organizationId: string): boolean;
  waitingBytes(): number;
  underWayBytes(): number;
};

export type AdmissionLimits = {
  /** Of one organization under way: so many, or so much cost (one may cost more). */
  inFlight: number;
  cost: number;
  /** Of all together. What is done of it within the signer's deadline is not in vain. */
  allInFlight: number;
  allCost: number;
  allBytes: number;
  /** Of one organization, and of all, that wait. */
  waiting: number;
  waitingBytes: number;
  waitMs: number;
};

/** Not counted: whatever else is under way, there is time for these. */
const smallCost = 10_000;
/** These leave room for those that are less. */
const largeCost = 100_000;

/** What an organization may let in before others have their turn. */
const quantum = 20_000;

/** What is kept of a request besides its bytes. */
const requestBytes = 2 * 1024;

const sweepMs = 100;

/** Beyond these, those that are idle are forgotten. */
const keptOrganizations = 4_096;

/** Refused for how much waits already. Answers of this kind leave slowly: whoever asks again at once is no faster than that. */
export class Overloaded extends Fault {
  constructor(what: string) {
    super("resource_exhausted", `too many ${what}; try again later`);
  }
}

type Entry = Weight & {
  organization: Organization;
  caller: string;
  expiresAt: number;
  /** Let in, refused or over. */
  isGone: boolean;
  go(): void;
  refuse(fault: Fault): void;
};

type Organization = {
  id: string;
  /** Under way, or ready to be. */
  inFlight: number;
  cost: number;
  /** By their callers. */
  waiting: FairQueue<Entry>;
  waitingOf: Map<string, number>;
  waitingCount: number;
  waitingBytes: number;
};

/** `hasRoom` says whether what the signer answers can be taken further; while it cannot, nothing is let in. */
export function createAdmission(limits: AdmissionLimits, hasRoom: () => boolean = () => true): Admission {
  const organizations = new Map<string, Organization>();
  /** Those whose organization lets them go. */
  const ready: FairQueue<Entry>[] = [createFairQueue(quantum), createFairQueue(quantum), createFairQueue(quantum)];
  /** All that wait, oldest first, and many that do no more. */
  let oldest: Entry[] = [];
  let [allInFlight, allCost, allBytes, allLarge, allWaitingBytes, allWaiting] = [0, 0, 0, 0, 0, 0];
  let timer: NodeJS.Timeout | undefined;

  const rank = (cost: number) => (cost <= smallCost ? 0 : cost <= largeCost ? 1 : 2);

  function organizationOf(id: string): Organization {
    let organization = organizations.get(id);
    if (organization === undefined) {
      if (organizations.size >= keptOrganizations) forgetIdle();
      const waiting = createFairQueue<Entry>(quantum);
      organization = { id, inFlight: 0, cost: 0, waiting, waitingOf: new Map(), waitingCount: 0, waitingBytes: 0 };
      organizations.set(id, organization);
    }
    return organization;
  }

  function forgetIdle(): void {
    for (const [id, { inFlight, waitingCount }] of organizations) {
      if (inFlight === 0 && waitingCount === 0) organizations.delete(id);
    }
  }

  function lets(organization: Organization, { cost }: Weight): boolean {
    if (organization.inFlight === 0) return true;
    return organization.inFlight < limits.inFlight && organization.cost + cost <= limits.cost;
  }

  function isRoomFor({ cost, bytes }: Weight): boolean {
    if (allInFlight === 0) return true;
    if (allInFlight >= limits.allInFlight || allBytes + bytes > limits.allBytes || !hasRoom()) return false;
    if (cost <= smallCost || allCost + cost <= limits.allCost) return true;
    return cost > largeCost && allLarge === 0;
  }

  function reserve(organization: Organization, { cost }: Weight): void {
    organization.inFlight += 1;
    organization.cost += cost;
  }

  function unreserve(organization: Organization, { cost }: Weight): void {
    organization.inFlight -= 1;
    organization.cost -= cost;
  }

  function admit({ cost, bytes }: Weight, sign: 1 | -1): void {
    allInFlight += sign;
    allBytes += sign * bytes;
    if (cost > smallCost) allCost += sign * cost;
    if (cost > largeCost) allLarge += sign;
  }

  /** It waits no more. */
  function end(entry: Entry): void {
    entry.isGone = true;
    allWaiting -= 1;
    allWaitingBytes -= entry.bytes;
    count(entry, -1);
  }

  function count({ organization, caller, bytes }: Entry, sign: 1 | -1): void {
    organization.waitingCount += sign;
    organization.waitingBytes += sign * bytes;
    const left = (organization.waitingOf.get(caller) ?? 0) + sign;
    if (left > 0) organization.waitingOf.set(caller, left);
    else organization.waitingOf.delete(caller);
  }

  function refuse(entry: Entry, fault: Fault): void {
    end(entry);
    entry.refuse(fault);
  }

  /** Moves an organization's next requests to where all organizations' are. */
  function promote(organization: Organization): void {
    const { waiting } = organization;
    for (let flow = waiting.next(); flow !== undefined; flow = waiting.next()) {
      const entry = flow.first();
      if (!entry.isGone) {
        if (!lets(organization, entry)) return;
        flow.charge(entry.cost);
        reserve(organization, entry);
        ready[rank(entry.cost)]?.add(organization.id, entry);
      }
      flow.shift();
    }
  }

  function dispatch(): void {
    for (const queue of ready) {
      for (let flow = queue.next(); flow !== undefined; flow = queue.next()) {
        const entry = flow.first();
        if (entry.isGone) {
          flow.shift();
          unreserve(entry.organization, entry);
          promote(entry.organization);
          continue;
        }
        if (!isRoomFor(entry)) break;
        flow.charge(entry.cost);
        flow.shift();
        end(entry);
        admit(entry, 1);
        entry.go();
      }
    }
  }

  /** Of two that wait, the older ends first. */
  function sweep(): void {
    const now = performance.now();
    let over = 0;
    for (; over < oldest.length; over++) {
      const entry = oldest[over];
      if (entry === undefined || entry.isGone) continue;
      if (entry.expiresAt > now) break;
      refuse(entry, new Fault("resource_exhausted", "too many requests of this organization wait; try again"));
    }
    oldest = oldest.slice(over).filter(({ isGone }) => !isGone);
    dispatch();
    if (allWaiting > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** Whoever has most that waits gives way to others; when that is the newcomer itself, or its organization, the newcomer does. */
  function makeRoom(organization: Organization, caller: string, bytes: number): void {
    if (organization.waitingCount >= limits.waiting) {
      const busiest = busiestOf(organization);
      if ((organization.waitingOf.get(busiest) ?? 0) <= (organization.waitingOf.get(caller) ?? 0) + 1) {
        throw new Overloaded("requests of this organization");
      }
      refuseNewest((entry) => entry.organization === organization && entry.caller === busiest);
    }
    while (allWaitingBytes + bytes > limits.waitingBytes) {
      let most = organization;
      for (const each of organizations.values()) if (each.waitingBytes > most.waitingBytes) most = each;
      if (most === organization) throw new Overloaded("requests at once");
      refuseNewest((entry) => entry.organization === most);
    }
  }

  function busiestOf({ waitingOf }: Organization): string {
    let [busiest, most] = ["", 0];
    for (const [caller, waiting] of waitingOf) if (waiting > most) [busiest, most] = [caller, waiting];
    return busiest;
  }

  function refuseNewest(isOne: (entry: Entry) => boolean): void {
    const newest = oldest.findLast((entry) => !entry.isGone && isOne(entry));
    if (newest === undefined) throw new Overloaded("requests at once");
    refuse(newest, new Overloaded("requests of this organization"));
  }

  return {
    enter(organizationId, { cost, bytes: own }, caller = "") {
      const bytes = own + requestBytes;
      const weight = { cost, bytes };
      const organization = organizationOf(organizationId);
      const isNext = organization.waitingCount === 0 && lets(organization, weight);
      if (isNext && ready[rank(cost)]?.size === 0 && isRoomFor(weight)) {
        reserve(organization, weight);
        admit(weight, 1);
        return undefined;
      }
      makeRoom(organization, caller, bytes);
      return new Promise((resolve, reject) => {
        const expiresAt = performance.now() + limits.waitMs;
        const ends = { expiresAt, isGone: false, go: resolve, refuse: reject };
        const entry: Entry = { cost, bytes, organization, caller, ...ends };
        organization.waiting.add(caller, entry);
        count(entry, 1);
        allWaiting += 1;
        allWaitingBytes += bytes;
        oldest.push(entry);
        timer ??= setInterval(sweep, sweepMs).unref();
        promote(organization);
        dispatch();
      });
    },
    leave(organizationId, { cost, bytes }) {
      const weight = { cost, bytes: bytes + requestBytes };
      const organization = organizationOf(organizationId);
      unreserve(organization, weight);
      admit(weight, -1);
      promote(organization);
      dispatch();
    },
    isCrowded(organizationId) {
      const organization = organizations.get(organizationId);
      return organization !== undefined && (organization.waitingCount > 0 || organization.inFlight >= limits.inFlight);
    },
    waitingBytes: () => allWaitingBytes,
    underWayBytes: () => allBytes,
  };
}
