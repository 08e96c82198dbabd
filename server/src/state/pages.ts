/**
 * An organization's authority as a handful of pages. A page is JSON text that only the signer writes; it is believed for
 * its digest in the directory. Decoded pages are immutable and shared between states, so a change copies only its page.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type {
  Change,
  ContractInterface,
  EntityKind,
  ImportTarget,
  KeyCounts,
  KeyFacts,
  PendingActivity,
  Policy,
  PrivateKeyTag,
  RootQuorum,
  Settings,
  User,
  UserTag,
} from "./entities.ts";
import { checkJournalTable, type JournalTable } from "./journal.ts";
import { fromPlaces, type KeyPlaces, toPlaces } from "./tag_places.ts";

/** Users with their credentials and tags, and the quorum above them: everything that says who may act. */
export type MembersPage = {
  readonly users: ReadonlyMap<string, User>;
  readonly userTags: ReadonlyMap<string, UserTag>;
  readonly rootQuorum: RootQuorum;
};

/** Activities that wait for consensus, by fingerprint. */
export type PendingPage = ReadonlyMap<string, PendingActivity>;

/**
 * Tags of private keys, and the tags of each key that carries any: policies ask about a key's tags, and a deleted tag must come
 * off keys that nobody has named. Why here: docs/decisions/0014.
 */
export type PrivateKeyTagsPage = {
  readonly tags: ReadonlyMap<string, PrivateKeyTag>;
  readonly keys: ReadonlyMap<string, readonly string[]>;
};

/** Policies by id, in the order of their making. */
export type PoliciesPage = ReadonlyMap<string, Policy>;

/** Interfaces of contracts by id. Which contract has one is authority: what a policy reads into a call depends on it. */
export type ContractInterfacesPage = ReadonlyMap<string, ContractInterface>;

/** Key facts by the first two digits of their ids: however many keys there are, a change writes a 256th of them. */
export type KeyFactsPages = ReadonlyMap<string, ReadonlyMap<string, KeyFacts>>;

export type Pages = {
  members: MembersPage;
  settings: Settings;
  pending: PendingPage;
  privateKeyTags: PrivateKeyTagsPage;
  importTargets: ReadonlyMap<string, ImportTarget>;
  keyCounts: KeyCounts;
  policies: PoliciesPage;
  contractInterfaces: ContractInterfacesPage;
  /** All but the newest, which the directory has. */
  journals: JournalTable;
  /** Those at hand. The directory says which there are; see `findKeyFacts`. */
  keyFacts: KeyFactsPages;
};

/** Pages that every decision has at hand. */
export type SinglePage = Exclude<keyof Pages, "keyFacts">;

/** As the directory names it. */
export type PageName = SinglePage | `keyFacts/${string}`;

type PageKind<P> = {
  /** What a state without this page has. */
  empty: P;
  /** The page's JSON text, without the brace and the format before it. */
  encode(page: P): string;
  decode(json: never): P;
};

/** One row per page: its JSON form. A page's format number grows when its meaning changes; unknown ones are refused. */
const pageKinds: { [N in SinglePage]: PageKind<Pages[N]> } = {
  members: {
    empty: { users: new Map(), userTags: new Map(), rootQuorum: { threshold: 1, userIds: [] } },
    encode: ({ users, userTags, rootQuorum }) =>
      `"users":${listJson(users)},"userTags":${listJson(userTags)},"rootQuorum":${JSON.stringify(rootQuorum)}}`,
    decode: (json: { users: User[]; userTags: UserTag[]; rootQuorum: RootQuorum }) => ({
      users: new Map(json.users.map((user) => [user.userId, user])),
      userTags: new Map(json.userTags.map((tag) => [tag.tagId, tag])),
      rootQuorum: json.rootQuorum,
    }),
  },
  settings: {
    empty: { organizationName: "", features: [], createdAtMs: 0, updatedAtMs: 0 },
    encode: (settings) => `"settings":${JSON.stringify(settings)}}`,
    decode: (json: { settings: Settings }) => json.settings,
  },
  pending: {
    empty: new Map(),
    encode: (pending) => `"activities":${listJson(pending)}}`,
    decode: (json: { activities: PendingActivity[] }) =>
      new Map(json.activities.map((activity) => [activity.fingerprint, activity])),
  },
  privateKeyTags: {
    empty: { tags: new Map(), keys: new Map() },
    encode: ({ tags, keys }) => `"tags":${listJson(tags)},"keys":${JSON.stringify(toPlaces(tags.keys(), keys))}}`,
    decode(json: { tags: PrivateKeyTag[]; keys: KeyPlaces[] }) {
      const tags = new Map(json.tags.map((tag) => [tag.tagId, tag]));
      return { tags, keys: new Map(fromPlaces([...tags.keys()], json.keys)) };
    },
  },
  importTargets: {
    empty: new Map(),
    encode: (targets) => `"targets":${listJson(targets)}}`,
    decode: (json: { targets: ImportTarget[] }) => new Map(json.targets.map((target) => [target.targetId, target])),
  },
  keyCounts: {
    empty: { wallets: 0, privateKeys: 0 },
    encode: (counts) => `"counts":${JSON.stringify(counts)}}`,
    decode: (json: { counts: KeyCounts }) => json.counts,
  },
  policies: {
    empty: new Map(),
    encode: (policies) => `"policies":${listJson(policies)}}`,
    decode: (json: { policies: Policy[] }) => new Map(json.policies.map((policy) => [policy.policyId, policy])),
  },
  contractInterfaces: {
    empty: new Map(),
    encode: (interfaces) => `"interfaces":${listJson(interfaces)}}`,
    decode: (json: { interfaces: ContractInterface[] }) =>
      new Map(json.interfaces.map((each) => [each.interfaceId, each])),
  },
  journals: {
    empty: new Uint8Array(0),
    encode: (journals) => `"journals":"${journals.toHex()}"}`,
    decode(json: { journals: string }) {
      const journals = fromHex(json.journals);
      checkJournalTable(journals);
      return journals;
    },
  },
};

