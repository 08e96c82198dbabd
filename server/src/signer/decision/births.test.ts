/** Organizations that activities bring into the world: what they begin with, and that none begins twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { p256 } from "@noble/curves/nist.js";
import { createQuorum, pageOf, type Quorum } from "../../../test/quorum_rig.ts";
import {
  leafOf,
  offer,
  only,
  releaseRows,
  type SignerRig,
  type StoredState,
  stateAfter,
} from "../../../test/signer_rig.ts";
import type { Prepared } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { objectId } from "../../state/derived_id.ts";
import { sha256 } from "../../state/digest.ts";

const type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
const completed = "ACTIVITY_STATUS_COMPLETED";
const failed = "ACTIVITY_STATUS_FAILED";
const isKnown = { code: "already_exists", message: "an activity with the same fingerprint already exists" };

/** A body that creates an organization of these people, and their keys. */
function creation(parent: Quorum, names: readonly string[], rootQuorumThreshold = 1) {
  const keys = new Map(names.map((name) => [name, p256.utils.randomSecretKey()]));
  const rootUsers = names.map((userName) => {
    const publicKey = toHex(p256.getPublicKey(keyOf(keys, userName)));
    return { userName, apiKeys: [{ apiKeyName: "key", publicKey, curveType: "API_KEY_CURVE_P256" }] };
  });
  const body = parent.body(type, { subOrganizationName: "Child", rootUsers, rootQuorumThreshold });
  const childId = objectId(uuidToBytes(parent.organizationId), sha256(body), 0);
  return { body, childId, keys };
}

function keyOf(keys: ReadonlyMap<string, Uint8Array>, name: string): Uint8Array {
  const key = keys.get(name);
  if (key === undefined) throw new Error(`there is no ${name}`);
  return key;
}

function pair(prepared: readonly Prepared[]): [own: Prepared, birth: Prepared] {
  const [own, birth, ...others] = prepared;
  if (own === undefined || birth === undefined || others.length > 0) throw new Error(`${prepared.length} items`);
  return [own, birth];
}

function bodyIn(rig: SignerRig, organizationId: string, activityType: string, parameters: unknown): Uint8Array {
  const timestampMs = String(rig.clock.nowMs);
  return Buffer.from(JSON.stringify({ type: activityType, timestampMs, organizationId, parameters }));
}

function stampWith(key: Uint8Array, body: Uint8Array): string {
  return signStamp(key, "SIGNATURE_SCHEME_TK_API_P256", body);
}

/** Prepared, committed and released in the child. */
function sendIn(rig: SignerRig, child: StoredState, key: Uint8Array, body: Uint8Array): StoredState {
  const reply = offer(rig, child, body, { stamp: stampWith(key, body) });
  assert.ok(reply.kind === "prepared");
  assert.ok(releaseRows(rig, reply.value).every(({ kind }) => kind === "released"));
  return stateAfter(child, only(reply.value));
}

test("the child's first state has its own users, quorum and settings, and leaves the parent as it was", () => {
  const parent = createQuorum({ threshold: 1 });
  const before = parent.state;
  const { body, childId } = creation(parent, ["kim", "lee"], 2);
  const [own, birth] = pair(parent.prepare("ann", body));
  assert.equal(own.activity?.status, completed);
  assert.equal(own.next, undefined);
  assert.equal(own.changes, "[]");
  assert.equal(own.activity?.slot, undefined, "the parent's journals do not list it");
  assert.equal(JSON.parse(own.activity?.result ?? "").subOrganizationId, childId);

  assert.equal(birth.activity, undefined);
  assert.equal(birth.organizationId, childId);
  assert.equal(birth.expectedVersion, 0);
  assert.equal(birth.expectedHeader, undefined);
  const { organizationId: parentId } = parent;
  assert.deepEqual(birth.birth, { parentId, organizationName: "Child", keyring: undefined });
  const header = decodeHeader(Uint8Array.from(withoutMac(birth.next?.header ?? new Uint8Array(0))));
  assert.equal(uuidFromBytes(header.organizationId), childId);
  assert.equal(header.parentId && uuidFromBytes(header.parentId), parentId);
  assert.equal(header.version, 1);
  assert.deepEqual(header.previous, new Uint8Array(32));

  const child = stateAfter(undefined, birth);
  const { users, rootQuorum } = pageOf(child, "members");
  const { rootUserIds } = JSON.parse(own.activity?.result ?? "");
  assert.deepEqual([...users.keys()], rootUserIds);
  assert.deepEqual(rootQuorum, { threshold: 2, userIds: rootUserIds });
  assert.equal(pageOf(child, "settings").organizationName, "Child");
  assert.deepEqual(
    child.pages.map(({ name }) => name).sort(),
    ["members", "settings"],
    "what was never written is empty",
  );
  parent.commit([own]);
  assert.deepEqual(parent.state, before);
});

