import type { TimedMessage } from "../outbox/sealed_message.ts";

/** Sends one message, or throws a DeliveryFailure. Sent means that the provider has taken it over, or that the file is there. */
export type Sender = (messageId: string, message: TimedMessage) => Promise<void>;
