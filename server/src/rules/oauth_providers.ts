/**
 * Identities at other issuers that users have registered. Each is (issuer, subject, audience) as a verified token has them; the token itself
 * is not kept. Claims without a token name the same person's identity at another application, so they need a verified token of the same
 * issuer and subject, or such an identity that the user has already.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { Identity, IdentityClaims } from "@keystead/core/oidc/identity_claims.ts";
import { isIssuedFor } from "@keystead/core/oidc/identity_token.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { OauthProviderParams } from "../fields/credentials.ts";
import { hasVerifiedContact, withVerifiedContact } from "../state/contacts.ts";
import { identityLookup, lookupText } from "../state/credentials.ts";
import type { OauthProvider, User } from "../state/entities.ts";
import { clientAt } from "./auth_proxy.ts";

/** The most that one activity registers: each token is work for the signer, who does one thing at a time. */
const maxProvidersPerActivity = 100;

/** Providers that an activity asks for, of a user that is there or of one that it creates. */
type AskedProviders = { user?: User; oauthProviders?: readonly unknown[] | null | undefined };

/** Refuses what can be told from their number alone, before any token is verified. */
export function refuseProvidersByCount(asked: readonly AskedProviders[], context: ActivityContext): void {
  const count = asked.reduce((sum, { oauthProviders }) => sum + (oauthProviders?.length ?? 0), 0);
  if (count > maxProvidersPerActivity) {
    throw new Fault(
      "invalid_argument",
      `one activity may create at most ${maxProvidersPerActivity} oauth providers, and this one asks for ${count}`,
    );
  }
  for (const { user, oauthProviders } of asked) {
    checkCount((user?.oauthProviders?.length ?? 0) + (oauthProviders?.length ?? 0), context);
  }
}

function checkCount(count: number, { limits }: ActivityContext): void {
  if (count <= limits.oauthProvidersPerUser) return;
  throw new Fault(
    "resource_exhausted",
    "user has exceeded maximum oauth providers: delete one with delete_oauth_providers first",
  );
}

type Registration = { user: User; added: readonly OauthProvider[] };

/**
 * The user with more providers. An e-mail address of the user's that a linking issuer vouches for is verified by it, if the token was issued
 * for the key that stamped this body, or for one of those that the user is born with.
 */
export function withOauthProviders(
  user: User,
  params: readonly OauthProviderParams[],
  context: ActivityContext,
  bornWithKeys: readonly string[] = [],
): Registration {
  if (params.length === 0) return { user, added: [] };
  checkCount((user.oauthProviders?.length ?? 0) + params.length, context);
  const tokens = params.map(({ oidcToken, oidcClaims }) => {
    if (isGiven(oidcToken) === isGiven(oidcClaims)) throw oneOfTwo();
    return isGiven(oidcToken) ? context.identities.verify(oidcToken) : undefined;
  });
  const vouched = [...tokens.flatMap((token) => token ?? []), ...(user.oauthProviders ?? [])];
  const added = params.map(({ providerName, oidcClaims }, index) =>
    newProvider(context, providerName, tokens[index] ?? claimedIdentity(oidcClaims, vouched, context)),
  );
  const oauthProviders = [...(user.oauthProviders ?? []), ...added];
  const linked: User = { ...user, oauthProviders, updatedAtMs: context.nowMs };
  const { proposerKey } = context;
  const keys = proposerKey === undefined ? bornWithKeys : [...bornWithKeys, proposerKey];
  const marked = added.reduce<User>((each, { providerId }, index) => {
    const token = tokens[index];
    const isOwn = token !== undefined && keys.some((key) => isIssuedFor(context.curves, token, key));
    return isOwn ? withLinkedEmail(each, token, providerId, context) : each;
  }, linked);
  return { user: marked, added };
}

/** Clients write out what they leave open. */
function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null && value !== "";
}

function oneOfTwo(): Fault {
  return new Fault("invalid_argument", "invalid oauth provider: give either oidcToken or oidcClaims");
}

type Claims = NonNullable<OauthProviderParams["oidcClaims"]>;