test("a birth's leaf stands in the child's log, with the creator's stamp and the parent's state it was decided on", () => {
  const parent = createQuorum({ threshold: 1 });
  const { body, childId } = creation(parent, ["kim"]);
  const [own, birth] = pair(parent.prepare("ann", body));
  const [ownLeaf, leaf] = [leafOf(own), leafOf(birth)];
  assert.deepEqual([ownLeaf.event, leaf.event], ["COMPLETED", "BIRTH"]);
  assert.deepEqual([ownLeaf.grounds, leaf.grounds], ["ROOT_QUORUM", "ROOT_QUORUM"]);
  assert.equal(uuidFromBytes(leaf.organizationId), childId);
  assert.equal(uuidFromBytes(ownLeaf.organizationId), parent.organizationId);
  assert.notEqual(leaf.number, ownLeaf.number);
  const { event, number, organizationId, header, outcome, ...shared } = leaf;
  assert.deepEqual(header, Uint8Array.from(birth.next?.header ?? []));
  assert.deepEqual(outcome, sha256(""));
  const { states, evidence, fingerprint, activityId } = ownLeaf;
  assert.deepEqual({ ...shared, states, evidence, fingerprint, activityId }, shared);
  assert.deepEqual(fingerprint, sha256(body));
  assert.equal(states[0]?.version, parent.state.version);
});

test("the child is used by its own root users from its first state on, by nobody of the parent, and needs its own quorum", () => {
  const parent = createQuorum({ threshold: 1 });
  const { rig } = parent;
  const { body, childId, keys } = creation(parent, ["kim", "lee"], 2);
  const rows = parent.prepare("ann", body);
  assert.deepEqual(
    parent.release(rows).map(({ kind }) => kind),
    ["released", "released"],
  );
  const child = stateAfter(undefined, pair(rows)[1]);
  const target = bodyIn(rig, childId, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "first", userIds: [] });
  assert.throws(() => offer(rig, child, target, { stamp: parent.stamp("ann", target) }), {
    errorCode: "PUBLIC_KEY_NOT_FOUND",
  });
  const waiting = sendIn(rig, child, keyOf(keys, "kim"), target);
  assert.equal(pageOf(waiting, "pending").size, 1);
  const done = sendIn(rig, waiting, keyOf(keys, "lee"), target);
  assert.equal(pageOf(done, "members").userTags.size, 1);
  assert.throws(() => offer(rig, child, target, { stamp: stampWith(keyOf(keys, "lee"), target) }), { code: "aborted" });
});

test("the same body, once released, is known for good: after a restart, after the child changed, after it was deleted", () => {
  const parent = createQuorum({ threshold: 1 });
  const { body, childId, keys } = creation(parent, ["kim"]);
  const rows = parent.prepare("ann", body);
  parent.release(rows);
  assert.throws(() => parent.prepare("ann", body), isKnown);
  // The parent's row was deleted from the database, so that nothing but the signer remembers.
  parent.restart();
  assert.throws(() => parent.prepare("ann", body), isKnown);
  const { rig } = parent;
  let child = stateAfter(undefined, pair(rows)[1]);
  const kim = keyOf(keys, "kim");
  const rename = { organizationName: "Renamed" };
  child = sendIn(rig, child, kim, bodyIn(rig, childId, "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", rename));
  assert.throws(() => parent.prepare("ann", body), isKnown);
  child = sendIn(rig, child, kim, bodyIn(rig, childId, "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", {}));
  assert.equal(pageOf(child, "settings").deleted, true);
  assert.throws(() => parent.prepare("ann", body), isKnown);
  parent.restart();
  assert.throws(() => parent.prepare("ann", body), isKnown);
});

