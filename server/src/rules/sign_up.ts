/** A sign-up with a verification token: one root user of the new organization has the contact that was verified. */
import { normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import { Fault } from "@keystead/core/fault.ts";
import { checkNonce, parseIdentityToken } from "@keystead/core/oidc/identity_token.ts";
import { comparableContact } from "@keystead/core/otp/otp_types.ts";
import type { TokenClaims } from "@keystead/core/otp/verification_token.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { type CreateSubOrganizationParams, olderPartsOf, type RootUserParams } from "../fields/new_sub_organization.ts";
import type { Contact } from "../state/contacts.ts";
import { missingCredential } from "./credentials.ts";
import { checkTokenUse, contactOfToken, readOptionalToken } from "./verification_tokens.ts";

/** The contact that a sign-up has verified; undefined where it brings no token. Throws where the token is not for this sign-up. */
export function verifiedContactOf(params: CreateSubOrganizationParams, context: ActivityContext): Contact | undefined {
  const { clientSignature } = params;
  const form = olderPartsOf(params).signUpForm ?? "signupV2";
  const token = readOptionalToken(params.verificationToken, context);
  if (token === undefined) {
    if (clientSignature === undefined || clientSignature === null) return undefined;
    throw new Fault(
      "invalid_argument",
      "missing parameter: verificationToken: clientSignature says what it is used for",
    );
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
  return contactOfToken(token);
}

/** The one whose contact it is. Nobody could say which of several the holder of the contact is. */
function rootUserOf(rootUsers: readonly RootUserParams[], token: TokenClaims): RootUserParams {
  const { kind, contact } = contactOfToken(token);
  const owners = rootUsers.filter(({ userEmail, userPhoneNumber }) => {
    const own = kind === "email" ? userEmail : userPhoneNumber;
    return own != null && comparableContact(kind, own) === comparableContact(kind, contact);
  });
  const [owner, ...others] = owners;
  if (owner !== undefined && others.length === 0) return owner;
  const count = owner === undefined ? "no root user has" : "more than one root user has";
  throw new Fault("invalid_argument", `invalid verification token: ${count} its contact`);
}

/**
 * Through the auth proxy, what the holder of a contact has not signed might be anyone's: a sign-up that proves a contact brings only
 * credentials that its client signature covers. One that proves nothing has nothing to protect.
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
  if (verified === undefined || !hasCredentials || (clientSignature !== undefined && clientSignature !== null)) return;
  throw new Fault(
    "invalid_argument",
    "missing parameter: clientSignature: a sign-up with a verification token brings only credentials that are signed by its key; " +
      "verify the code with a publicKey",
  );
}

/**
 * The same for identities: whoever reads somebody's identity token could else sign up with it and with credentials of their own, and share
 * the account that its owner then signs in to. The nonce of each token names the one key that comes with it, or the one that has signed for
 * everything. An identity that comes alone lets in nobody but its owner. Tokens are verified where they are registered.
 */
export function refuseUnboundIdentities(
  { rootUsers, clientSignature }: CreateSubOrganizationParams,
  verified: Contact | undefined,
  { curves }: Pick<ActivityContext, "curves">,
): void {
  for (const { apiKeys, authenticators, oauthProviders } of rootUsers) {
    const tokens = (oauthProviders ?? []).flatMap(({ oidcToken }) =>
      oidcToken ? [parseIdentityToken(oidcToken)] : [],
    );
    const identities = new Set(tokens.map(({ claims }) => JSON.stringify([claims.issuer, claims.subject])));
    const [key, ...otherKeys] = apiKeys ?? [];
    const hasPasskeys = (authenticators ?? []).length > 0;
    const isAlone = key === undefined && !hasPasskeys && verified === undefined && identities.size <= 1;
    if (tokens.length === 0 || isAlone) continue;
    const covering = verified === undefined ? key : clientSignature;
    if (!covering || (verified === undefined && (otherKeys.length > 0 || hasPasskeys))) throw unboundIdentity();
    for (const { claims } of tokens) checkNonce(curves, claims, covering.publicKey);
  }
}

function unboundIdentity(): Fault {
  return new Fault(
    "invalid_argument",
    "invalid oauth provider: a sign-up with an oidcToken brings only the one API key that the nonce of the token names; add others " +
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
