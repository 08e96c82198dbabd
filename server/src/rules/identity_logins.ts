/** Signing in with an identity token: whose it is, and that it was issued for the key that it is to let in. */
import { checkNonce } from "@keystead/core/oidc/identity_token.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { userOfIdentity } from "./oauth_providers.ts";

/**
 * The user whom the token speaks for. Its nonce must name the key exactly as the request spells it: a token that somebody else reads then
 * lets in that key alone.
 */
export function userOfLogin(
  { users }: MembersPage,
  oidcToken: string,
  publicKeyText: string,
  { identities, curves }: ActivityContext,
): User {
  const claims = identities.verify(oidcToken);
  checkNonce(curves, claims, publicKeyText);
  return userOfIdentity(users.values(), claims).user;
}
