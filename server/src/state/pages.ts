/**
 * An organization's authority as a handful of pages. A page is JSON text that only the signer writes; it is believed for
 * its digest in the directory. Decoded pages are immutable and shared between states, so a change copies only its page.
 */
import { fromBase64url, toBase64url } from "@keystead/core/encoding/base64url.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type {
  Change,
  ContractInterface,
  DeletedKey,
  EntityKind,
  ImportTarget,
  KeyCounts,
  KeyFacts,
  KnownFacts,
  PendingActivity,
  Policy,
  PrivateKeyTag,
  RootQuorum,
  Settings,
  User,
  UserTag,
} from "./entities.ts";
import { checkJournalTable, type JournalTable } from "./journal.ts";
import type { MembersPage } from "./members.ts";
import { withBirthKeysProven } from "./proven.ts";
import { fromPlaces, type KeyPlaces, toPlaces } from "./tag_places.ts";

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
export type KeyFactsPages = ReadonlyMap<string, ReadonlyMap<string, KnownFacts>>;

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
  /** The newest form, which is the one that is written; all up to it are read. */
  format: number;
  /** What a state without this page has. */
  empty: P;
  /** The page's JSON text, without the brace and the format before it. */
  encode(page: P): string;
  decode(json: never): P;
};

/** One row per page: its JSON form. A page's format number grows when its meaning changes; unknown ones are refused. */
const pageKinds: { [N in SinglePage]: PageKind<Pages[N]> } = {
  members: {
    // Format 1 did not say which keys are proven.
    format: 2,
    empty: { users: new Map(), userTags: new Map(), rootQuorum: { threshold: 1, userIds: [] } },
    encode({ users, userTags, rootQuorum, isUnmarked }) {
      if (isUnmarked === true)
        throw new Fault("internal", "a members page of format 1 is written before it was read whole");
      return `"users":${listJson(users)},"userTags":${listJson(userTags)},"rootQuorum":${JSON.stringify(rootQuorum)}}`;
    },
    decode: (json: { format: number; users: User[]; userTags: UserTag[]; rootQuorum: RootQuorum }) => ({
      users: new Map(json.users.map((user) => [user.userId, user])),
      userTags: new Map(json.userTags.map((tag) => [tag.tagId, tag])),
      rootQuorum: json.rootQuorum,
      ...(json.format === 1 && { isUnmarked: true }),
    }),
  },
  settings: {
    format: 1,
    empty: { organizationName: "", features: [], createdAtMs: 0, updatedAtMs: 0 },
    encode: (settings) => `"settings":${JSON.stringify(settings)}}`,
    decode: (json: { settings: Settings }) => json.settings,
  },
  pending: {
    format: 1,
    empty: new Map(),
    encode: (pending) => `"activities":${listJson(pending)}}`,
    decode: (json: { activities: PendingActivity[] }) =>
      new Map(json.activities.map((activity) => [activity.fingerprint, activity])),
  },
  privateKeyTags: {
    format: 1,
    empty: { tags: new Map(), keys: new Map() },
    encode: ({ tags, keys }) => `"tags":${listJson(tags)},"keys":${JSON.stringify(toPlaces(tags.keys(), keys))}}`,
    decode(json: { tags: PrivateKeyTag[]; keys: KeyPlaces[] }) {
      const tags = new Map(json.tags.map((tag) => [tag.tagId, tag]));
      return { tags, keys: new Map(fromPlaces([...tags.keys()], json.keys)) };
    },
  },
  importTargets: {
    format: 1,
    empty: new Map(),
    encode: (targets) => `"targets":${listJson(targets)}}`,
    decode: (json: { targets: ImportTarget[] }) => new Map(json.targets.map((target) => [target.targetId, target])),
  },
  keyCounts: {
    format: 1,
    empty: { wallets: 0, privateKeys: 0 },
    encode: (counts) => `"counts":${JSON.stringify(counts)}}`,
    decode: (json: { counts: KeyCounts }) => json.counts,
  },
  policies: {
    format: 1,
    empty: new Map(),
    encode: (policies) => `"policies":${listJson(policies)}}`,
    decode: (json: { policies: Policy[] }) => new Map(json.policies.map((policy) => [policy.policyId, policy])),
  },
  contractInterfaces: {
    format: 1,
    empty: new Map(),
    encode: (interfaces) => `"interfaces":${listJson(interfaces)}}`,
    decode: (json: { interfaces: ContractInterface[] }) =>
      new Map(json.interfaces.map((each) => [each.interfaceId, each])),
  },
  journals: {
    format: 1,
    empty: new Uint8Array(0),
    encode: (journals) => `"journals":"${journals.toHex()}"}`,
    decode(json: { journals: string }) {
      const journals = fromHex(json.journals);
      checkJournalTable(journals);
      return journals;
    },
  },
};

