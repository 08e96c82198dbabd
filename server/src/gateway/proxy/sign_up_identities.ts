/**
 * One identity, one sub-organization. An identity is a contact that a token proves, one at another issuer, a passkey, or a key; it counts
 * where it is verified or proven (state/contacts.ts, state/proven.ts). A key that was only written down counts nowhere: anyone who registers
 * a stranger's public key first would else share the account that its owner then signs in to. Contacts are claimed by what the signer
 * verifies (store/contact_claims.ts); sign-ups look for all others before.
 */
import { normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { Fault } from "@keystead/core/fault.ts";
import { parseIdentityToken } from "@keystead/core/oidc/identity_token.ts";
import { credentialIdsIn } from "@keystead/core/webauthn/verify_registration.ts";
import type { SignUpRequestBody } from "../../fields/auth_proxy_requests.ts";
import type { Contact } from "../../state/contacts.ts";
import {
  type IdentityFacts,
  identityLookup,
  isExpired,
  type KeyLookup,
  passkeyLookup,
} from "../../state/credentials.ts";
import { findProvenInSubOrganizations, findVerifiedInSubOrganizations } from "../../store/across.ts";
import type { CallerRow } from "../../store/organizations.ts";
import { dropSignUpClaim, findSignUpClaim } from "../../store/sign_up_claims.ts";
import type { Store } from "../../store/store.ts";

export type CredentialIdentity = { what: "key" | "passkey" | "atIssuer"; lookup: KeyLookup };

export type Identity = { what: "contact"; contact: Contact } | CredentialIdentity;

type SignUpIdentities = Pick<SignUpRequestBody, "apiKeys" | "authenticators" | "oauthProviders">;

/** What a sign-up brings, each once. What cannot be read is left to the signer, which says what is wrong with it. */
export function identitiesOf(
  curves: Curves,
  { apiKeys, authenticators, oauthProviders }: SignUpIdentities,
): CredentialIdentity[] {
  const identities = [
    ...apiKeys.flatMap(({ curveType, publicKey }) =>
      readable(() => [keyIdentity(curveType, normalisePublicKey(curves, curveType, publicKey))]),
    ),
    ...authenticators.flatMap(({ attestation }) => readable(() => passkeyIdentities(attestation.credentialId))),
    ...oauthProviders.flatMap(({ oidcToken, oidcClaims }) =>
      readable(() => {
        if (oidcToken) return [issuerIdentity(parseIdentityToken(oidcToken).claims)];
        return oidcClaims ? [claimedIdentity(oidcClaims)] : [];
      }),
    ),
  ];
  return [...new Map(identities.map((identity) => [identityText(identity), identity])).values()];
}

export function keyIdentity(curve: string, publicKey: string): CredentialIdentity {
  return { what: "key", lookup: { by: "key", curve, publicKey } };
}

/** A user's identity at another issuer, for one application there. */
export function issuerIdentity(facts: IdentityFacts): CredentialIdentity {
  return { what: "atIssuer", lookup: identityLookup(facts) };
}

export function claimedIdentity({ iss, sub, aud }: { iss: string; sub: string; aud: string }): CredentialIdentity {
  return issuerIdentity({ issuer: iss, subject: sub, audience: aud });
}

export function passkeyIdentities(credentialId: string): CredentialIdentity[] {
  return credentialIdsIn(credentialId).map((id) => ({ what: "passkey", lookup: passkeyLookup(id) as KeyLookup }));
}

function readable(read: () => CredentialIdentity[]): CredentialIdentity[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

/** One spelling for each, by which two sign-ups claim the same. */
export function identityText({ lookup }: CredentialIdentity): string {
  return `${lookup.curve} ${lookup.publicKey}`;
}

/**
 * The users below a parent who have an identity that counts. Of one at another issuer the oldest registration does: a stranger who has seen a
 * token of it can register it too, and must not keep its owner out.
 */
export async function findIdentity(store: Store, parentId: string, identity: Identity): Promise<CallerRow[]> {
  if (identity.what === "contact") return findVerifiedInSubOrganizations(store, parentId, identity.contact);
  const { curve, publicKey } = identity.lookup;
  const proven = await findProvenInSubOrganizations(store, parentId, curve, publicKey);
  const counting = proven.filter(({ credential }) => credential !== undefined && !isExpired(credential, Date.now()));
  return identity.what === "atIssuer" ? counting.slice(0, 1) : counting;
}

/** For so long a sign-up with the same key is taken for the same person's, who has clicked twice. */
const sameMomentMs = 60_000;

/** Throws where somebody has one of the identities, or is about to. */
export async function refuseTakenIdentities(
  store: Store,
  parentId: string,
  identities: readonly CredentialIdentity[],
): Promise<void> {
  for (const identity of identities) {
    if ((await findIdentity(store, parentId, identity)).length > 0) throw taken(identity);
    const claim = await findSignUpClaim(store, parentId, identityText(identity));
    if (claim === undefined) continue;
    if (claim.createdAtMs > Date.now() - sameMomentMs) throw taken(identity);
    // Whoever made it does not have it any more, or has never shown to have the key.
    await dropSignUpClaim(store, parentId, claim);
  }
}

function taken({ what }: CredentialIdentity): Fault {
  const names = { key: "public key", passkey: "passkey", atIssuer: "OIDC identity" } as const;
  return new Fault("already_exists", `a sub-organization with this ${names[what]} exists: sign in to it`);
}
