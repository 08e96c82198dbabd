/**
 * What the gateway and the courier say to each other, in the same frames as gateway and signer. Of a message to be sent the gateway names
 * neither contact nor text, both are in the box; of an issuer it gets what the courier has marked for the signer.
 */

import {
  bool,
  bytes,
  bytesUpTo,
  fixed,
  type Layout,
  oneOf,
  struct,
  text,
  textUpTo,
  u64,
  type ValueOf,
  variant,
} from "@keystead/core/encoding/layout.ts";
import { maxStatementAgeMs, maxStatementBytes } from "@keystead/core/oidc/issuer_statement.ts";

/** Why a message was not sent, in words that give away neither the contact nor the code. */
export const deliveryErrors = [
  /** Not a box that the signer sealed for this id. */
  "invalid",
  "expired",
  /** There are settings for other messages, and none for this channel. */
  "unconfigured",
  /** Its sender is not one of KEYSTEAD_MAIL_FROM. */
  "sender",
  /** No connection, or one that broke off or fell silent. */
  "unreachable",
  /** No TLS where it is required, or not with the right host. */
  "tls",
  /** The provider does not take our user name, password or token. */
  "authentication",
  /** The provider refuses this message for good. */
  "rejected",
  /** The provider asks to come again later. */
  "deferred",
  /** The courier sends as many as it can at once. */
  "busy",
  /** It could not be written to the mailbox folder. */
  "storage",
  /** The courier ended, or did not answer in time. */
  "courier",
] as const;
export type DeliveryError = (typeof deliveryErrors)[number];

/** Why there is no statement about an issuer. */
export const issuerErrors = [
  /** It cannot be reached, is not allowed, or does not publish what it must. */
  "unusable",
  /** Too much is asked of the courier; it says nothing about the issuer. */
  "busy",
] as const;
export type IssuerError = (typeof issuerErrors)[number];

/** Why a code was not exchanged. */
export const oauth2Errors = [
  /** Not an order that the signer sealed for this body, or one that is over. */
  "invalid",
  /** The provider has no addresses. */
  "unconfigured",
  /** The provider has answered, and its answer is no. */
  "refused",
  /** The provider has not answered. */
  "unreachable",
  /** Too much is asked of the courier. */
  "busy",
] as const;
export type Oauth2Error = (typeof oauth2Errors)[number];

/** Why a captcha does not count. */
export const captchaErrors = [
  /** The provider does not vouch for the token. */
  "refused",
  /** There are no settings for a provider, or it does not take our secret. */
  "unconfigured",
  /** The provider has not answered. */
  "unreachable",
  /** Too much is asked of the courier. */
  "busy",
] as const;
export type CaptchaError = (typeof captchaErrors)[number];

/** Longer than tokens of captcha providers: Turnstile's have at most 2,048 characters. */
export const maxCaptchaTokenLength = 4_096;

/**
 * How old a statement may be: while it is fresh nobody asks for another, and while it is usable it serves when there is no other. The
 * signer takes none that is an hour old by its own clock, so the last minutes are left for the way to it.
 */
export const statementAges = { freshMs: maxStatementAgeMs / 2, usableMs: maxStatementAgeMs - 5 * 60_000 } as const;

/** Requests to the courier, each with its reply. */
export const courierMessages = {
  deliver: {
    request: struct({ organizationId: text, messageId: text, sealed: bytes }),
    /** Final: no further attempt can do better. */
    reply: variant({
      sent: struct({}),
      failed: struct({ error: oneOf(deliveryErrors), isFinal: bool }),
    }),
  },
  /** A statement about an issuer that was fetched later than that. */
  issuer: {
    /** `isRegistered`: the gateway's word that a user has an identity there, or that the operator trusts its word about addresses. */
    request: struct({ issuer: text, newerThanMs: u64, isRegistered: bool }),
    /** `wasNew`: an issuer that never worked was asked for it. The gateway counts that for the caller who named it. */
    reply: variant({
      /** As `core/src/oidc/issuer_statement.ts` writes it. */
      statement: struct({ statement: bytesUpTo(maxStatementBytes), wasNew: bool }),
      failed: struct({ error: oneOf(issuerErrors), reason: textUpTo(4_096), wasNew: bool }),
    }),
  },
  /** An order of the signer to exchange a code, for the body with this SHA-256. */
  oauth2: {
    request: struct({ organizationId: text, fingerprint: fixed(32), order: bytes }),
    reply: variant({
      /** Sealed for the signer. */
      answer: struct({ sealed: bytes }),
      failed: struct({ error: oneOf(oauth2Errors), reason: textUpTo(4_096) }),
    }),
  },
  /** Whether a captcha provider gave this token to a person, and nobody has used it. */
  captcha: {
    /** `attempt`: a UUID under which the provider says the same again; empty: the token counts once. */
    request: struct({ token: textUpTo(maxCaptchaTokenLength), attempt: textUpTo(36) }),
    reply: variant({
      passed: struct({}),
      failed: struct({ error: oneOf(captchaErrors), reason: textUpTo(4_096) }),
    }),
  },
} as const;

export type CourierMessageKind = keyof typeof courierMessages;
export type CourierRequest<K extends CourierMessageKind> = ValueOf<(typeof courierMessages)[K]["request"]>;
export type CourierReply<K extends CourierMessageKind> = ValueOf<(typeof courierMessages)[K]["reply"]>;

export function courierLayouts<K extends CourierMessageKind>(
  kind: K,
): { request: Layout<CourierRequest<K>>; reply: Layout<CourierReply<K>> } {
  return courierMessages[kind] as unknown as { request: Layout<CourierRequest<K>>; reply: Layout<CourierReply<K>> };
}

export type DeliverRequest = CourierRequest<"deliver">;
export type Delivered = CourierReply<"deliver">;
export type IssuerRequest = CourierRequest<"issuer">;
export type IssuerReply = CourierReply<"issuer">;
export type Oauth2Request = CourierRequest<"oauth2">;
export type Oauth2Reply = CourierReply<"oauth2">;
export type CaptchaRequest = CourierRequest<"captcha">;
export type CaptchaReply = CourierReply<"captcha">;