/** Of a deleted key only its id is kept: `gone` has all of them as one text, so that a page holds as many as it can. */
const keyFactsKind: PageKind<ReadonlyMap<string, KnownFacts>> = {
  // Format 1 had deleted keys among the facts.
  format: 2,
  empty: new Map(),
  encode(facts) {
    const [gone, others]: [KnownFacts[], KnownFacts[]] = [[], []];
    for (const each of facts.values()) (each.deleted === true ? gone : others).push(each);
    return `"facts":[${others.map(entityJson).join()}],"gone":"${gone.map(goneText).join("")}"}`;
  },
  decode(json: { facts: KeyFacts[]; gone?: string }) {
    const all: KnownFacts[] = [...json.facts, ...readGone(json.gone ?? "")];
    return new Map(all.map((each) => [each.id, each]));
  },
};

const goneTexts = new WeakMap<KnownFacts, string>();

/** An id as base64url: 22 characters, whatever the id. */
const goneLength = 22;

function goneText(facts: KnownFacts): string {
  const known = goneTexts.get(facts);
  if (known !== undefined) return known;
  const text = toBase64url(uuidToBytes(facts.id));
  goneTexts.set(facts, text);
  return text;
}

function readGone(texts: string): DeletedKey[] {
  if (texts.length % goneLength !== 0) throw new Fault("failed_precondition", "a page of key facts is cut off");
  return Array.from({ length: texts.length / goneLength }, (_, at) => {
    const text = texts.slice(at * goneLength, (at + 1) * goneLength);
    const facts: DeletedKey = { id: uuidFromBytes(fromBase64url(text)), deleted: true };
    goneTexts.set(facts, text);
    return facts;
  });
}

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
 * Facts of one page, in bytes: some three thousand deleted keys, and as many that only the root quorum can delete, export or rename.
 * Nobody chooses the page that a new key's id falls into, and nobody else can use up the quorum's room.
 */
export const maxFactsLength = { others: 64 * 1024, rootQuorum: 128 * 1024 } as const;

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
  return toBytes(pageKinds[name], page);
}

/** The bytes of any page that is at hand. */
export function encodePageOf(pages: Pages, name: PageName): Uint8Array<ArrayBuffer> {
  if (!isOptionalPage(name)) return encodePage(name, pages[name]);
  return toBytes(keyFactsKind, pages.keyFacts.get(name.slice(factsPrefix.length)) ?? keyFactsKind.empty);
}

function toBytes<P>({ format, encode }: PageKind<P>, page: P): Uint8Array<ArrayBuffer> {
  return Buffer.from(`{"format":${format},${encode(page)}`) as Buffer<ArrayBuffer>;
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
  return pageKinds[name].decode(readPage(name, bytes, pageKinds[name].format));
}

/** The pages with one more of them at hand. */
export function withPage(pages: Pages, name: PageName, bytes: Uint8Array): Pages {
  if (!isOptionalPage(name)) return readWhole({ ...pages, [name]: decodePage(name, bytes) });
  const facts = keyFactsKind.decode(readPage(name, bytes, keyFactsKind.format));
  return { ...pages, keyFacts: new Map(pages.keyFacts).set(name.slice(factsPrefix.length), facts) };
}

/** What older pages leave to others to say. Pages come in no order, and every organization has settings. */
function readWhole(pages: Pages): Pages {
  const { members, settings } = pages;
  if (members.isUnmarked !== true || settings === emptyPages.settings) return pages;
  return { ...pages, members: withBirthKeysProven(members, settings.createdAtMs) };
}

/** Whether a page is at hand. */
export function hasPage({ keyFacts }: Pages, name: PageName): boolean {
  return !isOptionalPage(name) || keyFacts.has(name.slice(factsPrefix.length));
}

export function findKeyFacts({ keyFacts }: Pages, id: string): KnownFacts | undefined {
  return keyFacts.get(id.slice(0, 2))?.get(id);
}

function readPage(name: PageName, bytes: Uint8Array, newest: number): never {
  const json = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  if (!Number.isInteger(json.format) || json.format < 1 || json.format > newest) {
    throw new Fault("failed_precondition", `unknown format ${json.format} of page \`${name}\``);
  }
  return json as never;
}

/** Where each kind of entity lives: in a collection by id, or alone. All changes of one kind are applied at once. */
type Place<P extends keyof Pages> = { page: P; apply(page: Pages[P], changes: never): Pages[P] };

