/**
 * Verification tokens as parameters: whether one counts in this organization, what its holder wants it for, and which user it speaks for. A
 * token that is bound to a key is used as often as its holder signs for it. One that is bound to none is good for a single login: the
 * organization's state knows it afterwards, until nobody could use it any more.
 */
import { Fault } from "@keystead/core/fault.ts";
import { type ClientSignature, checkClientSignature, type TokenUsage } from "@keystead/core/otp/client_signature.ts";
import { otpTypes } from "@keystead/core/otp/otp_types.ts";
import { checkVerificationToken, type TokenClaims } from "@keystead/core/otp/verification_token.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { type Contact, isSameContact, usersWithContact, type VerifiedContact } from "../state/contacts.ts";
import { type Change, put, remove, type User } from "../state/entities.ts";
import { clockToleranceMs } from "../state/journal.ts";
import type { MembersPage } from "../state/members.ts";
import type { UsedTokensPage } from "../state/pages.ts";

/**
 * What a token says, if it counts here and now. The organization that issued it must be this one or its parent. Throws with the reason.
 */
export function readVerificationToken(
  token: string,
  { curves, codes, verdicts, nowMs, organizationId, parentId }: ActivityContext,
): TokenClaims {
  const organizationIds = parentId === undefined ? [organizationId] : [organizationId, parentId];
  const verifyP256: typeof curves.verifyP256 = (...asked) =>
    verdicts.confirm("token", () => curves.verifyP256(...asked));
  return checkVerificationToken({ verifyP256 }, token, { ...codes.tokenJudgement(), nowMs, organizationIds });
}

/** The same where the request may come without one: clients write out what they leave open. */
export function readOptionalToken(token: string | null | undefined, context: ActivityContext): TokenClaims | undefined {
  return token === undefined || token === null || token === "" ? undefined : readVerificationToken(token, context);
}

export function contactOfToken({ verificationType, contact }: TokenClaims): Contact {
  return { kind: otpTypes[verificationType].contact, contact };
}

/** What a request gives a user, and what it brings to prove it. */
export type ContactUpdate = Contact & {
  userId: string;
  verificationToken?: string | null | undefined;
  clientSignature?: ClientSignature | null | undefined;
};

/**
 * The contact as the request's token verifies it for this user. Only a token that is bound to a key does, and only where that key has
 * stamped this very body, or signed this use of the token: anyone who has seen a token could else write its contact into a user of their
 * own, to whom its owner would then be led. Undefined where no token came, and for one that is bound to no key. A token for another
 * contact is refused.
 */
export function verifiedUpdate(
  { verificationToken, clientSignature, userId, kind, contact }: ContactUpdate,
  context: ActivityContext,
): VerifiedContact | undefined {
  const token = readOptionalToken(verificationToken, context);
  if (token === undefined) {
    if (clientSignature) throw unusedSignature();
    return undefined;
  }
  if (!isSameContact(contactOfToken(token), { kind, contact })) {
    const what = kind === "email" ? "e-mail address" : "phone number";
    throw new Fault("invalid_argument", `invalid verification token: it was not issued for this ${what}`);
  }
  if (clientSignature || !isStampedByTokenKey(token, context)) {
    checkTokenUse(context, token, clientSignature, { kind: "contact", userId, contact });
  }
  return token.publicKey === undefined ? undefined : { kind, contact, mark: { by: "code" } };
}

/** Whether the key that a token is bound to has stamped the body of this activity. */
export function isStampedByTokenKey(
  { publicKey }: TokenClaims,
  { proposerKey }: Pick<ActivityContext, "proposerKey">,
): boolean {
  return publicKey !== undefined && publicKey === proposerKey;
}

export function unusedSignature(): Fault {
  return new Fault(
    "invalid_argument",
    "missing parameter: verificationToken: clientSignature says what it is used for",
  );
}

/** The holder of the key of a bound token must have signed this use of it. One that is bound to no key has no holder who could. */
export function checkTokenUse(
  { curves }: Pick<ActivityContext, "curves">,
  token: TokenClaims,
  clientSignature: ClientSignature | null | undefined,
  usage: TokenUsage,
): void {
  if (clientSignature !== undefined && clientSignature !== null) {
    checkClientSignature(curves, token, clientSignature, usage);
    return;
  }
  if (token.publicKey === undefined) return;
  throw new Fault(
    "invalid_argument",
    "missing parameter: clientSignature: the verification token is bound to a key, which must sign this request's use of it",
  );
}

/**
 * The one user of the organization whom a token speaks for. Who has the contact verified comes before all who only wrote it down. Through the
 * auth proxy those do not count: which organization such a request names is the gateway's word, and the login would verify the contact for
 * the user who wrote it down.
 */
export function userOfToken(
  members: MembersPage,
  token: TokenClaims,
  { isByAuthProxy }: Pick<ActivityContext, "isByAuthProxy">,
): User {
  const [user, ...others] = usersWithContact(members, contactOfToken(token), isByAuthProxy !== true);
  if (user === undefined) {
    throw new Fault(
      "unauthenticated",
      "could not find a user with the contact of this verification token in organization",
      { errorCode: "CREDENTIAL_NOT_FOUND" },
    );
  }
  if (others.length > 0) {
    throw new Fault("unauthenticated", "more than one user associated with the contact of this verification token", {
      errorCode: "CREDENTIAL_CONFLICT",
    });
  }
  return user;
}

/** Enough for a login with an unbound token every 90 seconds, each with the longest life that a token can have. */
export const maxUsedTokens = 1_000;

/**
 * What a login with an unbound token changes: its id is known from now on. Ids are forgotten when their tokens are over, also for a clock
 * that steps back as far as it may, and never before: where there is no place left, the login is refused.
 */
export function usedUpToken(page: UsedTokensPage, token: TokenClaims, nowMs: number): Change[] {
  if (token.publicKey !== undefined) return [];
  const { tokenId, expiresAtMs } = token;
  if (page.has(tokenId)) {
    throw new Fault(
      "invalid_argument",
      "invalid verification token: it has made its login; one that is bound to no key is good for one, so verify a new code",
    );
  }
  const over = [...page.values()].filter((used) => used.expiresAtMs + clockToleranceMs <= nowMs);
  if (page.size - over.length >= maxUsedTokens) {
    throw new Fault(
      "resource_exhausted",
      `organization has reached its limit of ${maxUsedTokens} used verification tokens that have not expired; verify the code with a publicKey, ` +
        "or wait until some of them expire",
    );
  }
  return [...over.map((used) => remove("usedToken", used.tokenId)), put("usedToken", { tokenId, expiresAtMs })];
}
