import type { DeliveryError } from "../frames/courier_messages.ts";

/** A message was not sent. `message` is for the operator's terminal: it names hosts and codes, never a contact, a text or a provider's own words. */
export class DeliveryFailure extends Error {
  override readonly name = "DeliveryFailure";
  readonly error: DeliveryError;
  /** No further attempt can do better. */
  readonly isFinal: boolean;

  constructor(error: DeliveryError, isFinal: boolean, message: string) {
    super(message);
    this.error = error;
    this.isFinal = isFinal;
  }
}
