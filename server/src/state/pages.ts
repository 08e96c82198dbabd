/**
 * An organization's authority as a handful of pages. A page is JSON text that only the signer writes; it is believed for
 * its digest in the directory. Decoded pages are immutable and shared between states, so a change copies only its page.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Entities, KnownFacts, PrivateKeyTag, RootQuorum, User, UserTag } from "./entities.ts";
import { entityKinds, type ListedKind, type OwnPages } from "./entity_kinds.ts";
import { checkJournalTable, type JournalTable } from "./journal.ts";
import { findInPage, type KeyFactsPage, keyFactsCodec } from "./key_facts_page.ts";
import type { MembersPage } from "./members.ts";
import { listCodec, listJson, type PageCodec, valueCodec } from "./page_codec.ts";
import { withBirthKeysProven } from "./proven.ts";
import { fromPlaces, type KeyPlaces, toPlaces } from "./tag_places.ts";

/** Activities that wait for consensus, by fingerprint. */
export type PendingPage = OwnPages["pending"];

/**
 * Tags of private keys, and the tags of each key that carries any: policies ask about a key's tags, and a deleted tag must come
 * off keys that nobody has named. Why here: docs/decisions/0014.
 */
export type PrivateKeyTagsPage = {
  readonly tags: ReadonlyMap<string, PrivateKeyTag>;
  readonly keys: ReadonlyMap<string, readonly string[]>;
};

/** Policies by id, in the order of their making. */
export type PoliciesPage = OwnPages["policies"];

/** Interfaces of contracts by id. Which contract has one is authority: what a policy reads into a call depends on it. */
export type ContractInterfacesPage = OwnPages["contractInterfaces"];

/** Session profiles by id, in the order of their making. */
export type SessionProfilesPage = OwnPages["sessionProfiles"];

/** Unbound verification tokens that have made their login, by id. */
export type UsedTokensPage = OwnPages["usedTokens"];

/** IP allowlists by public key; the organization's own by the empty text. */
export type IpAllowlistsPage = OwnPages["ipAllowlists"];

/** OAuth 2.0 credentials by id, in the order of their making. */
export type Oauth2CredentialsPage = OwnPages["oauth2Credentials"];

/** The auth proxy by the id of its configuration: one, or none where it was never enabled. */
export type AuthProxiesPage = OwnPages["authProxies"];

/** Key facts by the first two digits of their ids: however many keys there are, a change writes a 256th of them. */
export type KeyFactsPages = ReadonlyMap<string, KeyFactsPage>;

type MixedPages = {
  members: MembersPage;
  privateKeyTags: PrivateKeyTagsPage;
  /** All but the newest, which the directory has. */
  journals: JournalTable;
  /** Those at hand. The directory says which there are; see `findKeyFacts`. */
  keyFacts: KeyFactsPages;
};

export type Pages = { [N in keyof (OwnPages & MixedPages)]: (OwnPages & MixedPages)[N] };

/** Pages that every decision has at hand. */
export type SinglePage = Exclude<keyof Pages, "keyFacts">;

export type FactsPageName = `keyFacts/${string}`;

/** As the directory names it. */
export type PageName = SinglePage | FactsPageName;

