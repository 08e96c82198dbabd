/** Requests that wait, bounded by count, bytes and time. When they are too many, the organization or the caller with most of them gives way. */
import { Fault } from "@keystead/core/fault.ts";
import type { AdmissionLimits } from "./admission_limits.ts";
import type { Entry, Organization } from "./admission_organizations.ts";
import { Overloaded } from "./overloaded.ts";

export type WaitingRequests = {
  /** Refuses others for a newcomer, or throws when the newcomer, or its organization, has most that waits. */
  makeRoom(organization: Organization, caller: string, bytes: number): void;
  add(entry: Entry): void;
  /** It was let in. */
  remove(entry: Entry): void;
  /** Nobody waits for it any more, if it has not been let in. */
  cancel(entry: Entry): void;
  refuseExpired(): void;
  count(): number;
  bytes(): number;
};

export function createWaitingRequests(
  limits: AdmissionLimits,
  organizations: () => Iterable<Organization>,
): WaitingRequests {
  /** All that wait, oldest first, and many that do no more. */
  let oldest: Entry[] = [];
  let [allWaiting, allBytes] = [0, 0];

  function count(entry: Entry, sign: 1 | -1): void {
    allWaiting += sign;
    allBytes += sign * entry.bytes;
    countInOrganization(entry, sign);
  }

  function remove(entry: Entry): void {
    entry.isGone = true;
    count(entry, -1);
  }

  function refuse(entry: Entry, fault: Fault): void {
    remove(entry);
    entry.refuse(fault);
  }

  function refuseNewest(isOne: (entry: Entry) => boolean): void {
    const newest = oldest.findLast((entry) => !entry.isGone && isOne(entry));
    if (newest === undefined) throw new Overloaded("requests at once");
    refuse(newest, new Overloaded("requests of this organization"));
  }

  return {
    makeRoom(organization, caller, bytes) {
      if (organization.waitingCount >= limits.waiting) {
        const busiest = busiestCaller(organization);
        if ((organization.waitingOf.get(busiest) ?? 0) <= (organization.waitingOf.get(caller) ?? 0) + 1) {
          throw new Overloaded("requests of this organization");
        }
        refuseNewest((entry) => entry.organization === organization && entry.caller === busiest);
      }
      while (allBytes + bytes > limits.waitingBytes) {
        let most = organization;
        for (const each of organizations()) if (each.waitingBytes > most.waitingBytes) most = each;
        if (most === organization) throw new Overloaded("requests at once");
        refuseNewest((entry) => entry.organization === most);
      }
    },
    add(entry) {
      count(entry, 1);
      oldest.push(entry);
    },
    remove,
    cancel(entry) {
      if (!entry.isGone) refuse(entry, new Fault("cancelled", "the connection was closed"));
    },
    /** Of two that wait, the older ends first. */
    refuseExpired() {
      const now = performance.now();
      let over = 0;
      for (; over < oldest.length; over++) {
        const entry = oldest[over];
        if (entry === undefined || entry.isGone) continue;
        if (entry.expiresAt > now) break;
        refuse(entry, new Fault("resource_exhausted", "too many requests of this organization wait; try again"));
      }
      oldest = oldest.slice(over).filter(({ isGone }) => !isGone);
    },
    count: () => allWaiting,
    bytes: () => allBytes,
  };
}

function countInOrganization({ organization, caller, bytes }: Entry, sign: 1 | -1): void {
  organization.waitingCount += sign;
  organization.waitingBytes += sign * bytes;
  const left = (organization.waitingOf.get(caller) ?? 0) + sign;
  if (left > 0) organization.waitingOf.set(caller, left);
  else organization.waitingOf.delete(caller);
}

function busiestCaller({ waitingOf }: Organization): string {
  let [busiest, most] = ["", 0];
  for (const [caller, waiting] of waitingOf) if (waiting > most) [busiest, most] = [caller, waiting];
  return busiest;
}