const keyFactsKind: PageKind<ReadonlyMap<string, KeyFacts>> = {
  empty: new Map(),
  encode: (facts) => `"facts":${listJson(facts)}}`,
  decode: (json: { facts: KeyFacts[] }) => new Map(json.facts.map((each) => [each.id, each])),
};

const pageFormat = 1;

/**
 * Of all counted pages but the pending one. They travel in one frame with it, beside two bodies, the journal of a minute and a run of
 * headers. Nothing but a new root quorum may go beyond, by so much: it must be possible however full the pages are.
 */
export const maxPagesLength = 4 * 1024 * 1024;
export const rootQuorumReserve = 64 * 1024;

/** With the pending page, which `rules/pending_limits.ts` bounds: full pages must not keep anybody from proposing what makes them shorter. */
export const maxStateLength = maxPagesLength + 1024 * 1024;

const singlePages = Object.keys(pageKinds) as SinglePage[];

/** An organization before anything is in it. */
export const emptyPages = {
  ...Object.fromEntries(singlePages.map((name) => [name, pageKinds[name].empty])),
  keyFacts: new Map(),
} as unknown as Pages;

export function isPageName(name: string): name is PageName {
  return Object.hasOwn(pageKinds, name) || /^keyFacts\/[0-9a-f]{2}$/.test(name);
}

/** Whether a decision may do without it until it is asked for. */
export function isOptionalPage(name: PageName): name is `keyFacts/${string}` {
  return name.startsWith("keyFacts/");
}

/**
 * Whether its length counts towards `maxStateLength`. Pages that are brought one by one need no room beside the others; journals are
 * few, and nobody puts anything there: they must not stand in the way of who makes the others shorter.
 */
export function isCounted(name: PageName): boolean {
  return !isOptionalPage(name) && name !== "journals";
}

const factsPrefix = "keyFacts/";

/** The page that holds the facts of a key, if it has any. */
export function keyFactsPageOf(id: string): `keyFacts/${string}` {
  return `${factsPrefix}${id.slice(0, 2)}`;
}

export function encodePage<N extends SinglePage>(name: N, page: Pages[N]): Uint8Array<ArrayBuffer> {
  return toBytes(pageKinds[name].encode(page));
}

/** The bytes of any page that is at hand. */
export function encodePageOf(pages: Pages, name: PageName): Uint8Array<ArrayBuffer> {
  if (!isOptionalPage(name)) return encodePage(name, pages[name]);
  return toBytes(keyFactsKind.encode(pages.keyFacts.get(name.slice(factsPrefix.length)) ?? keyFactsKind.empty));
}

function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(`{"format":${pageFormat},${text}`) as Buffer<ArrayBuffer>;
}

const texts = new WeakMap<object, string>();

/** Entities are immutable and pass from page to page, so each is written once, however often its page is. */
export function entityJson(entity: object): string {
  const known = texts.get(entity);
  if (known !== undefined) return known;
  const text = JSON.stringify(entity);
  texts.set(entity, text);
  return text;
}

function listJson(entities: ReadonlyMap<string, object>): string {
  return `[${Array.from(entities.values(), entityJson).join()}]`;
}

/** Reads a page whose digest has been checked. */
export function decodePage<N extends SinglePage>(name: N, bytes: Uint8Array): Pages[N] {
  return pageKinds[name].decode(readPage(name, bytes));
}

/** The pages with one more of them at hand. */
export function withPage(pages: Pages, name: PageName, bytes: Uint8Array): Pages {
  if (!isOptionalPage(name)) return { ...pages, [name]: decodePage(name, bytes) };
  const facts = keyFactsKind.decode(readPage(name, bytes));
  return { ...pages, keyFacts: new Map(pages.keyFacts).set(name.slice(factsPrefix.length), facts) };
}