test("the same birth prepared twice before a release is one organization: the first released stands, the other is refused", () => {
  const parent = createQuorum({ threshold: 1 });
  const { body, childId } = creation(parent, ["kim"]);
  const first = pair(parent.prepare("ann", body));
  parent.rig.clock.nowMs += 60_000;
  const second = pair(parent.prepare("ann", body));
  assert.equal(first[1].organizationId, second[1].organizationId);
  assert.notDeepEqual(first[1].next?.header, second[1].next?.header);
  assert.equal(parent.release([second[1]])[0]?.kind, "released");
  assert.equal(parent.release([first[1]])[0]?.kind, "refused");
  parent.restart();
  assert.equal(parent.release([first[1]])[0]?.kind, "refused");
  const pin = parent.rig.memory.pins.get(uuidToBytes(childId));
  assert.equal(pin?.version, 1);
});

test("two creations on one state of the parent are two organizations", () => {
  const parent = createQuorum({ threshold: 1 });
  const births = ["one", "two"].map((name) => parent.prepare("ann", creation(parent, [name]).body));
  assert.deepEqual(
    births.flatMap((rows) => parent.release(rows).map(({ kind }) => kind)),
    ["released", "released", "released", "released"],
  );
  assert.equal(new Set(births.map((rows) => pair(rows)[1].organizationId)).size, 2);
});

test("a creation that needs consensus is born with the approval that completes it, and is in the journals", () => {
  const parent = createQuorum({ threshold: 2 });
  const { body, childId } = creation(parent, ["kim"]);
  assert.equal(parent.send("ann", body).activity?.status, waits);
  const vote = parent.voteBody("approve", body);
  const [own, birth] = pair(parent.prepare("bob", vote, { target: body }));
  assert.equal(own.activity?.status, completed);
  assert.deepEqual(
    own.next?.pages.map(({ name }) => name),
    ["pending"],
  );
  assert.equal(birth.organizationId, childId);
  const leaf = leafOf(birth);
  // Its creator waited, so its own state moved with it: the birth stands on that one, and is released beside it alone.
  assert.equal(leaf.states[0]?.version, parent.state.version + 1);
  assert.deepEqual(leaf.evidence[0]?.body, sha256(vote));
  assert.ok(parent.release([own, birth]).every(({ kind }) => kind === "released"));
  parent.commit([own]);
  assert.throws(() => parent.send("ann", body), isKnown);
});

test("a creation executed before that is made to wait anew fails when it is approved, and stops waiting", () => {
  const parent = createQuorum({ threshold: 1 });
  const { body } = creation(parent, ["kim"]);
  parent.release(parent.prepare("ann", body));
  const userIds = parent.idsOf("ann", "bob", "cleo");
  parent.submit("ann", "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", { threshold: 2, userIds });
  // The parent's row was deleted from the database; now the same bytes need a second approval.
  assert.equal(parent.send("ann", body).activity?.status, waits);
  const row = parent.approve("bob", body);
  assert.equal(row.activity?.status, failed);
  assert.deepEqual(parent.pending(), []);
  // What follows is decided on the state this led to, not on one that nobody was given.
  const next = parent.tagBody("next");
  const reply = offer(parent.rig, undefined, next, { stamp: parent.stamp("ann", next) });
  assert.ok(reply.kind === "prepared");
  assert.equal(only(reply.value).expectedVersion, parent.state.version);
});

test("a sub-organization bears none", () => {
  const parent = createQuorum({ threshold: 1, parentId: "0aa0aa00-0000-4000-8000-00000000000d" });
  const row = parent.send("ann", creation(parent, ["kim"]).body);
  assert.equal(row.activity?.status, failed);
  assert.match(row.activity?.failure ?? "", /cannot be called by sub-organizations/);
});

test("a signer that joined a running deployment checks a birth's parent as it found it", () => {
  const parent = createQuorum({ threshold: 1 });
  const { body } = creation(parent, ["kim"]);
  const rows = parent.prepare("ann", body);
  const joined = parent.rig.restart({ orders: { adoptUnknown: true } });
  assert.deepEqual(
    releaseRows(joined, [pair(rows)[1]]).map(({ kind }) => kind),
    ["released"],
  );
  assert.equal(joined.memory.pins.get(uuidToBytes(parent.organizationId))?.version, 1);
});