const places: { [K in Exclude<EntityKind, "keyFacts">]: { [P in keyof Pages]: Place<P> }[keyof Pages] } = {
  user: {
    page: "members",
    apply: (page, changes: ChangesOf<"user">) => ({
      ...page,
      users: changed(page.users, changes, (user) => user.userId),
    }),
  },
  userTag: {
    page: "members",
    apply: (page, changes: ChangesOf<"userTag">) => ({
      ...page,
      userTags: changed(page.userTags, changes, (tag) => tag.tagId),
    }),
  },
  rootQuorum: {
    page: "members",
    apply: (page, changes: ChangesOf<"rootQuorum">) => ({ ...page, rootQuorum: replaced(changes) }),
  },
  settings: { page: "settings", apply: (_page, changes: ChangesOf<"settings">) => replaced(changes) },
  pendingActivity: {
    page: "pending",
    apply: (page, changes: ChangesOf<"pendingActivity">) => changed(page, changes, (pending) => pending.fingerprint),
  },
  privateKeyTag: {
    page: "privateKeyTags",
    apply: (page, changes: ChangesOf<"privateKeyTag">) => ({
      ...page,
      tags: changed(page.tags, changes, (tag) => tag.tagId),
    }),
  },
  taggedPrivateKeys: {
    page: "privateKeyTags",
    apply(page, changes: ChangesOf<"taggedPrivateKeys">) {
      const keys = new Map(page.keys);
      for (const { tagIds: among, keys: places } of changes.map(putValue)) {
        for (const [privateKeyId, tagIds] of fromPlaces(among, places)) {
          if (tagIds.length > 0) keys.set(privateKeyId, tagIds);
          else keys.delete(privateKeyId);
        }
      }
      return { ...page, keys };
    },
  },
  importTarget: {
    page: "importTargets",
    apply: (page, changes: ChangesOf<"importTarget">) => changed(page, changes, (target) => target.targetId),
  },
  keyCounts: { page: "keyCounts", apply: (_page, changes: ChangesOf<"keyCounts">) => replaced(changes) },
  policy: {
    page: "policies",
    apply: (page, changes: ChangesOf<"policy">) => changed(page, changes, (policy) => policy.policyId),
  },
  contractInterface: {
    page: "contractInterfaces",
    apply: (page, changes: ChangesOf<"contractInterface">) => changed(page, changes, (each) => each.interfaceId),
  },
};

type ChangesOf<K extends EntityKind> = readonly Extract<Change, { kind: K }>[];
type AnyChange<T> = { op: "put"; value: T } | { op: "remove"; id: string };

/** One copy of the collection, however many changes there are. */
function changed<T>(
  map: ReadonlyMap<string, T>,
  changes: readonly AnyChange<T>[],
  idOf: (value: T) => string,
): ReadonlyMap<string, T> {
  const next = new Map(map);
  for (const change of changes) {
    if (change.op === "put") next.set(idOf(change.value), change.value);
    else next.delete(change.id);
  }
  return next;
}

function replaced<T>(changes: readonly AnyChange<T>[]): T {
  return putValue(changes.at(-1) as AnyChange<T>);
}

function putValue<T>(change: AnyChange<T>): T {
  if (change.op === "remove") throw new Fault("internal", "what stands alone cannot be removed");
  return change.value;
}

type NextPages = { -readonly [N in keyof Pages]: Pages[N] };

/**
 * The pages after `changes`, and the names of those that differ. Kinds do not depend on each other, so each is applied in one pass,
 * in the order of its changes.
 */
export function applyChanges(pages: Pages, changes: readonly Change[]): { pages: Pages; touched: Set<PageName> } {
  const touched = new Set<PageName>();
  const next: NextPages = { ...pages };
  for (const [kind, own] of Map.groupBy(changes, (change) => change.kind)) {
    if (kind === "keyFacts") {
      applyKeyFacts(next, own as ChangesOf<"keyFacts">, touched);
      continue;
    }
    const { page, apply } = places[kind] as Place<keyof Pages>;
    touched.add(page as SinglePage);
    (next as Record<keyof Pages, unknown>)[page] = apply(next[page] as never, own as never);
  }
  return { pages: next, touched };
}

/** Facts of keys, page by page. Of a deleted key nothing else is kept. */
function applyKeyFacts(next: NextPages, changes: ChangesOf<"keyFacts">, touched: Set<PageName>): void {
  const keyFacts = new Map(next.keyFacts);
  for (const [key, own] of Map.groupBy(changes.map(putValue), ({ id }) => id.slice(0, 2))) {
    const facts = new Map<string, KnownFacts>(keyFacts.get(key));
    for (const each of own) facts.set(each.id, each.deleted === true ? { id: each.id, deleted: true } : each);
    keyFacts.set(key, facts);
    touched.add(`${factsPrefix}${key}`);
  }
  next.keyFacts = keyFacts;
}
