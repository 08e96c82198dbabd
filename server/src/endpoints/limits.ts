import { Fault } from "@keystead/core/fault.ts";

/**
 * Resource limits. All are configuration; one that is hit says which. A parent and its sub-organizations differ in some. Where
 * the hosted service of this wire allows less, a client of it is none the worse for more. Keys cost the state next to nothing.
 */
const defaultLimits = {
  userTagsPerOrganization: 1_000,
  userTagsPerSubOrganization: 100,
  usersPerOrganization: 1_000,
  usersPerSubOrganization: 1_000,
  longLivedApiKeysPerUser: 10,
  expiringApiKeysPerUser: 10,
  /** Of users who are not in the root quorum, together; and of one of them. */
  pendingActivitiesPerOrganization: 1_000,
  pendingActivitiesPerUser: 200,
  /** Of one member of the root quorum. Nobody else's count towards it. */
  pendingActivitiesPerRootUser: 200,
  /** Of what is stored of one user's refused and failed requests; above it they are answered the same and not stored. */
  refusedBytesPerUserPerDay: 8 * 1024 * 1024,
  walletsPerOrganization: 10_000,
  walletsPerSubOrganization: 10_000,
  privateKeysPerOrganization: 10_000,
  privateKeysPerSubOrganization: 10_000,
  privateKeyTagsPerOrganization: 100,
  privateKeyTagsPerSubOrganization: 10,
  policiesPerOrganization: 1_000,
  policiesPerSubOrganization: 1_000,
  /** Of all expressions together: whoever meets them first compiles them all, while everybody else waits. */
  policyBytesPerOrganization: 512 * 1024,
  policyBytesPerSubOrganization: 512 * 1024,
  contractInterfacesPerOrganization: 1_000,
  contractInterfacesPerSubOrganization: 1_000,
  /** Of the texts of all interfaces together: a list of them is one answer. */
  contractInterfaceBytesPerOrganization: 16 * 1024 * 1024,
  contractInterfaceBytesPerSubOrganization: 16 * 1024 * 1024,
} as const;

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

export type Limits = { readonly [K in keyof typeof defaultLimits]: number };

const counted = {
  users: "users",
  userTags: "user tags",
  wallets: "wallets",
  privateKeys: "private keys",
  privateKeyTags: "private key tags",
  policies: "policies",
  policyBytes: "bytes of policy expressions",
  contractInterfaces: "smart contract interfaces",
  contractInterfaceBytes: "bytes of smart contract interfaces",
} as const;

/** Refuses an organization that would have `count` of something, when that is more than its kind of organization may. */
export function checkLimit(
  what: keyof typeof counted,
  count: number,
  { limits, parentId }: { limits: Limits; parentId: string | undefined },
): void {
  const name = `${what}${parentId === undefined ? "PerOrganization" : "PerSubOrganization"}` as const;
  const limit = limits[name];
  if (count > limit) {
    throw new Fault(
      "resource_exhausted",
      `organization has reached its limit of ${limit} ${counted[what]}; delete some, or have the operator raise ${name} in KEYSTEAD_LIMITS`,
    );
  }
}
