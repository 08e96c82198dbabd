/**
 * Where a key counts that a body names the parent with. Keys of wallets are public: whoever has seen a transaction or an address knows them,
 * and anyone may register them in an account of their own. Such a key counts where it is proven, and in the one sign-in that proves it.
 */
import type { User } from "./entities.ts";
import type { MembersPage } from "./members.ts";

/** The organization that a key is registered in. */
export type Registration = { members: Pick<MembersPage, "users">; settings: { createdAtMs: number } };

type RegisteredKey = { credentialId: string; curve: string; proven: boolean };

/** Those of chains. Keys on the other one are made by applications, and shown to nobody. */
const walletCurves: ReadonlySet<string> = new Set(["API_KEY_CURVE_SECP256K1", "API_KEY_CURVE_ED25519"]);

export function isWalletCurve(curve: string): boolean {
  return walletCurves.has(curve);
}

export function countsByParentsId(at: Registration, user: User, key: RegisteredKey, nowMs: number): boolean {
  return key.proven || !isWalletCurve(key.curve) || isFirstSignIn(at, user, key.credentialId, nowMs);
}

export const firstSignInMs = 5 * 60_000;

/**
 * For so long after its first registration an API key that is proven nowhere is looked for below a parent. Its holder has used it by then,
 * or names the sub-organization. Passkeys are looked for without end: one that was added for a bad day signs in by the parent's id alone, and only a
 * stamp of its own key finds it.
 */
export const unprovenKeyMs = 24 * 3_600_000;

/**
 * A sign-in right after the sign-up, with the one key that came with it. Wallets stamp their first sign-in before there is an organization
 * that they could name. Where anything else lets somebody in, a stranger may have registered the key to share the account of its owner.
 * `findUnprovenAlone` of the store asks the same of rows.
 */
export function isFirstSignIn(
  { members, settings: { createdAtMs } }: Registration,
  { apiKeys: [key, ...otherKeys], authenticators = [], oauthProviders = [], userEmail, userPhoneNumber }: User,
  credentialId: string,
  nowMs: number,
): boolean {
  const isBornWith = key?.apiKeyId === credentialId && key.createdAtMs === createdAtMs;
  if (!isBornWith || nowMs - createdAtMs > firstSignInMs) return false;
  const otherCredentials = otherKeys.length + authenticators.length + oauthProviders.length;
  const hasContact = userEmail !== undefined || userPhoneNumber !== undefined;
  return otherCredentials === 0 && !hasContact && members.users.size === 1;
}