/** Whether a page is at hand. */
export function hasPage({ keyFacts }: Pages, name: PageName): boolean {
  return !isOptionalPage(name) || keyFacts.has(name.slice(factsPrefix.length));
}

export function findKeyFacts({ keyFacts }: Pages, id: string): KeyFacts | undefined {
  return keyFacts.get(id.slice(0, 2))?.get(id);
}

function readPage(name: PageName, bytes: Uint8Array): never {
  const json = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  if (json.format !== pageFormat) {
    throw new Fault("failed_precondition", `unknown format ${json.format} of page \`${name}\``);
  }
  return json as never;
}

/** Where each kind of entity lives: in a collection by id, or alone. */
type Place<P extends keyof Pages> = { page: P; apply(page: Pages[P], change: never): Pages[P] };

const places: { [K in EntityKind]: { [P in keyof Pages]: Place<P> }[keyof Pages] } = {
  user: {
    page: "members",
    apply: (page, change: ChangeOf<"user">) => ({ ...page, users: changed(page.users, change, (user) => user.userId) }),
  },
  userTag: {
    page: "members",
    apply: (page, change: ChangeOf<"userTag">) => ({
      ...page,
      userTags: changed(page.userTags, change, (tag) => tag.tagId),
    }),
  },
  rootQuorum: {
    page: "members",
    apply: (page, change: ChangeOf<"rootQuorum">) => ({ ...page, rootQuorum: replaced(change) }),
  },
  settings: { page: "settings", apply: (_page, change: ChangeOf<"settings">) => replaced(change) },
  pendingActivity: {
    page: "pending",
    apply: (page, change: ChangeOf<"pendingActivity">) => changed(page, change, (pending) => pending.fingerprint),
  },
  privateKeyTag: {
    page: "privateKeyTags",
    apply: (page, change: ChangeOf<"privateKeyTag">) => ({
      ...page,
      tags: changed(page.tags, change, (tag) => tag.tagId),
    }),
  },
  taggedPrivateKeys: {
    page: "privateKeyTags",
    apply(page, change: ChangeOf<"taggedPrivateKeys">) {
      const keys = new Map(page.keys);
      const { tagIds: among, keys: places } = replaced(change);
      for (const [privateKeyId, tagIds] of fromPlaces(among, places)) {
        if (tagIds.length > 0) keys.set(privateKeyId, tagIds);
        else keys.delete(privateKeyId);
      }
      return { ...page, keys };
    },
  },
  importTarget: {
    page: "importTargets",
    apply: (page, change: ChangeOf<"importTarget">) => changed(page, change, (target) => target.targetId),
  },
  keyCounts: { page: "keyCounts", apply: (_page, change: ChangeOf<"keyCounts">) => replaced(change) },
  policy: {
    page: "policies",
    apply: (page, change: ChangeOf<"policy">) => changed(page, change, (policy) => policy.policyId),
  },
  contractInterface: {
    page: "contractInterfaces",
    apply: (page, change: ChangeOf<"contractInterface">) => changed(page, change, (each) => each.interfaceId),
  },
  keyFacts: {
    page: "keyFacts",
    apply(pages, change: ChangeOf<"keyFacts">) {
      const { id } = replaced(change);
      const key = id.slice(0, 2);
      return new Map(pages).set(
        key,
        changed(pages.get(key) ?? keyFactsKind.empty, change, (facts) => facts.id),
      );
    },
  },
};

type ChangeOf<K extends EntityKind> = Extract<Change, { kind: K }>;

function changed<T>(
  map: ReadonlyMap<string, T>,
  change: { op: "put"; value: T } | { op: "remove"; id: string },
  idOf: (value: T) => string,
): ReadonlyMap<string, T> {
  const next = new Map(map);
  if (change.op === "put") next.set(idOf(change.value), change.value);
  else next.delete(change.id);
  return next;
}

function replaced<T>(change: { op: "put"; value: T } | { op: "remove"; id: string }): T {
  if (change.op === "remove") throw new Fault("internal", "what stands alone cannot be removed");
  return change.value;
}

/** The pages after `changes`, and the names of those that differ. */
export function applyChanges(pages: Pages, changes: readonly Change[]): { pages: Pages; touched: Set<PageName> } {
  const touched = new Set<PageName>();
  const next: { -readonly [N in keyof Pages]: Pages[N] } = { ...pages };
  for (const change of changes) {
    const { page, apply } = places[change.kind] as Place<keyof Pages>;
    touched.add(page === "keyFacts" ? keyFactsPageOf(idOf(change)) : page);
    (next as Record<keyof Pages, unknown>)[page] = apply(next[page] as never, change as never);
  }
  return { pages: next, touched };
}

function idOf(change: Change): string {
  if (change.kind !== "keyFacts" || change.op !== "put") throw new Fault("internal", "key facts are never removed");
  return change.value.id;
}
