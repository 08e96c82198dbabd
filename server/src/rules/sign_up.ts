/** A sign-up with a verification token: one root user of the new organization has the contact that was verified. */
import { normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { IdentityClaims } from "@keystead/core/oidc/identity_claims.ts";
import { checkNonce, parseIdentityToken } from "@keystead/core/oidc/identity_token.ts";
import type { TokenClaims } from "@keystead/core/otp/verification_token.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { type CreateSubOrganizationParams, olderPartsOf, type RootUserParams } from "../fields/new_sub_organization.ts";
import { type Contact, isSameContact, type VerifiedContact } from "../state/contacts.ts";
import { missingCredential } from "./credentials.ts";
import { checkTokenUse, contactOfToken, readOptionalToken, unusedSignature } from "./verification_tokens.ts";

/**
 * The contact that a sign-up has verified; undefined where it brings no token. Throws where the token is not for this sign-up. A token that
 * is bound to no key is the word of the parent, or of its proxy, that brings it.
 */
export function verifiedContactOf(
  params: CreateSubOrganizationParams,
  context: ActivityContext,
): VerifiedContact | undefined {
  const { clientSignature } = params;
  const form = olderPartsOf(params).signUpForm ?? "signupV2";
  const token = readOptionalToken(params.verificationToken, context);
  if (token === undefined) {
    if (clientSignature === undefined || clientSignature === null) return undefined;
    throw unusedSignature();
  }
  if (form === "signupV2" && token.publicKey === undefined) {
    throw new Fault(
      "invalid_argument",
      "invalid verification token: ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8 takes only one that is bound to a key",
    );
  }
  const { apiKeys, authenticators, oauthProviders, userEmail, userPhoneNumber } = rootUserOf(params.rootUsers, token);
  checkTokenUse(context, token, clientSignature, {
    kind: "signup",
    form,
    ...{ apiKeys, authenticators, oauthProviders, email: userEmail, phoneNumber: userPhoneNumber },
  });
  return { ...contactOfToken(token), mark: { by: token.publicKey === undefined ? "parent" : "code" } };
}

/** The one whose contact it is. Nobody could say which of several the holder of the contact is. */
function rootUserOf(rootUsers: readonly RootUserParams[], token: TokenClaims): RootUserParams {
  const verified = contactOfToken(token);
  const owners = rootUsers.filter((user) => contactsOf(user).some((contact) => isSameContact(contact, verified)));
  const [owner, ...others] = owners;
  if (owner !== undefined && others.length === 0) return owner;
  const count = owner === undefined ? "no root user has" : "more than one root user has";
  throw new Fault("invalid_argument", `invalid verification token: ${count} its contact`);
}

/**
 * Through the auth proxy, what the holder of a contact has not signed might be anyone's: a sign-up that proves a contact brings only
 * credentials that its client signature covers, and no second contact either, because a code that is sent there lets in as a key does. One
 * that proves nothing has nothing to protect.
 */
export function refuseUncovered(
  { rootUsers, clientSignature }: CreateSubOrganizationParams,
  verified: Contact | undefined,
): void {
  const hasCredentials = rootUsers.some(({ apiKeys, authenticators, oauthProviders }) =>
    [apiKeys, authenticators, oauthProviders].some((list) => (list ?? []).length > 0),
  );
  // A contact that nobody has proved lets nobody in.
  if (verified === undefined && !hasCredentials) throw missingCredential("", rootUsers[0]?.userName);
  if (verified === undefined || (clientSignature !== undefined && clientSignature !== null)) return;
  const hasOtherContact = rootUsers.some((user) =>
    contactsOf(user).some((contact) => !isSameContact(contact, verified)),
  );
  if (!hasCredentials && !hasOtherContact) return;
  throw new Fault(
    "invalid_argument",
    "missing parameter: clientSignature: a sign-up with a verification token brings only credentials and contacts that are signed by " +
      "its key; verify the code with a publicKey",
  );
}

/**
 * The same for identities: whoever reads somebody's identity token could else sign up with it and with credentials of their own, and share
 * the account that its owner then signs in to. Either a client signature covers everything, by the key that the nonce names. Or there is
 * one token, the one key that its nonce names, and no contact but the e-mail address that its issuer has verified. A second token is no
 * proof, although its nonce names the same key: anybody can run an issuer. An identity that comes alone lets in nobody but its owner.
 * Tokens are verified where they are registered.
 */
export function refuseUnboundIdentities(
  { rootUsers, clientSignature }: CreateSubOrganizationParams,
  verified: Contact | undefined,
  { curves }: Pick<ActivityContext, "curves">,
): void {
  for (const user of rootUsers) {
    const tokens = (user.oauthProviders ?? []).flatMap(({ oidcToken }) =>
      oidcToken ? [parseIdentityToken(oidcToken)] : [],
    );
    const [token, ...otherTokens] = tokens;
    if (token === undefined) continue;
    if (verified !== undefined) {
      if (!clientSignature) throw unboundIdentity();
      for (const { claims } of tokens) checkNonce(curves, claims, clientSignature.publicKey);
      continue;
    }
    const [key, ...otherKeys] = user.apiKeys ?? [];
    const others = [otherTokens, otherKeys, user.authenticators ?? []];
    if (others.some((list) => list.length > 0)) throw unboundIdentity();
    if (contactsOf(user).some((contact) => !isVouchedFor(token.claims, contact))) throw unboundContact();
    if (key !== undefined) checkNonce(curves, token.claims, key.publicKey);
  }
}

/** What is empty was left open. */
function contactsOf({ userEmail, userPhoneNumber }: RootUserParams): Contact[] {
  return [
    ...(userEmail ? [{ kind: "email", contact: userEmail } as const] : []),
    ...(userPhoneNumber ? [{ kind: "phone", contact: userPhoneNumber } as const] : []),
  ];
}

function isVouchedFor({ verifiedEmail }: IdentityClaims, contact: Contact): boolean {
  return verifiedEmail !== undefined && isSameContact({ kind: "email", contact: verifiedEmail }, contact);
}

function unboundIdentity(): Fault {
  return new Fault(
    "invalid_argument",
    "invalid oauth provider: a sign-up with an oidcToken brings one token and only the one API key that the nonce of the token names; " +
      "add others after signing in",
    { errorCode: "INVALID_OIDC_TOKEN" },
  );
}

function unboundContact(): Fault {
  return new Fault(
    "invalid_argument",
    "invalid oauth provider: a sign-up with an oidcToken brings no contact but the verified e-mail address in the token; add others " +
      "after signing in",
    { errorCode: "INVALID_OIDC_TOKEN" },
  );
}

/** The key whose holder has signed this sign-up, in its stored spelling. Asked after the signature was checked. */
export function signingKeyOf(
  { clientSignature, verificationToken }: CreateSubOrganizationParams,
  { curves }: Pick<ActivityContext, "curves">,
): string | undefined {
  if (!clientSignature || !verificationToken) return undefined;
  return normalisePublicKey(curves, "API_KEY_CURVE_P256", clientSignature.publicKey);
}
