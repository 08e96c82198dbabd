import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createGatewayRig, type GatewayRig, type Person, Refused } from "../../../test/gateway_rig.ts";
import { dialects } from "../../../test/open_test_store.ts";
import { parentActBody, registerParentAct, sendParentAct } from "../../../test/parent_act.ts";
import { forgetRefusedBytes } from "../../store/across_ended.ts";
import type { Store } from "../../store/store.ts";
import type { TableName } from "../../store/tables.ts";
import { createCommitter } from "./committer.ts";
import { createOrganizations } from "./organization_states.ts";
import { withRefusalBudget } from "./refusal_budget.ts";

registerParentAct();

const dayMs = 24 * 3_600_000;
const budget = 100_000;
const bodyBytes = 10_000;

async function countRows(store: Store, table: TableName): Promise<number> {
  const row = await store.db
    .selectFrom(table)
    .select((select) => select.fn.countAll().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

async function rowsOf({ store }: GatewayRig) {
  const [activities, leaves, votes, keys] = await Promise.all(
    (["activities", "leaves", "votes", "idempotency_keys"] as const).map((table) => countRows(store, table)),
  );
  return { activities, leaves, votes, keys };
}

/** Of the bodies and failures of everything that was refused. */
async function refusedBytes({ store }: GatewayRig): Promise<number> {
  const rows = await store.db.selectFrom("activities").select(["body", "failure", "votes"]).execute();
  return rows
    .filter(({ failure }) => failure !== null)
    .reduce((sum, { body, failure, votes }) => sum + body.length + (failure?.length ?? 0) + votes.length, 0);
}

/** A tag that this user may not make, in a body of some length. */
function longBody(rig: GatewayRig): Uint8Array {
  return long(rig.body("create_user_tag", { userTagName: "no", userIds: [] }));
}

function long(body: Uint8Array): Uint8Array {
  return Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body).toString()), comment: "x".repeat(bodyBytes) }));
}

function refusalOf(rig: GatewayRig, person: Person, body = longBody(rig), key?: string) {
  return refused(rig.send(person, "create_user_tag", body, key));
}

async function refused(answer: Promise<unknown>) {
  try {
    await answer;
  } catch (error) {
    if (error instanceof Refused) return error.failure;
    throw error;
  }
  throw new Error("it was not refused");
}

async function boundRig(t: Parameters<typeof createGatewayRig>[0], dialect: Store["dialect"]) {
  const rig = await createGatewayRig(t, dialect);
  if (rig !== undefined) bound(rig);
  return rig;
}

/** As a gateway does at its start. */
function bound({ dependencies, store, link }: GatewayRig): string[] {
  const said: string[] = [];
  const onExceeded = (_: string, userId: string) => said.push(userId);
  dependencies.committer = withRefusalBudget(createCommitter(store, link), store, budget, onExceeded);
  return said;
}

