/**
 * What a gateway under an attacker's hand can make of votes and births. It holds every body, stamp, state and leaf there ever
 * was, all of them valid, and offers them as it likes. No approval may count that its owner did not give, or that ended.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck, openStatement } from "@keystead/core/log/released.ts";
import { p256 } from "@noble/curves/nist.js";
import { samples } from "../../../../core/test/samples.ts";
import { createQuorum, pageOf, type Quorum } from "../../../test/quorum_rig.ts";
import { anotherOrganization, leafOf, offer, only, type StoredState, stateAfter } from "../../../test/signer_rig.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { protocolVersion } from "../../frames/frame.ts";
import type { Prepared } from "../../frames/messages.ts";
import { sha256 } from "../../state/digest.ts";
import type { PendingActivity } from "../../state/entities.ts";

const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const completed = "ACTIVITY_STATUS_COMPLETED";
const rejected = "ACTIVITY_STATUS_REJECTED";
const isOver = { code: "not_found", message: /^No activity found with fingerprint/ };
const rolledBack = { code: "aborted", message: /has released version/ };
const forked = { code: "aborted", message: /rolled back or forked/ };
const unproven = { code: "aborted", message: /body of the activity that is voted on is missing/ };

function proposed(quorum: Quorum, tagName: string): Uint8Array {
  const target = quorum.tagBody(tagName);
  assert.equal(quorum.send("ann", target).activity?.status, waits);
  return target;
}

function withPage(state: StoredState, name: string, from: StoredState | undefined): StoredState {
  const others = state.pages.filter((page) => page.name !== name);
  const page = from?.pages.find((candidate) => candidate.name === name);
  return { ...state, pages: page === undefined ? others : [...others, page] };
}

test("a pending page of yesterday, of another organization or none at all is refused under today's header", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum, "wanted");
  const one = quorum.state;
  quorum.approve("bob", target);
  const two = quorum.state;
  quorum.reject("cleo", target);
  const vote = quorum.voteBody("approve", target);
  const offered = (state: StoredState) => () => quorum.prepare("cleo", vote, { state, target });
  for (const old of [one, two]) assert.throws(offered(withPage(quorum.state, "pending", old)), /`pending` was changed/);
  assert.throws(offered(withPage(quorum.state, "pending", undefined)), /`pending` is missing/);
  // Before the first submission there was no such page, and the directory said so; that directory is not today's.
  const noPage = { ...withPage(quorum.state, "pending", undefined), directory: one.directory };
  assert.throws(offered(noPage), /directory does not match/);
});

test("another organization's state, in which the same people have approved the same body, carries nothing over", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum, "wanted");
  const [waiting] = quorum.pending();
  assert.ok(waiting);
  const userIds = quorum.idsOf("ann", "bob", "cleo");
  const approvals = userIds.map((userId) => ({ userId, credentialId: userId, atMs: quorum.rig.clock.nowMs }));
  const generous: PendingActivity = { ...waiting, approvals };
  const users = ["ann", "bob", "cleo"].map((name) => quorum.person(name).user);
  const otherId = "0aa0aa00-0000-4000-8000-00000000000e";
  const other = anotherOrganization(quorum.rig, otherId, users, {
    rootQuorum: { threshold: 3, userIds },
    pending: [generous],
  });
  const vote = quorum.voteBody("approve", target);
  const offered = (state: StoredState) => () => quorum.prepare("bob", vote, { state, target });
  assert.throws(offered(other), { code: "aborted", message: /another organization/ });
  assert.throws(offered(withPage(quorum.state, "pending", other)), /`pending` was changed/);
  assert.throws(
    offered({ ...quorum.state, directory: other.directory, pages: other.pages }),
    /directory does not match/,
  );
});

test("a rejection that was released cannot be left out: no state before it is decided on, nor any fork from one", () => {
  const quorum = createQuorum();
  const target = proposed(quorum, "wanted");
  const before = quorum.state;
  const approval = quorum.voteBody("approve", target);
  // Prepared before the rejection, and kept: the run that would have been.
  const kept = only(quorum.prepare("bob", approval, { target }));
  const fork = stateAfter(before, kept);
  assert.equal(kept.activity?.status, completed);
  quorum.reject("cleo", target);
  const links = [fork.header];
  for (let signers = 0; signers < 2; signers++) {
    assert.throws(() => quorum.prepare("bob", approval, { state: before, target }), rolledBack);
    assert.throws(() => quorum.prepare("bob", target, { state: before }), rolledBack);
    assert.throws(() => quorum.prepare("bob", quorum.tagBody("x"), { state: fork, links }), forked);
    assert.equal(quorum.release([kept])[0]?.kind, "refused");
    assert.throws(() => quorum.prepare("bob", approval, { target }), isOver);
    quorum.restart();
  }
});

test("the body that is voted on is the one that was submitted: no other passes for it", () => {
  const quorum = createQuorum();
  const [wanted, other] = [proposed(quorum, "wanted"), proposed(quorum, "other")];
  const vote = quorum.voteBody("approve", wanted);
  const bent = Array.from(wanted, (byte, at) => wanted.with(at, byte ^ 1));
  const longer = Buffer.concat([wanted, Buffer.from(" ")]);
  for (const target of [other, longer, wanted.subarray(1), new Uint8Array(0), vote, ...bent]) {
    assert.throws(() => quorum.prepare("bob", vote, { target }), unproven);
  }
  const row = only(quorum.prepare("bob", vote, { target: wanted }));
  assert.deepEqual(row.activity?.fingerprint, sha256(wanted));
});

test("approvals replayed after the end, on every state that follows and by a new signer, find nothing", () => {
  const quorum = createQuorum();
  const target = proposed(quorum, "wanted");
  const approval = quorum.voteBody("approve", target);
  quorum.send("bob", approval, { target });
  assert.equal(quorum.tags().length, 1);
  const [tag] = quorum.tags();
  quorum.decree(["ann", "bob"], "ACTIVITY_TYPE_DELETE_USER_TAGS", { userTagIds: [tag?.tagId] });
  for (let signers = 0; signers < 2; signers++) {
    assert.throws(() => quorum.prepare("bob", approval, { target }), isOver);
    for (const name of ["ann", "bob", "cleo"]) {
      assert.throws(() => quorum.prepare(name, target), { code: "already_exists" });
    }
    quorum.restart();
  }
  assert.deepEqual([quorum.tags(), quorum.pending()], [[], []]);
});

test("an approval offered on two states counts once in each, and only one of them comes to be", () => {
  const quorum = createQuorum({ threshold: 3 });
  const target = proposed(quorum, "wanted");
  const approval = quorum.voteBody("approve", target);
  const [one, other] = [0, 1].map(() => {
    quorum.rig.clock.nowMs += 1;
    return only(quorum.prepare("bob", approval, { target }));
  });
  assert.ok(one && other);
  for (const row of [one, other]) {
    const state = stateAfter(quorum.state, row);
    assert.equal(pageOf(state, "pending").get(toHex(sha256(target)))?.approvals.length, 2);
    assert.throws(() => quorum.prepare("bob", approval, { state, target }), { code: "already_exists" });
  }
  quorum.commit([one]);
  assert.equal(quorum.release([one])[0]?.kind, "released");
  assert.equal(quorum.release([other])[0]?.kind, "refused");
});

test("a submission that was released and is kept from the database stops its organization, and is not undone", () => {
  const quorum = createQuorum();
  const before = quorum.state;
  const target = quorum.tagBody("wanted");
  const rows = quorum.prepare("ann", target);
  assert.equal(quorum.release(rows)[0]?.kind, "released");
  assert.throws(() => quorum.prepare("ann", target, { state: before }), rolledBack);
  assert.throws(() => quorum.prepare("bob", quorum.tagBody("other"), { state: before }), rolledBack);
  quorum.commit(rows);
  assert.equal(quorum.approve("bob", target).activity?.status, completed);
});

test("what was kept back of a waiting submission, of votes and of their end is missing by name", () => {
  const quorum = createQuorum({ threshold: 3 });
  const [first, second] = [proposed(quorum, "first"), proposed(quorum, "second")];
  quorum.approve("bob", first);
  quorum.send("cleo", first);
  quorum.approve("cleo", second);
  quorum.reject("bob", second);
  const { operations, keyring, birthRow } = quorum.rig;
  const logKey = fromHex(JSON.parse(operations.hello({ protocol: protocolVersion, keyring }).publicKeys).log);
  const { statement, signature } = operations.statement({ page: 0 });
  const released = openStatement(nodeCurves, logKey, statement, signature);
  const leaves = [birthRow, ...quorum.committed].map(leafOf);
  assert.equal(leaves.length, 7);
  const withheld = (shown: readonly Leaf[]) => {
    const check = createReleasedCheck([released]);
    for (const leaf of shown) check.show(leaf);
    return check.withheld().map(({ number }) => number);
  };
  assert.deepEqual(withheld(leaves), []);
  for (const [index, { number }] of leaves.entries()) {
    assert.deepEqual(withheld(leaves.toSpliced(index, 1)), [number]);
  }
});

function creation(parent: Quorum): Uint8Array {
  const publicKey = toHex(p256.getPublicKey(p256.utils.randomSecretKey()));
  const apiKeys = [{ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }];
  const rootUsers = [{ userName: "kim", apiKeys }];
  const parameters = { subOrganizationName: "Child", rootUsers, rootQuorumThreshold: 1 };
  return parent.body("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", parameters);
}

test("a birth decided on a state of the parent that was passed over is not released, alone or with its activity", () => {
  const parent = createQuorum();
  // The two who may have approved that one suffices; the gateway kept it, and cleo rejected it meanwhile.
  const parameters = { threshold: 1, userIds: parent.idsOf("ann", "bob", "cleo") };
  const target = parent.body("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", parameters);
  parent.send("ann", target);
  const kept = only(parent.prepare("bob", parent.voteBody("approve", target), { target }));
  const fork = stateAfter(parent.state, kept);
  const rows = parent.prepare("ann", creation(parent), { state: fork });
  const [own, birth] = rows;
  assert.ok(own?.activity?.status === completed && birth !== undefined);
  parent.reject("cleo", target);
  const child = uuidToBytes(birth.organizationId);
  for (let signers = 0; signers < 2; signers++) {
    for (const tried of [[birth], [own, birth], [kept, own, birth]]) {
      const { release } = parent.rig.operations;
      const outcomes = release({ rows: tried.map(({ leaf }) => ({ leaf, sealed: undefined })), links: [fork.header] });
      assert.ok(outcomes.every(({ kind }) => kind === "refused"));
    }
    assert.equal(parent.rig.memory.pins.get(child), undefined);
    parent.restart();
  }
});

test("a birth's release asks for its parent's headers when it lacks them", () => {
  const parent = createQuorum({ threshold: 1 });
  parent.submit("ann", "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "first", userIds: [] });
  const links: Uint8Array[] = [];
  for (const name of ["second", "third"]) {
    const rows = parent.prepare("ann", parent.tagBody(name));
    parent.commit(rows);
    links.push(parent.state.header);
  }
  const [, birth] = parent.prepare("ann", creation(parent));
  assert.ok(birth);
  parent.restart();
  const row = { leaf: birth.leaf, sealed: undefined };
  const { organizationId } = parent;
  assert.deepEqual(parent.rig.operations.release({ rows: [row], links: [] }), [
    { kind: "again", value: [{ organizationId, linksFrom: 3, linksTo: 4 }] },
  ]);
  assert.equal(parent.rig.operations.release({ rows: [row], links })[0]?.kind, "released");
});

test("a birth can be prepared again until one is released, which is the only one, its creator's leaf included", () => {
  const parent = createQuorum({ threshold: 1 });
  const body = creation(parent);
  const [own, first] = parent.prepare("ann", body);
  parent.rig.clock.nowMs += 60_000;
  const [again, second] = parent.prepare("ann", body);
  assert.ok(own && first && again && second);
  assert.equal(second.organizationId, first.organizationId);
  assert.equal(parent.release([second])[0]?.kind, "released");
  assert.equal(parent.release([first])[0]?.kind, "refused");
  assert.equal(parent.release([own])[0]?.kind, "refused");
  assert.equal(parent.release([again])[0]?.kind, "released");
  assert.throws(() => parent.prepare("ann", body), { code: "already_exists" });
});

const rounds = samples.hostileVotes;
const roundsPerWorld = 100;

test(`${rounds} offers drawn from everything there is: nothing runs without its three approvals, nothing ends twice`, (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const random = seeded(seed);
  const counts = { prepared: 0, refused: 0, again: 0, released: 0, ended: 0 };
  for (let round = 0; round < rounds; round += roundsPerWorld) attack(random, counts);
  t.diagnostic(`KEYSTEAD_SEED=${seed}: ${JSON.stringify(counts)}`);
  assert.ok(counts.prepared > rounds / 20 && counts.ended > 0, "the attack does not even reach what is allowed");
});

type Counts = Record<"prepared" | "refused" | "again" | "released" | "ended", number>;
type Letter = { stamp: string; body: Uint8Array; target?: Uint8Array };

/** One organization of three, all of whom must agree. The attacker has these stamps of theirs, and none other. */
function attack(random: () => number, counts: Counts): void {
  const quorum = createQuorum({ threshold: 3 });
  const { rig } = quorum;
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const everybody = ["ann", "bob", "cleo"];
  const letters: Letter[] = [];
  const write = (names: readonly string[], body: Uint8Array, target?: Uint8Array) => {
    for (const name of names) letters.push({ stamp: quorum.stamp(name, body), body, ...(target && { target }) });
  };
  // Nobody asked cleo about these two, nor did dave's word count.
  const forbidden = [
    quorum.tagBody("without cleo"),
    quorum.body("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", { threshold: 1, userIds: quorum.idsOf("ann") }),
  ];
  for (const body of forbidden) {
    write(["ann", "bob", "dave"], body);
    write(["ann", "bob", "dave"], quorum.voteBody("approve", body), body);
  }
  const [byAll, byAllAndRejected] = [quorum.tagBody("by all"), quorum.tagBody("by all, and rejected")];
  const allowed = [byAll, byAllAndRejected];
  for (const body of allowed) {
    write(["ann", "bob"], body);
    write(everybody, quorum.voteBody("approve", body), body);
  }
  write(["bob"], quorum.voteBody("reject", byAllAndRejected), byAllAndRejected);

  const bodies = [...forbidden, ...allowed];
  const states: StoredState[] = [quorum.state];
  const rows: Prepared[] = [];
  const ended = new Map<string, string>();
  for (let round = 0; round < roundsPerWorld; round++) {
    if (random() < 0.1) rig.clock.nowMs += Math.floor(random() * 120_000);
    if (random() < 0.1 && rows.length > 0) {
      const row = pick(rows);
      const links = states.map(({ header }) => header);
      const { leaf } = row;
      const [outcome] = rig.operations.release({ rows: [{ leaf, sealed: undefined }], links });
      if (outcome?.kind !== "released") continue;
      counts.released += 1;
      const { event, fingerprint, header } = leafOf(row);
      if (event === "SUBMITTED" || event === "VOTED" || header === undefined) continue;
      // The same offer at the same moment leads to the same state, and that is one end, however often it was prepared.
      const [earlier, end] = [ended.get(toHex(fingerprint)), toHex(header)];
      assert.ok(earlier === undefined || earlier === end, "an activity ended in two ways");
      ended.set(toHex(fingerprint), end);
      continue;
    }
    const letter = pick(letters);
    // Mostly the state that was made last: from older ones little is new.
    const state = random() < 0.6 ? states.at(-1) : pick(states);
    const links = random() < 0.8 ? states.map(({ header }) => header) : [];
    const target = random() < 0.8 ? (letter.target ?? pick(bodies)) : pick(bodies);
    try {
      const reply = offer(rig, random() < 0.9 ? state : undefined, letter.body, { stamp: letter.stamp, links, target });
      if (reply.kind === "again") {
        counts.again += 1;
        continue;
      }
      counts.prepared += 1;
      const row = only(reply.value);
      if (row.next !== undefined && row.activity?.status !== waits) counts.ended += 1;
      checkRow(quorum, row, forbidden);
      rows.push(row);
      const before = states.find(({ header }) => Buffer.compare(header, row.expectedHeader ?? header) === 0);
      if (row.next !== undefined) states.push(stateAfter(before, row));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      counts.refused += 1;
    }
  }
}

function checkRow(quorum: Quorum, { activity, next }: Prepared, forbidden: readonly Uint8Array[]): void {
  const isForbidden = forbidden.some((body) => Buffer.compare(sha256(body), activity?.fingerprint ?? body) === 0);
  // Dave's own submission of these bytes is refused, which changes no state.
  if (isForbidden) assert.equal(activity?.status, next === undefined ? rejected : waits);
  const page = next?.pages.find(({ name }) => name === "pending");
  if (page === undefined) return;
  const pending = pageOf({ version: 0, header: page.content, directory: page.content, pages: [page] }, "pending");
  for (const { approvals } of pending.values()) {
    const voters = approvals.map(({ userId }) => userId);
    assert.equal(new Set(voters).size, voters.length, "somebody counts twice");
    assert.ok(!voters.includes(quorum.person("dave").userId), "somebody without a vote counts");
  }
}

function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
