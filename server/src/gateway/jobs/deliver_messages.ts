/**
 * Sends what lies in the outbox: claims messages that are due, gives them to the courier, and notes what became of each. One gateway at
 * a time has a message; attempts go on with growing pauses until it is sent, refused for good, or expired.
 */
import { randomUUID } from "node:crypto";
import type { Delivered } from "../../frames/courier_messages.ts";
import { deliveryDeadlineMs } from "../../frames/delivery_times.ts";
import { dropClaims, listDueMessages } from "../../store/across.ts";
import { type Claim, claimMessage, type DueMessage, noteFailed, noteRetry, noteSent } from "../../store/outbox.ts";
import type { Store } from "../../store/store.ts";
import type { CourierLink } from "../link/courier_link.ts";
import type { Job } from "./job_runner.ts";

/** A message that will not be sent any more. Neither its contact nor its text is known here. */
export type FailedMessage = Pick<DueMessage, "organizationId" | "activityId" | "messageId" | "channel"> & {
  attempts: number;
  error: string;
};

export type DeliveryDependencies = {
  store: Store;
  courier: CourierLink;
  /** There are messages, and no courier to send them. */
  needCourier(): void;
  onFailed(message: FailedMessage): void;
  now?(): number;
};

export type Delivery = {
  job: Job;
  /** Resolves when nothing is on its way to the courier any more. */
  settle(): Promise<void>;
};

const everyMs = 500;
/** As many as the courier sends at once. */
const mostAtOnce = 32;
/** Longer than the link waits for an answer: nobody else may send what may still be on its way. */
const claimMs = deliveryDeadlineMs + 10_000;

const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** The pause after that many attempts; half of it by chance, so that a provider is not asked by all in step. */
export function pauseMsAfter(attempts: number, random = Math.random()): number {
  const longest = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1));
  return Math.round(longest / 2 + (longest / 2) * random);
}

export function createDelivery(dependencies: DeliveryDependencies): Delivery {
  const { store, courier, needCourier, onFailed, now = Date.now } = dependencies;
  /** This gateway, among those that share the database. */
  const host = randomUUID();
  const onTheirWay = new Set<Promise<void>>();
  /** The database did not take what became of a message: the job fails with it, and is tried again. */
  let trouble: { error: unknown } | undefined;
  let isFirstRun = true;

  async function fail(due: DueMessage, claim: Claim, error: string): Promise<void> {
    if (!(await noteFailed(store, claim, error, now()))) return;
    const { organizationId, activityId, messageId, channel } = due;
    onFailed({ organizationId, activityId, messageId, channel, attempts: claim.attempts, error });
  }

  async function note(due: DueMessage, claim: Claim, delivered: Delivered): Promise<void> {
    if (delivered.kind === "sent") return noteSent(store, claim, now());
    const { error, isFinal } = delivered.value;
    const nowMs = now();
    const nextAttemptAtMs = nowMs + pauseMsAfter(claim.attempts);
    if (isFinal || nextAttemptAtMs >= due.expiresAtMs) return fail(due, claim, error);
    await noteRetry(store, claim, { error, nowMs, nextAttemptAtMs });
  }

  async function send(due: DueMessage, claim: Claim): Promise<void> {
    const { organizationId, messageId, sealed } = due;
    await note(due, claim, await courier.deliver({ organizationId, messageId, sealed }));
  }

  function begin(due: DueMessage, claim: Claim): void {
    const sending = send(due, claim)
      .catch((error: unknown) => {
        trouble = { error };
      })
      .finally(() => onTheirWay.delete(sending));
    onTheirWay.add(sending);
  }

  async function run(signal: AbortSignal): Promise<void> {
    const before = trouble;
    trouble = undefined;
    if (before !== undefined) throw before.error;
    // A file has one gateway: what the one before had claimed when it ended waits for nobody.
    if (isFirstRun && store.dialect === "sqlite") await dropClaims(store, now());
    isFirstRun = false;
    const due = await listDueMessages(store, now(), mostAtOnce - onTheirWay.size);
    for (const message of due.filter(({ expiresAtMs }) => expiresAtMs <= now())) {
      await fail(message, message, message.error ?? "expired");
    }
    const live = due.filter(({ expiresAtMs }) => expiresAtMs > now());
    if (live.length > 0 && !courier.isJoined()) return needCourier();
    for (const message of live) {
      if (signal.aborted) return;
      const nowMs = now();
      const claim = await claimMessage(store, message, { host, nowMs, untilMs: nowMs + claimMs });
      if (claim !== undefined) begin(message, claim);
    }
  }

  return {
    job: { name: "deliver messages", everyMs, run },
    async settle() {
      await Promise.all(onTheirWay);
    },
  };
}
