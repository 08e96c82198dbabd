/**
 * An organization's authority as a handful of pages. A page is JSON text that only the signer writes; it is believed for
 * its digest in the directory. Decoded pages are immutable and shared between states, so a change copies only its page.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { Change, RootQuorum, Settings, User, UserTag } from "./entities.ts";

/** Users with their credentials and tags, and the quorum above them: everything that says who may act. */
export type MembersPage = {
  readonly users: ReadonlyMap<string, User>;
  readonly userTags: ReadonlyMap<string, UserTag>;
  readonly rootQuorum: RootQuorum;
};

export type Pages = { members: MembersPage; settings: Settings };
export type PageName = keyof Pages;

type PageKind<P> = {
  /** The page's JSON text. */
  encode(page: P): string;
  decode(json: never): P;
};

/** One row per page: its JSON form. A page's format number grows when its meaning changes; unknown ones are refused. */
const pageKinds: { [N in PageName]: PageKind<Pages[N]> } = {
  members: {
    encode: ({ users, userTags, rootQuorum }) =>
      `{"format":1,"users":${listJson(users)},"userTags":${listJson(userTags)},"rootQuorum":${JSON.stringify(rootQuorum)}}`,
    decode: (json: { format: number; users: User[]; userTags: UserTag[]; rootQuorum: RootQuorum }) => ({
      users: new Map(json.users.map((user) => [user.userId, user])),
      userTags: new Map(json.userTags.map((tag) => [tag.tagId, tag])),
      rootQuorum: json.rootQuorum,
    }),
  },
  settings: {
    encode: (settings) => JSON.stringify({ format: 1, settings }),
    decode: (json: { format: number; settings: Settings }) => json.settings,
  },
};

export const pageNames = Object.keys(pageKinds) as PageName[];

export function isPageName(name: string): name is PageName {
  return Object.hasOwn(pageKinds, name);
}

export function encodePage<N extends PageName>(name: N, page: Pages[N]): Uint8Array<ArrayBuffer> {
  return Buffer.from(pageKinds[name].encode(page)) as Buffer<ArrayBuffer>;
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
  if (json.format !== 1) throw new Fault("failed_precondition", `unknown format ${json.format} of page \`${name}\``);
  return pageKinds[name].decode(json as never);
}

/** The page a kind of entity lives in. */
const pageOf = {
  user: "members",
  userTag: "members",
  rootQuorum: "members",
  settings: "settings",
} as const satisfies Record<Change["kind"], PageName>;

/** The pages after `changes`, and the names of those that differ. */
export function applyChanges(pages: Pages, changes: readonly Change[]): { pages: Pages; touched: Set<PageName> } {
  const touched = new Set<PageName>();
  // A map in which nothing changes stays the very same, and with it what was derived from it.
  const copyToChange = <V>(kind: Change["kind"], map: ReadonlyMap<string, V>) =>
    (changes.some((change) => change.kind === kind) ? new Map(map) : map) as Map<string, V>;
  const users = copyToChange("user", pages.members.users);
  const userTags = copyToChange("userTag", pages.members.userTags);
  let { rootQuorum } = pages.members;
  let { settings } = pages;
  for (const change of changes) {
    touched.add(pageOf[change.kind]);
    if (change.op === "put") {
      if (change.kind === "user") users.set(change.value.userId, change.value);
      else if (change.kind === "userTag") userTags.set(change.value.tagId, change.value);
      else if (change.kind === "rootQuorum") rootQuorum = change.value;
      else settings = change.value;
    } else if (change.kind === "user") users.delete(change.id);
    else if (change.kind === "userTag") userTags.delete(change.id);
    else throw new Fault("internal", `a ${change.kind} cannot be removed`);
  }
  return { pages: { members: { users, userTags, rootQuorum }, settings }, touched };
}
