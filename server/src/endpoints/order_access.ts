/** Orders to the courier, for the activities that need something done outside. Nothing of this exists outside the signer. */
import type { Oauth2Answer, Oauth2Order, OrderedClient } from "../outbox/oauth2_order.ts";

/** This deployment as an issuer of identity tokens. */
export type OwnIssuer = {
  /** What its tokens have in `iss`. */
  readonly name: string;
  readonly kid: string;
  sign(message: Uint8Array): Uint8Array;
};

export type OrderAccess = {
  /**
   * What came of exchanging the code of this body for this client, in the courier's own words. Until it is there the decision waits for it:
   * then `order` is called and sealed, and its secret wiped.
   */
  exchange(client: OrderedClient, order: () => Omit<Oauth2Order, "sealedAtMs" | keyof OrderedClient>): Oauth2Answer;
  /** Undefined where the operator has not said how this deployment is called. */
  readonly ownIssuer: OwnIssuer | undefined;
};