for (const dialect of dialects) {
  describe(`refusals on ${dialect}`, () => {
    test("above its day's bytes a user is refused in the same words, and nothing of it is stored", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const [member, other] = [await rig.newPerson("member"), await rig.newPerson("other")];
      const before = await rowsOf(rig);
      const failures = [];
      for (let count = 0; count < 30; count++)
        failures.push(await refusalOf(rig, member, longBody(rig), `key ${count}`));
      assert.match(failures[0]?.message ?? "", /You don't have sufficient permissions/);
      for (const failure of failures) assert.deepEqual(failure, failures[0]);
      const after = await rowsOf(rig);
      const stored = (after.activities ?? 0) - (before.activities ?? 0);
      assert.ok(stored >= 5 && stored <= budget / bodyBytes, `${stored} are stored`);
      assert.deepEqual(after, {
        activities: (before.activities ?? 0) + stored,
        leaves: (before.leaves ?? 0) + stored,
        votes: before.votes,
        keys: stored,
      });
      assert.ok((await refusedBytes(rig)) <= budget);
      // Nobody else's budget is used up by that, and the user acts as before.
      assert.deepEqual(await refusalOf(rig, other), failures[0]);
      assert.equal((await rowsOf(rig)).activities, (after.activities ?? 0) + 1);
    });

    test("many at once keep to the budget, too", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const member = await rig.newPerson("member");
      const before = await countRows(rig.store, "activities");
      await Promise.all(Array.from({ length: 40 }, () => refusalOf(rig, member)));
      const stored = (await countRows(rig.store, "activities")) - before;
      assert.ok(stored >= 1 && stored <= budget / bodyBytes, `${stored} are stored`);
      assert.ok((await refusedBytes(rig)) <= budget);
    });

    test("a refusal that is sent again under other keys leaves no row for each of them", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const dave = await rig.newPerson("dave");
      const body = longBody(rig);
      const first = await refusalOf(rig, dave, body, "first");
      const { keys } = await rowsOf(rig);
      for (let i = 0; i < 20; i++) assert.deepEqual(await refusalOf(rig, dave, body, `key-${i}`), first);
      assert.equal((await rowsOf(rig)).keys, keys);
    });

    test("a failure inside its request counts like a refusal", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const tagId = crypto.randomUUID();
      const fail = async () => {
        const body = long(rig.body("delete_user_tags", { userTagIds: [tagId] }));
        return refused(rig.send(rig.root, "delete_user_tags", body));
      };
      const failures = [];
      for (let count = 0; count < 20; count++) failures.push(await fail());
      for (const failure of failures) assert.deepEqual(failure, failures[0]);
      assert.ok((await countRows(rig.store, "activities")) <= budget / bodyBytes);
      // Who has used up its budget acts as before.
      await rig.submit(rig.root, "create_user_tag", { userTagName: "yes", userIds: [] });
    });

    test("a restart forgets nothing of it, a second gateway knows it, and the next day begins anew", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const member = await rig.newPerson("member");
      for (let count = 0; count < 12; count++) await refusalOf(rig, member);
      const full = await countRows(rig.store, "activities");
      // Another gateway, or this one after a restart, has nothing but the database.
      const said = bound(rig);
      await refusalOf(rig, member);
      assert.equal(await countRows(rig.store, "activities"), full);
      assert.deepEqual(said, [member.userId]);
      rig.signer.clock.nowMs += dayMs;
      await refusalOf(rig, member);
      assert.equal(await countRows(rig.store, "activities"), full + 1);
      assert.equal(await countRows(rig.store, "refused_bytes"), 2);
      await forgetRefusedBytes(rig.store, rig.signer.clock.nowMs + dayMs);
      assert.equal(await countRows(rig.store, "refused_bytes"), 1);
    });

    test("what was refused and not stored is decided anew; what was stored is not", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const member = await rig.newPerson("member");
      const stored = longBody(rig);
      const failure = await refusalOf(rig, member, stored);
      for (let count = 0; count < 12; count++) await refusalOf(rig, member);
      const passing = longBody(rig);
      assert.deepEqual(await refusalOf(rig, member, passing), failure);
      assert.deepEqual(await refusalOf(rig, member, passing), failure);
      await rig.submit(rig.root, "create_policy", {
        policyName: "All",
        effect: "EFFECT_ALLOW",
        condition: "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'",
        notes: "",
      });
      assert.deepEqual(await refusalOf(rig, member, stored), failure);
      assert.equal((await rig.send(member, "create_user_tag", passing)).status, "ACTIVITY_STATUS_COMPLETED");
    });

    test("a refusal that is not stored was decided on the newest state, whichever gateway led to it", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const member = await rig.newPerson("member");
      for (let count = 0; count < 12; count++) await refusalOf(rig, member);
      // Another gateway allows it; this one goes on from the state it knows, and must find out.
      const { organizations } = rig.dependencies;
      rig.dependencies.organizations = createOrganizations(rig.store, rig.link, () => undefined);
      const parameters = { policyName: "All", effect: "EFFECT_ALLOW", condition: "true", notes: "" };
      await rig.submit(rig.root, "create_policy", parameters);
      rig.dependencies.organizations = organizations;
      assert.equal((await rig.send(member, "create_user_tag", longBody(rig))).status, "ACTIVITY_STATUS_COMPLETED");
    });

    test("a user of a parent has one budget for all its sub-organizations and the parent itself", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const [eve, other] = [await rig.newPerson("eve"), await rig.newPerson("other")];
      const childIds: string[] = [];
      for (let count = 0; count < 4; count++) childIds.push((await rig.newSubOrganization(1, ["ann"])).organizationId);
      const refusedIn = (organizationId: string, person = eve) =>
        refused(sendParentAct(rig, person, long(parentActBody(rig, organizationId, person.userId, "no"))));
      const before = await countRows(rig.store, "activities");
      // Those of one group are counted together, whichever organizations they run in.
      const failures = await Promise.all(childIds.map((id) => refusedIn(id)));
      assert.match(failures[0]?.message ?? "", /You don't have sufficient permissions/);
      assert.equal(await countRows(rig.store, "activities"), before + childIds.length);
      for (let count = 0; count < 20; count++) await refusedIn(childIds[count % childIds.length] ?? "");
      const full = await countRows(rig.store, "activities");
      assert.ok(full - before <= budget / bodyBytes, `${full - before} are stored`);
      assert.ok((await refusedBytes(rig)) <= budget);
      const counted = await rig.store.db.selectFrom("refused_bytes").selectAll().execute();
      assert.deepEqual(
        counted.map((row) => [row.organization_id, row.user_id]),
        [[rig.organizationId, eve.userId]],
      );
      assert.ok(Number(counted[0]?.bytes) >= (await refusedBytes(rig)) && Number(counted[0]?.bytes) <= budget);
      // Another gateway has nothing but the database, and finds it there for each of them, and for the parent itself.
      const said = bound(rig);
      for (const id of childIds) assert.deepEqual(await refusedIn(id), failures[0]);
      await refusalOf(rig, eve);
      assert.equal(await countRows(rig.store, "activities"), full);
      assert.deepEqual(said, Array(childIds.length + 1).fill(eve.userId));
      await refusedIn(childIds[0] ?? "", other);
      assert.equal(await countRows(rig.store, "activities"), full + 1);
    });

    test("a parent's refusal that is not stored was decided on the parent's newest state, too", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const eve = await rig.newPerson("eve");
      const { organizationId, people } = await rig.newSubOrganization(1, ["ann"]);
      const body = parentActBody(rig, organizationId, people[0]?.userId ?? "", "Renamed");
      rig.dependencies.committer = withRefusalBudget(rig.dependencies.committer, rig.store, 0);
      const { request } = rig.link;
      // Between decision and commit the parent comes to allow it.
      rig.link.request = (async (kind: "prepare", message: never) => {
        const reply = await request(kind, message);
        if (kind !== "prepare" || reply.kind !== "prepared") return reply;
        rig.link.request = request;
        const parameters = { policyName: "All", effect: "EFFECT_ALLOW", condition: "true", notes: "" };
        await rig.submit(rig.root, "create_policy", parameters);
        return reply;
      }) as typeof request;
      assert.equal((await sendParentAct(rig, eve, body)).status, "ACTIVITY_STATUS_COMPLETED");
    });

    test("a vote by which what waited fails is a change of state, and is stored above the budget, too", async (t) => {
      const rig = await boundRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId, people } = await rig.newSubOrganization(2, ["ann", "bob"]);
      const [ann, bob] = people as [Person, Person];
      const gone = { userTagIds: [crypto.randomUUID()] };
      const proposal = await rig.submit(ann, "delete_user_tags", gone, { organizationId });
      rig.dependencies.committer = withRefusalBudget(rig.dependencies.committer, rig.store, 0);
      const vote = { fingerprint: proposal.fingerprint };
      const failed = await rig.submit(bob, "approve_activity", vote, { organizationId });
      assert.equal(failed.status, "ACTIVITY_STATUS_FAILED");
      assert.equal(await countRows(rig.store, "votes"), 1);
      const [row] = await rig.store.db
        .selectFrom("activities")
        .select("status")
        .where("activity_id", "=", proposal.id)
        .execute();
      assert.equal(row?.status, "ACTIVITY_STATUS_FAILED");
    });
  });
}