function claimedIdentity(
  claims: Claims | null | undefined,
  vouched: readonly Identity[],
  context: ActivityContext,
): Identity {
  if (claims === undefined || claims === null) throw oneOfTwo();
  const { iss: issuer, sub: subject, aud: audience } = claims;
  const known = vouched.filter((each) => each.issuer === issuer && each.subject === subject);
  if (known.some((each) => mayVouch(each, context))) return { issuer, subject, audience };
  const [unnamed] = known;
  const why =
    unnamed === undefined
      ? "oidcClaims need an oidcToken with the same issuer and subject in the same request, or an oauth provider with them " +
        "that the user has already"
      : `the \`aud\` of the OIDC token beside oidcClaims is not a client of this organization: add \`${clientAt(unnamed)}\` to ` +
        "socialLinkingClientIds with update_auth_proxy_config";
  throw new Fault("invalid_argument", `invalid oauth provider: ${why}`, { errorCode: "INVALID_OIDC_TOKEN" });
}

/**
 * Who runs any application at an issuer gets tokens of its visitors. With one of those and claims for an application of the organization's
 * own they could register a visitor's identity in an account of theirs, to which its owner would then sign in. So the token must be for an
 * application of the organization's own, too; but an organization without a parent answers for what its users register.
 */
function mayVouch(identity: Identity, context: ActivityContext): boolean {
  if (context.isByParent) return true;
  if (context.parentId === undefined && context.isByAuthProxy !== true) return true;
  return context.ownClients().includes(clientAt(identity));
}

function newProvider(context: ActivityContext, providerName: string, identity: Identity): OauthProvider {
  const { issuer, audience, subject } = identity;
  return {
    providerId: context.newId(),
    providerName,
    issuer,
    audience,
    subject,
    // Its issuer has vouched for it here: nobody can write down a stranger's.
    proven: true,
    createdAtMs: context.nowMs,
    updatedAtMs: context.nowMs,
  };
}

/**
 * The user's e-mail address is verified by a token for an application of the organization's own. Else anybody who runs an application where
 * somebody signs in with their Google account could register that token here, with the address, and would get the codes and sign-ins of
 * that person: whose address is verified is whom they are led to. The mark ends with the identity.
 */
function withLinkedEmail(user: User, token: IdentityClaims, providerId: string, context: ActivityContext): User {
  const contact = vouchedEmail(token, context.identities.linkingIssuers);
  if (contact === undefined || !context.ownClients().includes(clientAt(token))) return user;
  return withVerifiedContact(user, { kind: "email", contact, mark: { by: "identity", providerId } });
}

/** The address in a token, if its issuer's word about addresses counts. */
export function vouchedEmail(
  { issuer, verifiedEmail }: Pick<IdentityClaims, "issuer" | "verifiedEmail">,
  linkingIssuers: ReadonlySet<string>,
): string | undefined {
  return linkingIssuers.has(issuer) ? verifiedEmail : undefined;
}

/**
 * What a parent may add to a user of its sub-organization: the identity of whoever has the user's verified e-mail address, by the word of an
 * issuer whose word about addresses counts. Anything else would hand the parent its users' accounts.
 */
export function refuseUnlessLinked(user: User, params: readonly OauthProviderParams[], context: ActivityContext): void {
  for (const { oidcToken } of params) {
    const token = isGiven(oidcToken) ? context.identities.verify(oidcToken) : undefined;
    const email = token && vouchedEmail(token, context.identities.linkingIssuers);
    if (email !== undefined && hasVerifiedContact(user, { kind: "email", contact: email })) continue;
    throw new Fault(
      "permission_denied",
      "request not authorized: a parent may only add the identity of an issuer in KEYSTEAD_OIDC_LINKING whose verified e-mail " +
        "address is the verified e-mail address of the user",
      { errorCode: "REQUEST_NOT_AUTHORIZED" },
    );
  }
}

/** The one user who has registered this identity. */
export function userOfIdentity(users: Iterable<User>, identity: Identity): { user: User; provider: OauthProvider } {
  const wanted = lookupText(identityLookup(identity));
  for (const user of users) {
    const provider = user.oauthProviders?.find((each) => lookupText(identityLookup(each)) === wanted);
    if (provider !== undefined) return { user, provider };
  }
  throw new Fault("unauthenticated", "could not find a user with the identity of this OIDC token in organization", {
    errorCode: "CREDENTIAL_NOT_FOUND",
  });
}
