/** What makes a key a proven one, in the pages that the signer writes. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { p256 } from "@noble/curves/nist.js";
import { createQuorum, type Quorum } from "../../test/quorum_rig.ts";
import {
  activityBody,
  anotherOrganization,
  createSignerRig,
  offer,
  only,
  releaseRows,
  type StoredState,
  stateAfter,
  userWithKey,
} from "../../test/signer_rig.ts";
import { emptyPages, isPageName, withPage } from "../state/pages.ts";

/** The names of the users who have a proven key. */
function provenOf({ pages }: StoredState): string[] {
  const read = pages.reduce(
    (all, { name, content }) => (isPageName(name) ? withPage(all, name, content) : all),
    emptyPages,
  );
  const users = [...read.members.users.values()];
  return users.filter(({ apiKeys }) => apiKeys.some(({ proven }) => proven === true)).map(({ userName }) => userName);
}

const provenIn = ({ state }: Quorum) => provenOf(state).sort();

test("the first organization's key is proven from its birth", () => {
  const { born, orders } = createSignerRig();
  assert.deepEqual(provenOf(born), [orders.birth.userName]);
});

test("a key is proven by the first change that it stamps: a submission that waits, or a vote, each its own", () => {
  const quorum = createQuorum({ isProven: false });
  assert.deepEqual(provenIn(quorum), []);
  const target = quorum.tagBody("a");
  quorum.send("ann", target);
  assert.deepEqual(provenIn(quorum), ["ann"]);
  quorum.approve("bob", target);
  assert.deepEqual(provenIn(quorum), ["ann", "bob"]);
  const other = quorum.tagBody("b");
  quorum.send("ann", other);
  quorum.reject("cleo", other);
  assert.deepEqual(provenIn(quorum), ["ann", "bob", "cleo"]);
});

test("it is proven in the version of that change, and the next change of the same key writes no members page for it", () => {
  const quorum = createQuorum({ isProven: false });
  const { version } = quorum.state;
  const first = quorum.send("ann", quorum.tagBody("a"));
  assert.equal(quorum.state.version, version + 1);
  assert.ok(first.next?.pages.some(({ name }) => name === "members"));
  const second = quorum.send("ann", quorum.tagBody("b"));
  assert.deepEqual(
    second.next?.pages.map(({ name }) => name),
    ["pending"],
  );
});

test("a refusal proves nothing, nor does what its own key takes away", () => {
  const quorum = createQuorum({ threshold: 1, isProven: false });
  quorum.submit("dave", "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "no", userIds: [] });
  assert.deepEqual(provenIn(quorum), []);
  const { user, userId } = quorum.person("ann");
  const [own] = user.apiKeys;
  quorum.submit("bob", "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", { threshold: 1, userIds: quorum.idsOf("bob") });
  quorum.submit("ann", "ACTIVITY_TYPE_DELETE_API_KEYS", { userId, apiKeyIds: [own?.apiKeyId] });
  assert.deepEqual(provenIn(quorum), ["bob"]);
});

test("a state of before keys were proven goes on: the keys of its birth count, later ones from their first act", () => {
  const rig = createSignerRig();
  const keys = { born: p256.utils.randomSecretKey(), later: p256.utils.randomSecretKey() };
  const organizationId = randomUUID();
  const users = [
    userWithKey("born", keys.born, rig.clock.nowMs, false),
    userWithKey("later", keys.later, rig.clock.nowMs + 60_000, false),
  ];
  const rootQuorum = { threshold: 1, userIds: users.map(({ userId }) => userId) };
  let state = anotherOrganization(rig, organizationId, users, { rootQuorum, format1: true });
  assert.deepEqual(provenOf(state), ["born"]);
  const act = (privateKey: Uint8Array, userTagName: string) => {
    const parameters = { userTagName, userIds: [] };
    const body = activityBody(rig, "ACTIVITY_TYPE_CREATE_USER_TAG", parameters, { organizationId });
    const reply = offer(rig, state, body, { stamp: signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body) });
    assert.equal(reply.kind, "prepared", JSON.stringify(reply));
    const row = only(reply.kind === "prepared" ? reply.value : []);
    assert.equal(releaseRows(rig, [row])[0]?.kind, "released");
    state = stateAfter(state, row);
  };
  act(keys.born, "a");
  const members = state.pages.find(({ name }) => name === "members");
  assert.match(Buffer.from(members?.content ?? "").toString(), /^\{"format":2,/);
  assert.deepEqual(provenOf(state), ["born"]);
  act(keys.later, "b");
  assert.deepEqual(provenOf(state), ["born", "later"]);
});
