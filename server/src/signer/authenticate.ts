/** Whose stamp it is: the signer's own answer, from the stamped bytes and the members page alone. */
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { parseStamp, type Stamp, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import { expiredKey, unknownKey, unverifiedStamp } from "../endpoints/stamp_faults.ts";
import type { ApiKey, User } from "../state/entities.ts";
import type { MembersPage } from "../state/pages.ts";

export type Caller = { user: User; apiKey: ApiKey; stamp: Stamp };

const indexes = new WeakMap<MembersPage["users"], Map<string, { user: User; apiKey: ApiKey }>>();

/** Keys by curve and spelling; pages are immutable and share their maps, so each set of users is indexed once. */
function keysOf({ users }: MembersPage): Map<string, { user: User; apiKey: ApiKey }> {
  const known = indexes.get(users);
  if (known !== undefined) return known;
  const index = new Map<string, { user: User; apiKey: ApiKey }>();
  for (const user of users.values()) {
    for (const apiKey of user.apiKeys) index.set(keyName(apiKey.curve, apiKey.publicKey), { user, apiKey });
  }
  indexes.set(users, index);
  return index;
}

function keyName(curve: ApiKeyCurve, publicKey: string): string {
  return `${curve} ${publicKey}`;
}

export function authenticate(
  curves: Curves,
  organization: { organizationId: string; parentId: string | undefined; members: MembersPage },
  header: string,
  body: Uint8Array,
  nowMs: number,
): Caller {
  const stamp = parseStamp(curves, header);
  const found = keysOf(organization.members).get(keyName(stamp.curve, stamp.publicKey));
  if (found === undefined) throw unknownKey(organization.organizationId, organization.parentId, stamp.publicKey);
  const { user, apiKey } = found;
  if (apiKey.expiresAtMs !== undefined && apiKey.expiresAtMs <= nowMs) throw expiredKey(stamp.publicKey);
  if (!verifyStamp(curves, stamp, body)) throw unverifiedStamp();
  return { user, apiKey, stamp };
}
