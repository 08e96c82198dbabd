/** Organizations with requests under way or waiting. */
import type { Fault } from "@keystead/core/fault.ts";
import { createFairQueue, type FairQueue } from "../../state/fair_queue.ts";
import type { AdmissionLimits, Weight } from "./admission_limits.ts";

/** A request that waits. */
export type Entry = Weight & {
  organization: Organization;
  caller: string;
  expiresAt: number;
  /** Let in, refused or over. */
  isGone: boolean;
  go(): void;
  refuse(fault: Fault): void;
};

export type Organization = {
  id: string;
  /** Under way, ready to be, or at rest after it. */
  inFlight: number;
  cost: number;
  /** By their callers. */
  waiting: FairQueue<Entry>;
  waitingOf: Map<string, number>;
  waitingCount: number;
  waitingBytes: number;
  /** Whether so much of it waits to be committed, or will with so many under way, that nothing should be added to that. */
  isBehind(underWay: number): boolean;
};

export type AdmissionTable = {
  get(id: string): Organization;
  find(id: string): Organization | undefined;
  all(): Iterable<Organization>;
};

/** The cost that an organization may let in before others have their turn. */
export const quantum = 20_000;

/** Beyond these, those that are idle are forgotten. */
const maxKept = 4_096;

export function createAdmissionTable(isBehind: (organizationId: string, underWay: number) => boolean): AdmissionTable {
  const organizations = new Map<string, Organization>();

  function forgetIdle(): void {
    for (const [id, { inFlight, waitingCount }] of organizations) {
      if (inFlight === 0 && waitingCount === 0) organizations.delete(id);
    }
  }

  return {
    get(id) {
      let organization = organizations.get(id);
      if (organization === undefined) {
        if (organizations.size >= maxKept) forgetIdle();
        const waiting = createFairQueue<Entry>(quantum);
        const nothing = { inFlight: 0, cost: 0, waitingCount: 0, waitingBytes: 0 };
        organization = {
          id,
          ...nothing,
          waiting,
          waitingOf: new Map(),
          isBehind: (underWay) => isBehind(id, underWay),
        };
        organizations.set(id, organization);
      }
      return organization;
    },
    find: (id) => organizations.get(id),
    all: () => organizations.values(),
  };
}

/** Whether the organization may have this under way besides what it has. */
export function mayStart(organization: Organization, { cost }: Weight, limits: AdmissionLimits): boolean {
  if (organization.isBehind(organization.inFlight)) return false;
  if (organization.inFlight === 0) return true;
  return organization.inFlight < limits.inFlight && organization.cost + cost <= limits.cost;
}

export function reserve(organization: Organization, { cost }: Weight): void {
  organization.inFlight += 1;
  organization.cost += cost;
}

export function unreserve(organization: Organization, { cost }: Weight): void {
  organization.inFlight -= 1;
  organization.cost -= cost;
}
