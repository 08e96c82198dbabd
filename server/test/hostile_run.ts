/**
 * A valid run, recorded: a real gateway's code on a real database, a signer in its own process, and everything that went between
 * them. From the frames alone it is worked out what the gateway has seen: every state there ever was, every row, record and body.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { nodeCurves } from "../src/curves/node_curves.ts";
import type { AnyActivity } from "../src/endpoints/define_activity.ts";
import type { OfferedState, Prepared, Reply, Request, StoredRecord } from "../src/frames/messages.ts";
import { createReachedLimits } from "../src/gateway/bounds/reached_limits.ts";
import { createRepeats } from "../src/gateway/bounds/repeats.ts";
import { joinSigner } from "../src/gateway/join_signer.ts";
import { createCommitter } from "../src/gateway/submit/committer.ts";
import { createOrganizations } from "../src/gateway/submit/organization_states.ts";
import { submit } from "../src/gateway/submit/submit.ts";
import type { SubmitDependencies } from "../src/gateway/submit/submit_dependencies.ts";
import { activities } from "../src/generated/activities.ts";
import { withoutMac } from "../src/state/authenticity.ts";
import { sha256 } from "../src/state/digest.ts";
import { slotOf } from "../src/state/journal.ts";
import { type AnyRecord, decodeRecord } from "../src/state/records.ts";
import type { Store } from "../src/store/store.ts";
import { findAccountsByAddress } from "../src/store/wallets.ts";
import { dialectOf } from "../src/views/dialect.ts";
import { stampEvidence } from "./evidence.ts";
import { type HostileSigner, startHostileSigner } from "./hostile_signer.ts";
import {
  type Acted,
  type ActivityPath,
  type Actor,
  found,
  foundAndDelete,
  furnishHouse,
  type TargetOrganization,
  type Teller,
} from "./hostile_story.ts";
import { openTestStore } from "./open_test_store.ts";

export type State = Omit<OfferedState, "links"> & { version: number };

/** What the gateway has seen of one organization, in order. */
export type Seen = {
  organizationId: string;
  states: State[];
  rows: Prepared[];
  records: (StoredRecord & { record: AnyRecord })[];
};

/** A chain of states that was prepared and never committed, and the rows that would have led there. */
export type Fork = { organizationId: string; from: number; states: State[]; rows: Prepared[] };

export type Run = {
  signer: HostileSigner;
  store: Store;
  dependencies: SubmitDependencies;
  keyring: Uint8Array;
  publicKeys: Record<string, string>;
  parentId: string;
  root: Actor;
  targetOrganization: TargetOrganization;
  /** Another one of the same kind. */
  neighbour: TargetOrganization;
  /** Deleted by its owners. */
  ruinId: string;
  teller: Teller;
  seen: ReadonlyMap<string, Seen>;
  forks: readonly Fork[];
  /** Every stamped request that came, whatever became of it. */
  requests: { organizationId: string; body: Uint8Array; stamp: string }[];
  paths: ReadonlySet<ActivityPath>;
  /** A whole request about this body on the newest state, with everything that a decision can need. */
  frame(body: Uint8Array, stamp: string, more?: Partial<Request<"prepare">>): Request<"prepare">;
};

