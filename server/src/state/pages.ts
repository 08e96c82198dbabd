/**
 * An organization's authority as a handful of pages. A page is JSON text that only the signer writes; it is believed for
 * its digest in the directory. Decoded pages are immutable and shared between states, so a change copies only its page.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { Change, EntityKind, PendingActivity, RootQuorum, Settings, User, UserTag } from "./entities.ts";

/** Users with their credentials and tags, and the quorum above them: everything that says who may act. */
export type MembersPage = {
  readonly users: ReadonlyMap<string, User>;
  readonly userTags: ReadonlyMap<string, UserTag>;
  readonly rootQuorum: RootQuorum;
};

/** Activities that wait for consensus, by fingerprint. */
export type PendingPage = ReadonlyMap<string, PendingActivity>;

export type Pages = { members: MembersPage; settings: Settings; pending: PendingPage };
export type PageName = keyof Pages;

type PageKind<P> = {
  /** What a state without this page has. */
  empty: P;
  /** The page's JSON text, without the brace and the format before it. */
  encode(page: P): string;
  decode(json: never): P;
};

/** One row per page: its JSON form. A page's format number grows when its meaning changes; unknown ones are refused. */
const pageKinds: { [N in PageName]: PageKind<Pages[N]> } = {
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
};

const pageFormat = 1;

/** All pages of an organization travel in one frame, beside two bodies, the journal of a minute and a run of headers. */
export const maxPagesLength = 4 * 1024 * 1024;

export const pageNames = Object.keys(pageKinds) as PageName[];

/** An organization before anything is in it. */
export const emptyPages = Object.fromEntries(pageNames.map((name) => [name, pageKinds[name].empty])) as Pages;

export function isPageName(name: string): name is PageName {
  return Object.hasOwn(pageKinds, name);
}

export function encodePage<N extends PageName>(name: N, page: Pages[N]): Uint8Array<ArrayBuffer> {
  return Buffer.from(`{"format":${pageFormat},${pageKinds[name].encode(page)}`) as Buffer<ArrayBuffer>;
}

const texts = new WeakMap<object, string>();

/** Entities are immutable and pass from page to page, so each is written once, however often its page is. */
function textOf(entity: object): string {
  const known = texts.get(entity);
  if (known !== undefined) return known;
  const text = JSON.stringify(entity);
  texts.set(entity, text);
  return text;
}

function listJson(entities: ReadonlyMap<string, object>): string {
  let text = "[";
  for (const entity of entities.values()) text += text.length === 1 ? textOf(entity) : `,${textOf(entity)}`;
  return `${text}]`;
}

/** Reads a page whose digest has been checked. */
export function decodePage<N extends PageName>(name: N, bytes: Uint8Array): Pages[N] {
  const json = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
  if (json.format !== pageFormat) {
    throw new Fault("failed_precondition", `unknown format ${json.format} of page \`${name}\``);
  }
  return pageKinds[name].decode(json as never);
}

/** Where each kind of entity lives: in a collection by id, or alone. */
type Place<P extends PageName> = { page: P; apply(page: Pages[P], change: never): Pages[P] };

const places: { [K in EntityKind]: Place<"members"> | Place<"settings"> | Place<"pending"> } = {
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
  const next: { -readonly [N in PageName]: Pages[N] } = { ...pages };
  for (const change of changes) {
    const { page, apply } = places[change.kind] as Place<PageName>;
    touched.add(page);
    (next as Record<PageName, unknown>)[page] = apply(next[page] as never, change as never);
  }
  return { pages: next, touched };
}
