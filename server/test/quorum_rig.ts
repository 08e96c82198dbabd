/**
 * An organization of several people on the signer of `signer_rig.ts`. An honest gateway's part is played here: what is sent
 * is prepared on the newest state, committed and released. A test that plays a hostile one takes the steps singly.
 */
import { randomUUID } from "node:crypto";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { p256 } from "@noble/curves/nist.js";
import type { Prepared, Reply } from "../src/frames/messages.ts";
import { sha256 } from "../src/state/digest.ts";
import type { PendingActivity, User, UserTag } from "../src/state/entities.ts";
import type { MembersPage } from "../src/state/members.ts";
import { decodePage, emptyPages, type Pages, type SinglePage } from "../src/state/pages.ts";
import {
  activityBody,
  anotherOrganization,
  createSignerRig,
  offer,
  releaseRows,
  type SignerRig,
  type StoredState,
  stateAfter,
  userWithKey,
} from "./signer_rig.ts";

export type Person = { userId: string; user: User; privateKey: Uint8Array };

export type PrepareOptions = {
  /** The newest unless given. */
  state?: StoredState;
  /** The body that is voted on. */
  target?: Uint8Array;
  links?: readonly Uint8Array[];
};

export type Quorum = {
  /** Another one after a restart. */
  readonly rig: SignerRig;
  readonly organizationId: string;
  /** As the database holds it now. */
  readonly state: StoredState;
  /** The activities' own rows, in the order of their commits. */
  readonly committed: readonly Prepared[];
  person(name: string): Person;
  idsOf(...names: readonly string[]): string[];
  /** A new body at the signer's time. */
  body(type: string, parameters: unknown, overrides?: Record<string, unknown>): Uint8Array;
  tagBody(tagName: string): Uint8Array;
  stamp(name: string, body: Uint8Array): string;
  /** What the signer makes of a body with this person's stamp, and with the journal if it asks for one. */
  prepare(name: string, body: Uint8Array, options?: PrepareOptions): readonly Prepared[];
  commit(prepared: readonly Prepared[]): void;
  release(prepared: readonly Prepared[]): Reply<"release">;
  /** Prepared, committed and released: the activity's own row. */
  send(name: string, body: Uint8Array, options?: PrepareOptions): Prepared;
  submit(name: string, type: string, parameters: unknown): Prepared;
  approve(name: string, target: Uint8Array): Prepared;
  reject(name: string, target: Uint8Array): Prepared;
  /** Submitted by the first of these people and approved by the others, as far as it needs them. */
  decree(names: readonly string[], type: string, parameters: unknown): Prepared;
  /** The body of a vote. */
  voteBody(vote: "approve" | "reject", target: Uint8Array): Uint8Array;
  members(): MembersPage;
  tags(): UserTag[];
  pending(): PendingActivity[];
  /** A new process on the same memory, which has none of the states and journals at hand. */
  restart(): void;
};

export type QuorumOptions = {
  /** Of the root quorum; `others` are users without a place in it. */
  members?: readonly string[];
  others?: readonly string[];
  threshold?: number;
  parentId?: string;
  limits?: Readonly<Record<string, number>>;
  /** Whether everybody's key is, as those of a birth are. */
  isProven?: boolean;
  /** What waits from the beginning, by people of these ids. */
  pending?(idsOf: Quorum["idsOf"], nowMs: number): readonly PendingActivity[];
  /** Further pages that the organization has from the beginning. */
  pages?: StoredState["pages"];
  /** Users without keys whose names make the pages as long as this. */
  pagesLength?: number;
};

