/** What a hostile gateway has in its hands, and the few things it does with it again and again. */

import { decodeHeader, encodeHeader } from "@keystead/core/log/header.ts";
import type { MessageKind, OfferedState, Prepared, Request } from "../src/frames/messages.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import { sha256 } from "../src/state/digest.ts";
import { decodeDirectory, encodeDirectory } from "../src/state/directory.ts";
import type { SinglePage } from "../src/state/pages.ts";
import type { Run, Seen, State } from "./hostile_run.ts";
import type { Want, WishName } from "./hostile_wants.ts";
import { authenticator } from "./passkeys.ts";
import { type Random, shuffled } from "./seeded_random.ts";

/** One frame: a message that is well-formed, or bytes. `breaks` when it ends the stream, as it should. */
export type Shot =
  | { kind: MessageKind; message: unknown }
  | { raw: Uint8Array; id: number; as: MessageKind; message?: unknown; breaks?: true };

export type Aim = {
  run: Run;
  random: Random;
  /** A fresh request, any or a certain one. The judge has heard of it. */
  want(name?: WishName): Want;
};

export type Attack = (aim: Aim) => Shot[];

export type Prepare = Request<"prepare">;
export type Page = OfferedState["pages"][number];

export const prepare = (message: Prepare): Shot => ({ kind: "prepare", message });

export function honest({ run }: Aim, want: Want): Prepare {
  return run.frame(want.body, want.stamp, want.target ? { target: want.target } : {});
}

export function seenOf({ run }: Aim, organizationId = run.targetOrganization.organizationId): Seen {
  const seen = run.seen.get(organizationId);
  if (seen === undefined) throw new Error(`nothing was seen of ${organizationId}`);
  return seen;
}

export function newest(aim: Aim, organizationId?: string): State {
  const state = seenOf(aim, organizationId).states.at(-1);
  if (state === undefined) throw new Error("no state");
  return state;
}

export const older = (aim: Aim): State => aim.random.pick(seenOf(aim).states.slice(0, -1));

export function flip(bytes: Uint8Array, random: Random): Uint8Array {
  if (bytes.length === 0) return Uint8Array.of(1);
  const bent = Uint8Array.from(bytes);
  const at = random.below(bent.length);
  bent[at] = (bent[at] ?? 0) ^ (1 << random.below(8));
  return bent;
}

export function withPages(state: OfferedState, change: (page: Page) => Page): OfferedState {
  return { ...state, pages: state.pages.map(change) };
}

/** The frame about this want, with another state. */
export function on(aim: Aim, want: Want, state: OfferedState, more: Partial<Prepare> = {}): Shot {
  return prepare({ ...honest(aim, want), state, ...more });
}

export const links = (aim: Aim) => seenOf(aim).states.map(({ header }) => header);

// biome-ignore lint/suspicious/noExplicitAny: pages as an attacker sees them, plain JSON.
export type Json = any;

