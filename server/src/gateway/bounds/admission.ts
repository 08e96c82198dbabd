/**
 * Which requests may go to the signer. They wait here, where they are counted in bytes and end in time, and not in the signer. Each
 * organization has so much cost under way at once; what waits beyond that is let in by turns between organizations. One that is alone
 * keeps the signer busy all by itself. When too much waits, the organization that has most of it is refused, and nobody else. Within an
 * organization its callers take turns in the same way: one who floods must not keep the quorum from removing her.
 */
import type { AdmissionLimits, Replies, Weight } from "./admission_limits.ts";
import {
  createAdmissionTable,
  type Entry,
  mayStart,
  type Organization,
  reserve,
  unreserve,
} from "./admission_organizations.ts";
import { createReadyRequests } from "./ready_requests.ts";
import { createWaitingRequests } from "./waiting_requests.ts";
import { createWorkInFlight } from "./work_in_flight.ts";

export type Admission = {
  /**
   * Undefined when it may go at once. Otherwise resolves when it may; or it is refused, at once or after it has waited too long. With
   * a signal it stops waiting when that says so.
   */
  enter(organizationId: string, weight: Weight, caller?: string, signal?: AbortSignal): Promise<void> | undefined;
  /** What it weighs is known better. */
  correct(before: Weight, after: Weight): void;
  /**
   * The signer has answered it. The room that all share is free at once; the organization's own place only after `restMs`: nobody else
   * waits for its rest.
   */
  leave(organizationId: string, weight: Weight, restMs?: number): void;
  /** Something of the organization that the signer has answered is no longer kept. */
  replyGone(organizationId: string): void;
  /** Whether so many are under way that a stranger should not join them. */
  isCrowded(organizationId: string): boolean;
  waitingBytes(): number;
  underWayBytes(): number;
};

/** What is kept of a request besides its bytes. */
const requestBytes = 2 * 1024;

const sweepMs = 100;

const noReplies: Replies = { short: 0, long: 0 };

function asKept(weight: Weight): Weight {
  return { ...weight, bytes: weight.bytes + requestBytes };
}

/** What the signer has answered and is not committed yet. */
export type Backlog = {
  /** In bytes. They count with those that are to come. */
  held(): Replies;
  /**
   * Whether one organization has so much of it, or will have with so many under way, that its next requests should wait here, where its
   * callers take turns.
   */
  isBehind(organizationId: string, underWay: number): boolean;
};

const noBacklog: Backlog = { held: () => noReplies, isBehind: () => false };

export function createAdmission(limits: AdmissionLimits, { held, isBehind }: Backlog = noBacklog): Admission {
  const organizations = createAdmissionTable(isBehind);
  const waiting = createWaitingRequests(limits, organizations.all);
  const ready = createReadyRequests(limits);
  const inFlight = createWorkInFlight(limits, held);
  let timer: NodeJS.Timeout | undefined;

  const start = (entry: Entry): void => {
    waiting.remove(entry);
    inFlight.add(entry);
    entry.go();
  };

  function dispatch(): void {
    ready.dispatch(inFlight.hasRoomFor, start);
  }

  function freePlace(organization: Organization, weight: Weight): void {
    unreserve(organization, weight);
    ready.promote(organization);
    dispatch();
  }

  function sweep(): void {
    waiting.refuseExpired();
    for (const organization of organizations.all()) if (organization.waitingCount > 0) ready.promote(organization);
    dispatch();
    if (waiting.count() > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function wait(organization: Organization, weight: Weight, caller: string, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const expiresAt = performance.now() + limits.waitMs;
      const entry: Entry = { ...weight, organization, caller, expiresAt, isGone: false, go: resolve, refuse: reject };
      organization.waiting.add(caller, entry);
      waiting.add(entry);
      signal?.addEventListener("abort", () => waiting.cancel(entry), { once: true });
      timer ??= setInterval(sweep, sweepMs).unref();
      ready.promote(organization);
      dispatch();
    });
  }

  return {
    enter(organizationId, own, caller = "", signal) {
      const weight = asKept(own);
      const organization = organizations.get(organizationId);
      const isNext = organization.waitingCount === 0 && mayStart(organization, weight, limits);
      if (isNext && ready.isEmptyFor(weight) && inFlight.hasRoomFor(weight)) {
        reserve(organization, weight);
        inFlight.add(weight);
        return undefined;
      }
      waiting.makeRoom(organization, caller, weight.bytes);
      return wait(organization, weight, caller, signal);
    },
    correct(before, after) {
      inFlight.remove(before);
      inFlight.add(after);
    },
    leave(organizationId, own, restMs = 0) {
      const weight = asKept(own);
      // One that rests is not idle, and is not forgotten.
      const organization = organizations.get(organizationId);
      inFlight.remove(weight);
      if (restMs <= 0) return freePlace(organization, weight);
      setTimeout(freePlace, restMs, organization, weight).unref();
      dispatch();
    },
    replyGone(organizationId) {
      if (waiting.count() === 0) return;
      const organization = organizations.find(organizationId);
      if (organization !== undefined) ready.promote(organization);
      dispatch();
    },
    isCrowded(organizationId) {
      const organization = organizations.find(organizationId);
      return organization !== undefined && (organization.waitingCount > 0 || organization.inFlight >= limits.inFlight);
    },
    waitingBytes: waiting.bytes,
    underWayBytes: inFlight.bytes,
  };
}
