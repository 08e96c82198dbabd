import { Fault } from "@keystead/core/fault.ts";
import { type CountName, countLimits } from "../state/entity_kinds.ts";

/** Limits that are no number of one kind of entity in an organization. Those stand in `state/entity_kinds.ts`. */
const otherLimits = {
  longLivedApiKeysPerUser: 10,
  expiringApiKeysPerUser: 10,
  /** The longest that a session may be asked for: 30 days. */
  maxSessionSeconds: 30 * 24 * 60 * 60,
  authenticatorsPerUser: 10,
  oauthProvidersPerUser: 10,
  /** Of users who are not in the root quorum, together; and of one of them. */
  pendingActivitiesPerOrganization: 1_000,
  pendingActivitiesPerUser: 200,
  /** Of one member of the root quorum. Nobody else's count towards it. */
  pendingActivitiesPerRootUser: 200,
  /** Of what is stored of one user's refused and failed requests; above it they are answered the same and not stored. */
  refusedBytesPerUserPerDay: 8 * 1024 * 1024,
} as const;

type LimitName = `${CountName}PerOrganization` | `${CountName}PerSubOrganization` | keyof typeof otherLimits;

export type Limits = { readonly [N in LimitName]: number };

/**
 * Resource limits. All are configuration; one that is hit says which. A parent and its sub-organizations differ in some. Where
 * the hosted service of this wire allows less, a client of it is none the worse for more. Keys cost the state next to nothing.
 */
const defaultLimits = Object.fromEntries([
  ...Object.entries(countLimits).flatMap(([name, { perOrganization, perSubOrganization }]) => [
    [`${name}PerOrganization`, perOrganization],
    [`${name}PerSubOrganization`, perSubOrganization],
  ]),
  ...Object.entries(otherLimits),
]) as Limits;

/** The defaults with the operator's numbers in their places; a name that is no limit is refused. */
export function withLimits(chosen: Readonly<Record<string, number>>): Limits {
  for (const name of Object.keys(chosen)) {
    if (!Object.hasOwn(defaultLimits, name)) {
      const known = Object.keys(defaultLimits).join(", ");
      throw new Fault("invalid_argument", `KEYSTEAD_LIMITS: there is no limit \`${name}\`; there are: ${known}`);
    }
  }
  return { ...defaultLimits, ...chosen };
}

/** Refuses an organization that would have `count` of something, when that is more than its kind of organization may. */
export function checkLimit(
  what: CountName,
  count: number,
  { limits, parentId }: { limits: Limits; parentId: string | undefined },
): void {
  const name = `${what}${parentId === undefined ? "PerOrganization" : "PerSubOrganization"}` as const;
  const limit = limits[name];
  if (count > limit) {
    const { words, areKept } = countLimits[what];
    const wayOut = areKept === true ? "have" : "delete some, or have";
    throw new Fault(
      "resource_exhausted",
      `organization has reached its limit of ${limit} ${words}; ${wayOut} the operator raise ${name} in KEYSTEAD_LIMITS`,
    );
  }
}
