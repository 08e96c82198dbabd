/**
 * One row per kind of entity: the page that keeps it, by which id, and how many there may be. The row of the same name in
 * `store/entity_tables.ts` says how the database shows it. To add a kind, see CONTRIBUTING.md.
 */
import type { Entities, EntityKind } from "./entities.ts";

/** How many of something an organization may have by default. `words` name it in the refusal. */
export type CountLimit = {
  readonly perOrganization: number;
  readonly perSubOrganization: number;
  words: string;
  /** Once made, they stay: nobody is told to delete some. */
  readonly areKept?: true;
};

/** The fields of an entity that can be its id. */
type TextField<E> = { [F in keyof E]-?: E[F] extends string ? F : never }[keyof E];

type KindRow<K extends EntityKind> = {
  /** By the names that KEYSTEAD_LIMITS has for them, without `PerOrganization`. */
  readonly limits?: Readonly<Record<string, CountLimit>>;
} & (
  | {
      /** A page of its own, which lists entities by their ids. `json` is the name of the list in the page's text. */
      readonly place: "listPage";
      readonly page: string;
      readonly json: string;
      readonly id: TextField<Entities[K]>;
    }
  | {
      /** A page of its own for the only one there is. */
      readonly place: "valuePage";
      readonly page: string;
      readonly json: string;
      readonly empty: Entities[K];
    }
  | {
      /** A list by ids in a page that holds other kinds too. */
      readonly place: "list";
      readonly page: MixedPage;
      readonly field: string;
      readonly id: TextField<Entities[K]>;
    }
  | {
      /** The only one there is, in a page that holds other kinds too. */
      readonly place: "value";
      readonly page: MixedPage;
      readonly field: string;
    }
  /** `apply_changes.ts` knows how a change of it changes its page. */
  | { readonly place: "special"; readonly page: MixedPage | "keyFacts" }
);

/** Pages that hold several kinds. Their text has a form of its own in `pages.ts`. */
type MixedPage = "members" | "privateKeyTags";

export const entityKinds = {
  userTag: {
    place: "list",
    page: "members",
    field: "userTags",
    id: "tagId",
    limits: { userTags: { perOrganization: 1_000, perSubOrganization: 100, words: "user tags" } },
  },
  user: {
    place: "list",
    page: "members",
    field: "users",
    id: "userId",
    limits: { users: { perOrganization: 1_000, perSubOrganization: 1_000, words: "users" } },
  },
  rootQuorum: { place: "value", page: "members", field: "rootQuorum" },
  settings: {
    place: "valuePage",
    page: "settings",
    json: "settings",
    empty: { organizationName: "", features: [], createdAtMs: 0, updatedAtMs: 0 },
  },
  pendingActivity: { place: "listPage", page: "pending", json: "activities", id: "fingerprint" },
  keyFacts: { place: "special", page: "keyFacts" },
  privateKeyTag: {
    place: "list",
    page: "privateKeyTags",
    field: "tags",
    id: "tagId",
    limits: { privateKeyTags: { perOrganization: 100, perSubOrganization: 10, words: "private key tags" } },
  },
  taggedPrivateKeys: { place: "special", page: "privateKeyTags" },
  importTarget: { place: "listPage", page: "importTargets", json: "targets", id: "targetId" },
  keyCounts: {
    place: "valuePage",
    page: "keyCounts",
    json: "counts",
    empty: { wallets: 0, privateKeys: 0 },
    limits: {
      wallets: { perOrganization: 10_000, perSubOrganization: 10_000, words: "wallets" },
      privateKeys: { perOrganization: 10_000, perSubOrganization: 10_000, words: "private keys" },
    },
  },
  policy: {
    place: "listPage",
    page: "policies",
    json: "policies",
    id: "policyId",
    limits: {
      policies: { perOrganization: 1_000, perSubOrganization: 1_000, words: "policies" },
      // Of all expressions together: the first request that meets them compiles them all, while others wait.
      policyBytes: {
        perOrganization: 512 * 1024,
        perSubOrganization: 512 * 1024,
        words: "bytes of policy expressions",
      },
    },
  },
  contractInterface: {
    place: "listPage",
    page: "contractInterfaces",
    json: "interfaces",
    id: "interfaceId",
    limits: {
      contractInterfaces: {
        perOrganization: 1_000,
        perSubOrganization: 1_000,
        words: "smart contract interfaces",
      },
      // Of the texts of all interfaces together: a list of them is one answer.
      contractInterfaceBytes: {
        perOrganization: 16 * 1024 * 1024,
        perSubOrganization: 16 * 1024 * 1024,
        words: "bytes of smart contract interfaces",
      },
    },
  },
  sessionProfile: {
    place: "listPage",
    page: "sessionProfiles",
    json: "profiles",
    id: "sessionProfileId",
    limits: {
      // A sub-organization has its parent's.
      sessionProfiles: { perOrganization: 100, perSubOrganization: 0, words: "session profiles", areKept: true },
    },
  },
  // `rules/verification_tokens.ts` says how many there may be.
  usedToken: { place: "listPage", page: "usedTokens", json: "tokens", id: "tokenId" },
  ipAllowlist: {
    place: "listPage",
    page: "ipAllowlists",
    json: "lists",
    id: "publicKey",
    limits: {
      // Requests in sub-organizations come from anywhere.
      ipAllowlists: { perOrganization: 100, perSubOrganization: 0, words: "IP allowlists" },
    },
  },
  oauth2Credential: {
    place: "listPage",
    page: "oauth2Credentials",
    json: "credentials",
    id: "oauth2CredentialId",
    limits: {
      oauth2Credentials: { perOrganization: 100, perSubOrganization: 10, words: "OAuth 2.0 credentials" },
    },
  },
  // One at most: `rules/auth_proxy.ts`.
  authProxy: { place: "listPage", page: "authProxies", json: "proxies", id: "configId" },
  // Only the operator's acts list one, and only in the first organization.
  log: { place: "listPage", page: "logs", json: "logs", id: "logId" },
} as const satisfies { [K in EntityKind]: KindRow<K> };

type Rows = typeof entityKinds;
type KindAt<P extends string> = { [K in EntityKind]: Rows[K] extends { place: P } ? K : never }[EntityKind];

/** Kinds that a page lists by id. */
export type ListedKind = KindAt<"list" | "listPage">;

/** Pages that hold one kind and nothing else. */
export type OwnPages = { [K in KindAt<"listPage"> as Rows[K]["page"]]: ReadonlyMap<string, Entities[K]> } & {
  [K in KindAt<"valuePage"> as Rows[K]["page"]]: Entities[K];
};

type LimitsOf<K extends EntityKind> = Rows[K] extends { limits: infer L } ? keyof L & string : never;

/** What is counted against a limit. */
export type CountName = { [K in EntityKind]: LimitsOf<K> }[EntityKind];

/** All limits on numbers of entities, in the order of the rows. */
export const countLimits = Object.assign(
  {},
  ...Object.values(entityKinds).map((row) => ("limits" in row ? row.limits : {})),
) as Readonly<Record<CountName, CountLimit>>;
