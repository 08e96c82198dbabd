/**
 * The signer's side of sign-ins at OAuth 2.0 providers. It has no network: it seals an order for the courier, which the gateway carries, and
 * believes the answer for its seal, which binds it to this very body and client, and for minutes by its own clock.
 */
import type { NewLeaf } from "@keystead/core/log/leaf.ts";
import { encodeOauth2Identity } from "@keystead/core/log/outside_values.ts";
import { ownIssuerKey } from "@keystead/core/oidc/own_issuer.ts";
import { nodeTokenCrypto } from "../../curves/node_token_crypto.ts";
import type { OrderAccess, OwnIssuer } from "../../endpoints/order_access.ts";
import type { Request } from "../../frames/messages.ts";
import {
  type Oauth2Answer,
  type OrderedClient,
  openAnswer,
  orderLifeMs,
  sealOrder,
} from "../../outbox/oauth2_order.ts";
import { needsOrder } from "./needs_more.ts";
import type { Signer } from "./signer.ts";

export type Orders = OrderAccess & {
  /** What the decision took from outside so far, as its leaf names it. */
  readonly taken: NewLeaf["outside"];
};

/** How far the courier's clock may be ahead. */
const clockSkewMs = 60_000;

export function openOrders(
  { keyring, ownIssuer }: Pick<Signer, "keyring" | "ownIssuer">,
  { statements }: Pick<Request<"prepare">, "statements">,
  body: { organizationId: string; fingerprint: Uint8Array },
  nowMs: number,
): Orders {
  const taken: NewLeaf["outside"][number][] = [];
  const { courierKey } = keyring;

  function findAnswer(client: OrderedClient): Oauth2Answer | undefined {
    const answers = statements.flatMap((sealed) => openAnswer(courierKey, body, client, sealed) ?? []);
    return answers.find(({ exchangedAtMs }) => {
      const ageMs = nowMs - exchangedAtMs;
      return ageMs <= orderLifeMs && ageMs >= -clockSkewMs;
    });
  }

  return {
    taken,
    exchange({ provider, clientId }, order) {
      const answer = findAnswer({ provider, clientId });
      if (answer === undefined) {
        const ordered = order();
        const sealed = sealOrder(courierKey, body, { provider, clientId, ...ordered, sealedAtMs: nowMs });
        ordered.clientSecret.fill(0);
        throw needsOrder(sealed);
      }
      const { userId, exchangedAtMs } = answer;
      taken.push({
        kind: "oauth2Identity",
        value: { kind: "bytes", value: encodeOauth2Identity({ userId, exchangedAtMs }) },
      });
      return answer;
    },
    get ownIssuer(): OwnIssuer | undefined {
      if (ownIssuer === undefined || ownIssuer === "") return undefined;
      const { kid } = ownIssuerKey(nodeTokenCrypto, keyring.identity.publicKey);
      return { name: ownIssuer, kid: kid ?? "", sign: keyring.identity.sign };
    },
  };
}
