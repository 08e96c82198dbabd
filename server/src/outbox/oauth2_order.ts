/**
 * An order of the signer to exchange an authorization code at an OAuth 2.0 provider, and the courier's answer. Both are sealed under the
 * courier key and bound to the body that asks for it: an answer to one body is no answer to another. An answer is also bound to the client
 * that the code was exchanged for: the credential that the body names may have been given another one since. Layouts: SPEC.md in this
 * folder.
 */
import {
  bytes,
  decode,
  encode,
  fixed,
  oneOf,
  struct,
  text,
  u8,
  u64,
  type ValueOf,
} from "@keystead/core/encoding/layout.ts";
import { oauth2ProviderNames } from "../state/oauth2_providers.ts";
import { openBox, sealBox } from "./courier_box.ts";

/** What an order and its answer are bound to: the body, by SHA-256 of its bytes. */
export type OrderPlace = { organizationId: string; fingerprint: Uint8Array };

/** What an answer is bound to besides: whose code it was, at which provider. */
export type OrderedClient = Pick<Oauth2Order, "provider" | "clientId">;

const place = { format: u8, organizationId: text, fingerprint: fixed(32) } as const;
const orderPlaceLayout = struct(place);
const answerPlaceLayout = struct({ ...place, provider: oneOf(oauth2ProviderNames), clientId: text });
const orderFormat = 2;
const answerFormat = 3;

const orderLayout = struct({
  provider: oneOf(oauth2ProviderNames),
  clientId: text,
  clientSecret: bytes,
  authCode: text,
  redirectUri: text,
  codeVerifier: text,
  /** By the signer's clock. */
  sealedAtMs: u64,
});

const answerLayout = struct({
  /** The provider's id of the user who has signed in there. */
  userId: text,
  /** What the provider gave for the code. */
  bearerToken: text,
  /** By the courier's clock. */
  exchangedAtMs: u64,
});

export type Oauth2Order = ValueOf<typeof orderLayout>;
export type Oauth2Answer = ValueOf<typeof answerLayout>;

/** How old an order, and an answer, may be: codes of providers live no longer. */
export const orderLifeMs = 5 * 60_000;

export const oauth2Limits = { userIdLength: 64, bearerTokenLength: 2_048 } as const;

export function sealOrder(courierKey: Uint8Array, place: OrderPlace, order: Oauth2Order): Uint8Array<ArrayBuffer> {
  return sealBox(courierKey, boundOrder(place), encode(orderLayout, order));
}

/** Undefined for everything that the signer has not sealed for this body. */
export function openOrder(courierKey: Uint8Array, place: OrderPlace, box: Uint8Array): Oauth2Order | undefined {
  return openBox(courierKey, boundOrder(place), box, (content) => {
    const { clientSecret, ...order } = decode(orderLayout, content);
    // What is opened is wiped as soon as it is read.
    return { ...order, clientSecret: Uint8Array.from(clientSecret) };
  });
}

export function sealAnswer(
  courierKey: Uint8Array,
  place: OrderPlace,
  client: OrderedClient,
  answer: Oauth2Answer,
): Uint8Array<ArrayBuffer> {
  return sealBox(courierKey, boundAnswer(place, client), encode(answerLayout, answer));
}

/** Undefined for everything that the courier has not sealed for this body and this client. */
export function openAnswer(
  courierKey: Uint8Array,
  place: OrderPlace,
  client: OrderedClient,
  box: Uint8Array,
): Oauth2Answer | undefined {
  return openBox(courierKey, boundAnswer(place, client), box, (content) => {
    const answer = decode(answerLayout, content);
    return isUserId(answer.userId) && answer.bearerToken.length <= oauth2Limits.bearerTokenLength ? answer : undefined;
  });
}

/** It becomes part of a token's subject: nothing in it may be read as something else. */
export function isUserId(text: string): boolean {
  return text.length <= oauth2Limits.userIdLength && /^[A-Za-z0-9_-]+$/.test(text);
}

function boundOrder({ organizationId, fingerprint }: OrderPlace): Uint8Array {
  return encode(orderPlaceLayout, { format: orderFormat, organizationId, fingerprint });
}

function boundAnswer({ organizationId, fingerprint }: OrderPlace, { provider, clientId }: OrderedClient): Uint8Array {
  return encode(answerPlaceLayout, { format: answerFormat, organizationId, fingerprint, provider, clientId });
}