export async function recordRun(t: TestContext): Promise<Run> {
  const signer = startHostileSigner(t);
  const store = await openTestStore(t, "sqlite");
  assert.ok(store);
  const { link } = signer;
  const organizations = createOrganizations(store, link, () => undefined);
  const committer = createCommitter(store, link);
  const dependencies: SubmitDependencies = {
    ...{ store, curves: nodeCurves, organizations, committer },
    repeats: createRepeats(),
    reachedLimits: createReachedLimits(),
    signerTrouble: () => undefined,
  };
  const publicKeys = await joinSigner(store, link, committer, false);
  const { keyring } = await store.db.selectFrom("deployment").select("keyring").executeTakeFirstOrThrow();
  const requests: Run["requests"] = [];
  const paths = new Set<ActivityPath>();
  const teller = createTeller(dependencies, requests, paths);
  const { organizationId: parentId, userId, userName } = signer.orders.birth;
  const root: Actor = { userId, userName, privateKey: signer.apiPrivateKey };
  const forks: Fork[] = [];

  const seenNow = () => readSeen(signer);
  const plot = await found(teller, root, parentId, "TargetOrganization");
  const targetOrganization = await furnishHouse(teller, plot, async () => {
    await committer.settle();
    forks.push(await fork(signer, seenNow(), plot.organizationId, plot.people[0]));
    // The signer's head is on the fork now; an honest gateway offers the database anew, as it does after a lost race.
    organizations.forgetAll();
  });
  const neighbour = await furnishHouse(teller, await found(teller, root, parentId, "Neighbour"));
  const ruinId = await foundAndDelete(teller, root, parentId);
  await committer.settle();
  const seen = seenNow();
  return {
    ...{
      signer,
      store,
      dependencies,
      keyring,
      publicKeys,
      parentId,
      root,
      targetOrganization,
      neighbour,
      ruinId,
      teller,
      seen,
      forks,
    },
    ...{ requests, paths },
    frame: (body, stamp, more = {}) => ({ ...wholeFrame(seen, body), body, evidence: stampEvidence(stamp), ...more }),
  };
}

export function stampWith({ privateKey }: Actor, body: Uint8Array): string {
  return signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body);
}

let ticks = 0;

/** A new body of this moment, or of any other. */
export function newBody(
  path: ActivityPath,
  parameters: object,
  organizationId: string,
  { agoMs = 0 }: { agoMs?: number } = {},
): Uint8Array {
  ticks += 1;
  const { type } = activities[path];
  const timestampMs = String(Date.now() - agoMs - (ticks % 1_000));
  return Buffer.from(JSON.stringify({ type, timestampMs, organizationId, parameters }));
}

function createTeller(dependencies: SubmitDependencies, requests: Run["requests"], paths: Set<ActivityPath>): Teller {
  async function send(actor: Actor, path: ActivityPath, body: Uint8Array): Promise<Acted> {
    const stamp = stampWith(actor, body);
    const { organizationId } = JSON.parse(Buffer.from(body).toString("utf8"));
    requests.push({ organizationId, body, stamp });
    paths.add(path);
    const answer = await submit(
      dependencies,
      activities[path] as AnyActivity,
      { body, evidence: stampEvidence(stamp) },
      dialectOf(undefined),
    );
    if ("failure" in answer) throw new Error(answer.failure.message);
    const { status, result } = answer.activity;
    return { body, status, result: Object.values(result)[0] };
  }
  let told = 0;
  return {
    act(actor, path, parameters, organizationId) {
      // Of several minutes, so that there are journals in the directory and in their page.
      const agoMs = (told++ % 8) * 60_000;
      return send(actor, path, newBody(path, parameters, organizationId, { agoMs }));
    },
    repeat: send,
    async accountAt(_actor, organizationId, walletId, address) {
      const [account] = await findAccountsByAddress(dependencies.store, organizationId, walletId, address);
      if (account === undefined) throw new Error(`there is no account ${address}`);
      return account.wallet_account_id;
    },
  };
}

/** Everything that was prepared and then released went on the line, in the order in which it was prepared. */
function readSeen({ recorded }: HostileSigner): Map<string, Seen> {
  const released = new Set<string>();
  for (const { kind, request } of recorded) {
    if (kind === "release") for (const { leaf } of request.rows) released.add(toHex(sha256(leaf)));
  }
  const seen = new Map<string, Seen>();
  for (const row of recorded.flatMap(preparedBy)) {
    if (!released.has(toHex(sha256(row.leaf)))) continue;
    const own = seen.get(row.organizationId) ?? {
      organizationId: row.organizationId,
      states: [],
      rows: [],
      records: [],
    };
    seen.set(row.organizationId, own);
    own.rows.push(row);
    for (const { content, sealed } of row.records) {
      own.records.push({ content, sealed, record: decodeRecord(withoutMac(content)) });
    }
    if (row.next !== undefined) own.states.push(stateAfter(own.states.at(-1), row));
  }
  return seen;
}

