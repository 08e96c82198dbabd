/**
 * One delivery: opens what the signer sealed, and sends it by its channel. A message that was sent is remembered until it expires, so
 * that it is sent once in this process's life, however often a gateway asks.
 */
import type { Delivered, DeliverRequest, DeliveryError } from "../frames/courier_messages.ts";
import type { Channel } from "../outbox/message.ts";
import { openMessage } from "../outbox/sealed_message.ts";
import { DeliveryFailure } from "./delivery_failure.ts";
import type { Sender } from "./sender.ts";

export type CourierDependencies = {
  courierKey: Uint8Array;
  senders: Readonly<Record<Channel, Sender>>;
  now(): number;
  /** A failure, in words for the operator. */
  note(message: string): void;
};

export type Courier = { deliver(request: DeliverRequest): Promise<Delivered> };

export const mostAtOnce = 32;
/** Beyond it nothing is sent: a courier that forgot what it sent could send it twice. */
const mostRemembered = 500_000;

const sent: Delivered = { kind: "sent", value: {} };

/** A message that is being sent or was sent. */
type Known = { expiresAtMs: number; delivered: Promise<Delivered> };

export function createCourier({ courierKey, senders, now, note }: CourierDependencies): Courier {
  const known = new Map<string, Known>();
  let atOnce = 0;

  function forgetExpired(): void {
    for (const [key, { expiresAtMs }] of known) if (expiresAtMs <= now()) known.delete(key);
  }

  async function send(messageId: string, key: string, message: Parameters<Sender>[1]): Promise<Delivered> {
    atOnce += 1;
    try {
      await senders[message.channel](messageId, message);
      return sent;
    } catch (error) {
      known.delete(key);
      if (!(error instanceof DeliveryFailure)) throw error;
      note(error.message);
      return failed(error.error, error.isFinal);
    } finally {
      atOnce -= 1;
    }
  }

  return {
    async deliver({ organizationId, messageId, sealed }) {
      const key = `${organizationId} ${messageId}`;
      const before = known.get(key);
      const message = openMessage(courierKey, { organizationId, messageId }, sealed);
      if (message === undefined) return failed("invalid", true);
      if (message.expiresAtMs <= now()) return failed("expired", true);
      if (before !== undefined) return before.delivered;
      if (known.size >= mostRemembered) forgetExpired();
      if (atOnce >= mostAtOnce || known.size >= mostRemembered) return failed("busy", false);
      const delivered = send(messageId, key, message);
      known.set(key, { expiresAtMs: message.expiresAtMs, delivered });
      return delivered;
    },
  };
}

function failed(error: DeliveryError, isFinal: boolean): Delivered {
  return { kind: "failed", value: { error, isFinal } };
}
