/** Whose stamp it is: the signer's own answer, from the stamped bytes and the members page alone. */
import type { ApiKeyCurve } from "@keystead/core/crypto/api_key.ts";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { parseStamp, type Stamp, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { expiredKey, unknownKey, unverifiedStamp } from "../../endpoints/stamp_faults.ts";
import type { ApiKey, User } from "../../state/entities.ts";
import type { MembersPage } from "../../state/members.ts";

/** As a leaf has them. */
type Ids = { userId: Uint8Array; apiKeyId: Uint8Array };

export type Caller = { user: User; apiKey: ApiKey; stamp: Stamp; ids: Ids };

/** Ids are read when the key is first used, and then kept: most keys of a large organization are not used today. */
type Registered = { user: User; apiKey: ApiKey; ids: Ids | undefined };

const indexes = new WeakMap<MembersPage["users"], Map<string, Registered>>();

/** Keys by curve and spelling; pages are immutable and share their maps, so each set of users is indexed once. */
function keysOf({ users }: MembersPage): Map<string, Registered> {
  const known = indexes.get(users);
  if (known !== undefined) return known;
  const index = new Map<string, Registered>();
  for (const user of users.values()) {
    for (const apiKey of user.apiKeys) {
      index.set(keyName(apiKey.curve, apiKey.publicKey), { user, apiKey, ids: undefined });
    }
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
  found.ids ??= { userId: uuidToBytes(user.userId), apiKeyId: uuidToBytes(apiKey.apiKeyId) };
  return { user, apiKey, stamp, ids: found.ids };
}