/** What would serve an attacker, in each kind of page. */
export const pageEdits = {
  members: (page, aim) => {
    const before = readPage(older(aim), "members");
    const removed = before?.users.filter(
      (user: Json) => !page.users.some(({ userId }: Json) => userId === user.userId),
    );
    return aim.random.pick([
      { ...page, users: [...page.users, ...(removed ?? [])] },
      { ...page, rootQuorum: { ...page.rootQuorum, threshold: 1 } },
      { ...page, rootQuorum: { threshold: 1, userIds: page.users.map(({ userId }: Json) => userId) } },
      {
        ...page,
        users: page.users.map((user: Json) => ({ ...user, apiKeys: page.users.flatMap((each: Json) => each.apiKeys) })),
      },
      { ...page, users: page.users.map((user: Json) => ({ ...user, authenticators: [authenticator(0)] })) },
    ]);
  },
  settings: (page) => ({ settings: { ...page.settings, deleted: undefined, features: [] } }),
  pending: (page, { run }) => {
    const { ann, bob, cleo } = run.targetOrganization;
    const approvals = [ann, bob, cleo].map(({ userId }) => ({ userId, credentialId: userId, atMs: Date.now() }));
    const again = (activity: Json) => ({ ...activity, approvals });
    return { activities: page.activities.map(again) };
  },
  privateKeyTags: (page) => ({ ...page, keys: page.tags.length === 0 ? [] : page.keys.map(([id]: Json) => [id, 0]) }),
  importTargets: (page) => ({ targets: page.targets.map((target: Json) => ({ ...target, userId: "nobody" })) }),
  keyCounts: (page) => ({ counts: { ...page.counts, wallets: 0, privateKeys: 0 } }),
  policies: (page, aim) => {
    const before = readPage(older(aim), "policies");
    return aim.random.pick([
      { policies: page.policies.filter(({ effect }: Json) => effect !== "EFFECT_DENY") },
      { policies: [...page.policies, ...(before?.policies ?? [])] },
      {
        policies: page.policies.map((policy: Json) => ({
          ...policy,
          effect: "EFFECT_ALLOW",
          condition: "",
          consensus: "",
        })),
      },
    ]);
  },
  contractInterfaces: () => ({ interfaces: [] }),
  sessionProfiles: (page) => ({ profiles: page.profiles.map((profile: Json) => ({ ...profile, scope: "true" })) }),
  /** A token that has made its login is good for another. */
  usedTokens: () => ({ tokens: [] }),
  ipAllowlists: () => ({ lists: [] }),
  /** Another's client: users would sign in to it. */
  oauth2Credentials: (page) => ({
    credentials: page.credentials.map((each: Json) => ({ ...each, clientId: "hostile" })),
  }),
  /** Pages of strangers may call it, and every method is allowed. */
  authProxies: (page) => ({
    proxies: page.proxies.map((proxy: Json) => ({
      ...proxy,
      settings: { ...proxy.settings, allowedOrigins: ["*"], allowedAuthMethods: ["email"], otpLength: 6 },
    })),
  }),
  /** The log is another's. */
  logs: (page) => ({ logs: page.logs.map((log: Json) => ({ ...log, logId: "00".repeat(16) })) }),
  /** A minute is left out: its bodies would be new. */
  journals: (page) => ({ journals: page.journals.slice(80) }),
  /** What was deleted comes back. */
  keyFacts: (page) => ({ facts: page.facts }),
} as const satisfies Record<SinglePage | "keyFacts", (page: Json, aim: Aim) => Json>;

export const editedPages = Object.keys(pageEdits);

export function readPage({ pages }: { pages: readonly Page[] }, name: string): Json | undefined {
  const page = pages.find((each) => each.name === name);
  return page && JSON.parse(Buffer.from(page.content).toString("utf8"));
}

export function edited(page: Page, aim: Aim): Page {
  const kind = (page.name.startsWith("keyFacts/") ? "keyFacts" : page.name) as keyof typeof pageEdits;
  const json = JSON.parse(Buffer.from(page.content).toString("utf8"));
  return {
    name: page.name,
    content: Buffer.from(JSON.stringify({ format: json.format, ...pageEdits[kind](json, aim) })),
  };
}

/** A directory and a head that fit the pages; only the MAC is missing. */
export function fitted(state: OfferedState): OfferedState {
  const directory = decodeDirectory(Uint8Array.from(state.directory));
  const pages = directory.pages.map(({ name, digest }) => {
    const page = state.pages.find((each) => each.name === name);
    return { name, digest: page === undefined ? digest : sha256(page.content) };
  });
  const bytes = encodeDirectory({ ...directory, pages });
  const { format: _, ...header } = decodeHeader(withoutMac(state.header));
  const mac = state.header.subarray(state.header.length - 32);
  return {
    ...state,
    directory: bytes,
    header: Buffer.concat([encodeHeader({ ...header, directory: sha256(bytes) }), mac]),
  };
}

export const release = (rows: readonly Pick<Prepared, "leaf" | "sealed">[], headers: readonly Uint8Array[]): Shot => ({
  kind: "release",
  message: { rows: rows.map(({ leaf, sealed }) => ({ leaf, sealed })), links: headers },
});

/** A fork, with every header there is to make it look like the line. */
export function forkOf(aim: Aim) {
  const fork = aim.random.pick(aim.run.forks);
  const headers = [...links(aim), ...fork.states.map(({ header }) => header)];
  return { ...fork, headers: shuffled(headers, aim.random) };
}

export const sealedRows = (aim: Aim) => seenOf(aim).rows.filter(({ sealed }) => sealed !== undefined);

export function chunks(bytes: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: Math.floor(bytes.length / length) }, (_, n) =>
    bytes.subarray(n * length, (n + 1) * length),
  );
}
