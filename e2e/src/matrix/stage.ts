/** Where one endpoint is tried: a parent organization, one of its sub-organizations, and one that has nothing to do with them. */
import type { Furnisher } from "../furnish.ts";
import { createKey, type KeyPair } from "../key_pairs.ts";
import { draft, type Person } from "../world.ts";

export type Place = {
  organizationId: string;
  organizationName: string;
  parentId?: string;
  /** Together the root quorum; one of them is enough. */
  root: Person;
  deputy: Person;
  /** Whom no policy allows anything. */
  member: Person;
  /** Its P-256 key has expired. */
  expired: Person;
  /** Tokens that the organization has issued for a contact: one for the holder of a key, and one that is bound to none. */
  verified: { contact: string; holder: KeyPair; token: string; unboundToken: string };
};

export type Stage = { parent: Place; sub: Place; other: Place };

/** The same people play on every stage: their keys are many, and an organization sees only its own. */
type Cast = Record<keyof Stage, Record<Role, ReturnType<typeof draft>["keys"]>>;
type Role = "root" | "deputy" | "member" | "expired";

const roles = { root: "Root", deputy: "Deputy", member: "Member", expired: "Expired" } as const satisfies Record<
  Role,
  string
>;

function engageCast(): Cast {
  const keys = () => draft("").keys;
  const troupe = () => ({ root: keys(), deputy: keys(), member: keys(), expired: keys() });
  return { parent: troupe(), sub: troupe(), other: troupe() };
}

export function createStages(furnisher: Furnisher): () => Promise<Stage> {
  const cast = engageCast();
  return async () => {
    const parent = await foundPlace(furnisher, "Parent", cast.parent);
    const sub = await foundPlace(furnisher, "Sub", cast.sub, parent.organizationId);
    const other = await foundPlace(furnisher, "Other", cast.other);
    return { parent, sub, other };
  };
}

async function foundPlace(
  furnisher: Furnisher,
  organizationName: string,
  keys: Cast[keyof Stage],
  parentId?: string,
): Promise<Place> {
  const people = {
    root: draft(roles.root, keys.root),
    deputy: draft(roles.deputy, keys.deputy),
    member: draft(roles.member, keys.member),
    expired: draft(roles.expired, keys.expired, Date.now() - 1_000),
  };
  const organizationId = await furnisher.found({
    organizationName,
    ...(parentId !== undefined && { parentId }),
    users: Object.values(people).map(({ user }) => user),
    rootUserIds: [people.root.user.userId, people.deputy.user.userId],
  });
  const contact = "root@example.com";
  const holder = createKey();
  const verified = {
    contact,
    holder,
    token: await furnisher.issueToken({ organizationId, contact, publicKey: holder.publicKey }),
    unboundToken: await furnisher.issueToken({ organizationId, contact }),
  };
  return {
    organizationId,
    organizationName,
    verified,
    ...(parentId !== undefined && { parentId }),
    root: people.root.person(organizationId),
    deputy: people.deputy.person(organizationId),
    member: people.member.person(organizationId),
    expired: people.expired.person(organizationId),
  };
}