function preparedBy(exchange: HostileSigner["recorded"][number]): readonly Prepared[] {
  if (exchange.kind === "birth") return [exchange.reply];
  if (exchange.kind !== "prepare" || exchange.reply.kind !== "prepared") return [];
  return exchange.reply.value;
}

export function stateAfter(before: State | undefined, { next }: Prepared): State {
  assert.ok(next);
  const pages = new Map(before?.pages.map(({ name, content }) => [name, content]));
  for (const { name, content } of next.pages) pages.set(name, content);
  const { version, header, directory } = next;
  return { version, header, directory, pages: Array.from(pages, ([name, content]) => ({ name, content })) };
}

const isFacts = ({ name }: { name: string }) => name.startsWith("keyFacts/");

/** The state as a gateway offers it: key facts come only when they are asked for. */
export function offered(state: State, links: readonly Uint8Array[] = []): OfferedState {
  const { header, directory, pages } = state;
  return { header, directory, pages: pages.filter((page) => !isFacts(page)), links };
}

function wholeFrame(seen: ReadonlyMap<string, Seen>, body: Uint8Array): Omit<Request<"prepare">, "body" | "evidence"> {
  const { organizationId, timestampMs } = JSON.parse(Buffer.from(body).toString("utf8"));
  const own = seen.get(organizationId);
  const state = own?.states.at(-1);
  if (own === undefined || state === undefined) throw new Error(`nothing was seen of ${organizationId}`);
  return {
    state: offered(state),
    journal: journalOf(own, slotOf(Number(timestampMs))),
    subOrganizationId: undefined,
    target: undefined,
    records: own.records.map(({ content, sealed }) => ({ content, sealed })),
    wishes: [],
    pages: state.pages.filter(isFacts),
    others: parentOf(seen, state),
    statements: [],
  };
}

/** The newest state of the parent, if there is one: what is bound by its settings asks for it. */
function parentOf(seen: ReadonlyMap<string, Seen>, { header }: State): OfferedState[] {
  const { parentId } = decodeHeader(withoutMac(header));
  const newest = parentId && seen.get(uuidFromBytes(parentId))?.states.at(-1);
  return newest === undefined ? [] : [offered(newest)];
}

/** The fingerprints of one journal, in order. */
export function journalOf({ rows }: Seen, slot: number): Uint8Array {
  return Buffer.concat(rows.flatMap(({ activity }) => (activity?.slot === slot ? [activity.fingerprint] : [])));
}

const forkLength = 3;

/** A gateway that plays double: on the newest state it has several more prepared, one on the other, and keeps them. */
async function fork(
  { link, recorded }: HostileSigner,
  seen: ReadonlyMap<string, Seen>,
  organizationId: string,
  actor: Actor,
): Promise<Fork> {
  const own = seen.get(organizationId);
  const from = own?.states.at(-1);
  assert.ok(own && from);
  const made: Fork = { organizationId, from: from.version, states: [from], rows: [] };
  for (let n = 0; n < forkLength; n++) {
    const body = newBody(
      "create_user_tag",
      { userTagName: `Forked ${from.version} ${n}`, userIds: [] },
      organizationId,
    );
    const headers = made.states.map(({ header }) => header);
    const kept = made.rows.map(({ activity }) => activity?.fingerprint ?? new Uint8Array());
    const request: Request<"prepare"> = {
      ...wholeFrame(seen, body),
      body,
      evidence: stampEvidence(stampWith(actor, body)),
      state: offered(made.states.at(-1) ?? from, headers),
      journal: Buffer.concat([journalOf(own, slotOf(Date.now())), ...kept]),
    };
    const reply: Reply<"prepare"> = await link.request("prepare", request);
    if (reply.kind !== "prepared") break;
    const row: Prepared | undefined = reply.value[0];
    assert.ok(row?.next);
    made.rows.push(row);
    made.states.push(stateAfter(made.states.at(-1), row));
  }
  // What was kept is no part of the honest run.
  recorded.splice(recorded.length - made.rows.length, made.rows.length);
  assert.equal(made.rows.length, forkLength, "the fork was not prepared");
  return made;
}