/** Pages with a form of their own. A page's format number grows when its meaning changes; unknown ones are refused. */
const ownCodecs: { [N in Exclude<SinglePage, keyof OwnPages>]: PageCodec<Pages[N]> } = {
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
  privateKeyTags: {
    format: 1,
    empty: { tags: new Map(), keys: new Map() },
    encode: ({ tags, keys }) => `"tags":${listJson(tags)},"keys":${JSON.stringify(toPlaces(tags.keys(), keys))}}`,
    decode(json: { tags: PrivateKeyTag[]; keys: KeyPlaces[] }) {
      const tags = new Map(json.tags.map((tag) => [tag.tagId, tag]));
      return { tags, keys: new Map(fromPlaces([...tags.keys()], json.keys)) };
    },
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

/**
 * Of all counted pages but the pending one. They travel in one frame with it, beside two bodies, the journal of a minute and a run of
 * headers. Nothing but a new root quorum may go beyond, by so much: it must be possible however full the pages are.
 */
export const maxPagesLength = 4 * 1024 * 1024;
export const rootQuorumReserve = 64 * 1024;

/** With the pending page, which `rules/pending_limits.ts` bounds: full pages must not keep anybody from proposing what makes them shorter. */
export const maxStateLength = maxPagesLength + 1024 * 1024;

/** Pages of one kind follow from its row. */
const kindCodecs: Record<string, unknown> = {};
for (const row of Object.values(entityKinds)) {
  if (row.place === "listPage") kindCodecs[row.page] = listCodec(row.json, row.id as never);
  if (row.place === "valuePage") kindCodecs[row.page] = valueCodec(row.json, row.empty);
}

const codecs = { ...ownCodecs, ...kindCodecs } as { [N in SinglePage]: PageCodec<Pages[N]> };

const singlePages = Object.keys(codecs) as SinglePage[];

/** An organization before anything is in it. */
export const emptyPages = {
  ...Object.fromEntries(singlePages.map((name) => [name, codecs[name].empty])),
  keyFacts: new Map(),
} as unknown as Pages;

export function isPageName(name: string): name is PageName {
  return Object.hasOwn(codecs, name) || /^keyFacts\/[0-9a-f]{2}$/.test(name);
}

/** Whether a decision may do without it until it is asked for. */
export function isOptionalPage(name: PageName): name is FactsPageName {
  return name.startsWith("keyFacts/");
}

/**
 * Facts of one page, in bytes: some three thousand deleted keys, and as many that only the root quorum can delete, export or rename.
 * Nobody chooses the page that a new key's id falls into, and nobody else can use up the quorum's room.
 */
export const maxFactsLength = { others: 64 * 1024, rootQuorum: 128 * 1024 } as const;

/**
 * Whether its length counts towards `maxStateLength`. Pages that are brought one by one need no room beside the others; journals and logs
 * are few, and nobody puts anything there: they must not stand in the way of who makes the others shorter.
 */
export function isCounted(name: PageName): boolean {
  return !isOptionalPage(name) && name !== "journals" && name !== "logs";
}

const factsPrefix = "keyFacts/";

/** The page that holds the facts of a key, if it has any. */
export function keyFactsPageOf(id: string): FactsPageName {
  return `${factsPrefix}${id.slice(0, 2)}`;
}

export function encodePage<N extends SinglePage>(name: N, page: Pages[N]): Uint8Array<ArrayBuffer> {
  return toBytes(codecs[name], page);
}

/** The bytes of any page that is at hand. */
export function encodePageOf(pages: Pages, name: PageName): Uint8Array<ArrayBuffer> {
  if (!isOptionalPage(name)) return encodePage(name, pages[name]);
  return toBytes(keyFactsCodec, pages.keyFacts.get(name.slice(factsPrefix.length)) ?? keyFactsCodec.empty);
}

function toBytes<P>({ format, encode }: PageCodec<P>, page: P): Uint8Array<ArrayBuffer> {
  return Buffer.from(`{"format":${format},${encode(page)}`) as Buffer<ArrayBuffer>;
}

/** Reads a page whose digest has been checked. */
export function decodePage<N extends SinglePage>(name: N, bytes: Uint8Array): Pages[N] {
  return codecs[name].decode(readPage(name, bytes, codecs[name].format));
}

/** The pages with one more of them at hand. */
export function withPage(pages: Pages, name: PageName, bytes: Uint8Array): Pages {
  if (!isOptionalPage(name)) return readWhole({ ...pages, [name]: decodePage(name, bytes) });
  return { ...pages, keyFacts: new Map(pages.keyFacts).set(...readFacts(name, bytes)) };
}

/** A page of facts with its place among them. */
export function readFacts(name: FactsPageName, bytes: Uint8Array): [string, KeyFactsPage] {
  return [name.slice(factsPrefix.length), keyFactsCodec.decode(readPage(name, bytes, keyFactsCodec.format))];
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
  const page = keyFacts.get(id.slice(0, 2));
  return page && findInPage(page, id);
}

function readPage(name: PageName, bytes: Uint8Array, newest: number): never {
  const json = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  if (!Number.isInteger(json.format) || json.format < 1 || json.format > newest) {
    throw new Fault("failed_precondition", `unknown format ${json.format} of page \`${name}\``);
  }
  return json as never;
}

/** All entities of a kind that a page lists, by id. */
export function entitiesIn<K extends ListedKind>(pages: Pages, kind: K): ReadonlyMap<string, Entities[K]> {
  const row = entityKinds[kind];
  const page: unknown = pages[row.page];
  return (row.place === "list" ? (page as Record<string, unknown>)[row.field] : page) as never;
}