export function createQuorum({
  members = ["ann", "bob", "cleo"],
  others = ["dave"],
  threshold = 2,
  parentId,
  limits = {},
  isProven = true,
  pending,
  pages,
  pagesLength,
}: QuorumOptions = {}): Quorum {
  const first = createSignerRig();
  let rig = Object.keys(limits).length === 0 ? first : first.restart({ orders: { limits } });
  const organizationId = randomUUID();
  const people = new Map<string, Person>();
  for (const name of [...members, ...others]) {
    const privateKey = p256.utils.randomSecretKey();
    const user = userWithKey(name, privateKey, rig.clock.nowMs, isProven);
    people.set(name, { userId: user.userId, user, privateKey });
  }
  const idsOf = (...names: readonly string[]) => names.map((name) => person(name).userId);
  const users = [...people.values()].map(({ user }) => user);
  const rootQuorum = { threshold, userIds: idsOf(...members) };
  const made = {
    rootQuorum,
    ...(parentId && { parentId }),
    ...(pending && { pending: pending(idsOf, rig.clock.nowMs) }),
    ...(pages && { pages }),
  };
  let state = anotherOrganization(rig, organizationId, users, made);
  if (pagesLength !== undefined) {
    const filler = (userName: string) => ({ ...userWithKey(userName, p256.utils.randomSecretKey(), 0), apiKeys: [] });
    const withFiller = (userName: string) =>
      anotherOrganization(rig, organizationId, [...users, filler(userName)], made);
    state = withFiller("x".repeat(pagesLength - pagesLengthOf(withFiller(""))));
  }
  const committed: Prepared[] = [];

  function person(name: string): Person {
    const found = people.get(name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  }

  function stamp(name: string, body: Uint8Array): string {
    return signStamp(person(name).privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
  }

  function prepare(name: string, body: Uint8Array, options: PrepareOptions = {}): readonly Prepared[] {
    const { state: on = state, target, links } = options;
    const asked = { stamp: stamp(name, body), ...(target && { target }), ...(links && { links }) };
    let reply = offer(rig, on, body, asked);
    if (reply.kind === "again" && reply.value.some(({ kind }) => kind === "links")) {
      const headers = committed.flatMap(({ next }) => (next === undefined ? [] : [next.header]));
      reply = offer(rig, on, body, { ...asked, links: headers });
    }
    const journal = reply.kind === "again" ? reply.value.find((wish) => wish.kind === "journal") : undefined;
    if (journal !== undefined) {
      const { slot } = journal.value;
      const listed = committed.flatMap(({ activity }) => (activity?.slot === slot ? [activity.fingerprint] : []));
      reply = offer(rig, on, body, { ...asked, journal: Buffer.concat(listed) });
    }
    if (reply.kind === "again") throw new Error(`missing: ${JSON.stringify(reply.value)}`);
    return reply.value;
  }

  function commit([own]: readonly Prepared[]): void {
    if (own === undefined) throw new Error("nothing was prepared");
    state = stateAfter(state, own);
    committed.push(own);
  }

  function send(name: string, body: Uint8Array, options?: PrepareOptions): Prepared {
    const prepared = prepare(name, body, options);
    commit(prepared);
    for (const outcome of releaseRows(rig, prepared)) {
      if (outcome.kind !== "released") throw new Error(`not released: ${JSON.stringify(outcome)}`);
    }
    return prepared[0] as Prepared;
  }

  function decree([proposer = "", ...others]: readonly string[], type: string, parameters: unknown): Prepared {
    const target = body(type, parameters);
    let row = send(proposer, target);
    for (const name of others) {
      if (row.activity?.status !== "ACTIVITY_STATUS_CONSENSUS_NEEDED") break;
      row = send(name, voteBody("approve", target), { target });
    }
    return row;
  }

  const body: Quorum["body"] = (type, parameters, overrides) =>
    activityBody(rig, type, parameters, { organizationId, ...overrides });
  const voteBody: Quorum["voteBody"] = (vote, target) =>
    body(voteTypes[vote], { fingerprint: `sha256:${toHex(sha256(target))}` });

  return {
    get rig() {
      return rig;
    },
    organizationId,
    get state() {
      return state;
    },
    committed,
    person,
    idsOf,
    body,
    tagBody: (userTagName) => body("ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName, userIds: [] }),
    stamp,
    prepare,
    commit,
    release: (prepared) => releaseRows(rig, prepared),
    send,
    submit: (name, type, parameters) => send(name, body(type, parameters)),
    approve: (name, target) => send(name, voteBody("approve", target), { target }),
    reject: (name, target) => send(name, voteBody("reject", target), { target }),
    decree,
    voteBody,
    members: () => pageOf(state, "members"),
    tags: () => [...pageOf(state, "members").userTags.values()],
    pending: () => [...pageOf(state, "pending").values()],
    restart() {
      rig = rig.restart();
    },
  };
}

const voteTypes = { approve: "ACTIVITY_TYPE_APPROVE_ACTIVITY", reject: "ACTIVITY_TYPE_REJECT_ACTIVITY" } as const;

/** Of all pages of a state but the pending one. */
export function pagesLengthOf({ pages }: StoredState): number {
  return pages.reduce((sum, { name, content }) => sum + (name === "pending" ? 0 : content.length), 0);
}

/** A page of a state, as a reader of the database sees it. A page that was never written is empty. */
export function pageOf<N extends SinglePage>({ pages }: StoredState, name: N): Pages[N] {
  const page = pages.find((candidate) => candidate.name === name);
  return page === undefined ? emptyPages[name] : decodePage(name, page.content);
}
