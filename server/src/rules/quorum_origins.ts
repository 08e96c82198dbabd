/**
 * A list of origins must leave the root quorum a way to act: nobody stands above it to take the list back, and what the organization
 * holds would be lost. A passkey can be used where an allowed origin belongs to its domain. Contacts do not count: nothing signs in by one.
 *
 * A parent may still change its own list under its sub-organizations: that is its owners' decision, and its owners can take it back.
 */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { originFlaw } from "@keystead/core/webauthn/origin.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { isLasting } from "../state/credentials.ts";
import type { Authenticator, RootQuorum, User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";

type Origins = readonly string[] | undefined;

/** Who may act as the root quorum, and from where. The list is asked for only where passkeys decide: it may take a parent's state. */
export type QuorumAccess = { threshold: number; members: readonly User[]; origins(): Origins };

/** As it is, or with another quorum, user or list. */
export function quorumAccess(
  { users, rootQuorum }: MembersPage,
  origins: () => Origins,
  change: { user?: User; rootQuorum?: RootQuorum } = {},
): QuorumAccess {
  const { threshold, userIds } = change.rootQuorum ?? rootQuorum;
  const find = (userId: string) => (userId === change.user?.userId ? change.user : users.get(userId));
  return { threshold, members: [...new Set(userIds)].flatMap((userId) => find(userId) ?? []), origins };
}

/** Refuses a change after which the list keeps the root quorum from acting. Where it did so before, nothing gets worse. */
export function refuseShutOut({ curves }: ActivityContext, before: QuorumAccess, after: QuorumAccess): void {
  if (!isShutOut(curves, after) || isShutOut(curves, before)) return;
  throw new Fault(
    "invalid_argument",
    "the root quorum could not act any more: too few of its members have an API key that never expires, or a passkey that an " +
      "allowed origin fits; give them API keys, list an origin of their passkeys' domain, or list `*` to have no list",
  );
}

/** Whether it is the list that keeps the quorum from acting, and not a lack of credentials. */
function isShutOut(curves: Curves, access: QuorumAccess): boolean {
  if (canAct(access, () => false) || !canAct(access, () => true)) return false;
  const origins = access.origins();
  return !canAct(access, (passkey) => isUsable(curves, passkey, origins));
}

function canAct({ threshold, members }: QuorumAccess, counts: (passkey: Authenticator) => boolean): boolean {
  const able = members.filter(
    ({ apiKeys, authenticators = [], oauthProviders = [] }) =>
      apiKeys.some(isLasting) || authenticators.some(counts) || oauthProviders.length > 0,
  );
  return able.length >= threshold;
}

function isUsable(curves: Curves, { rpIdHash }: Authenticator, origins: Origins): boolean {
  if (origins === undefined) return true;
  const rule = { allowedOrigins: undefined, rpIdHash: fromHex(rpIdHash) };
  return origins.some((origin) => originFlaw(curves, { origin, topOrigin: undefined }, rule) === undefined);
}
