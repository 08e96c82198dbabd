/** One body, sent many times: at once, late, by others, and beside bodies that want the same thing. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../../core/test/patience.ts";
import { activitiesOf } from "./activities.ts";
import { dialects } from "./databases.ts";
import { createKey, type KeyPair } from "./key_pairs.ts";
import { ownFault } from "./keystead_server.ts";
import { policyRefusal, stale } from "./refusals.ts";
import { type Answer, assertAccepted, assertRefused, bytesOf, call, send as sendBytes, stampOf } from "./wire.ts";
import { startWorld, type World } from "./world.ts";

const submits = {
  create: { path: "/public/v1/submit/create_user_tag", type: "ACTIVITY_TYPE_CREATE_USER_TAG" },
  remove: { path: "/public/v1/submit/delete_user_tags", type: "ACTIVITY_TYPE_DELETE_USER_TAGS" },
} as const;

type Act = keyof typeof submits;
type Caller = { p256: KeyPair };

const [hourMs, fiveMinutesMs, marginMs] = [3_600_000, 300_000, 120_000];

function envelope(act: Act, organizationId: string, parameters: unknown, more: object = {}) {
  return { type: submits[act].type, timestampMs: String(Date.now()), organizationId, parameters, ...more };
}

function fingerprintOf(body: unknown): string {
  return `sha256:${createHash("sha256").update(bytesOf(body)).digest("hex")}`;
}

for (const dialect of dialects) {
  test(`repeats on ${dialect}`, async (t) => {
    const world = await startWorld(t, dialect);
    if (world === undefined) return;
    const { url } = world.server;
    const { organizationId, root, deputy, member, other } = world;
    const send = (act: Act, caller: Caller, body: unknown) => call(url, submits[act].path, caller.p256, body);
    const kept = () => activitiesOf(url, organizationId, root.p256);
    const keptOf = async (body: unknown) => (await kept()).filter((each) => each.fingerprint === fingerprintOf(body));
    /** It is waited for at the end: it must first grow too old. */
    const aging = startAging(world, send);

    await t.test("a stamp that stands in an activity's votes opens no query", async () => {
      const body = envelope("create", organizationId, { userTagName: "seen by all", userIds: [] });
      const answer = await send("create", root, body);
      assertAccepted(answer);
      const [{ message, publicKey, scheme, signature }] = answer.json.activity.votes;
      const stamp = stampOf({ publicKey, scheme, signature });
      for (const query of ["whoami", "list_users", "list_activities", "get_organization_configs"]) {
        const replayed = await sendBytes(url, {
          path: `/public/v1/query/${query}`,
          headers: [["X-Stamp", stamp]],
          body: message,
        });
        assert.equal(replayed.status, 400, query);
        assert.match(replayed.json.message, /the body of an activity is not a query/);
      }
    });

    await t.test("fifty senders of one body get one activity and one answer", async () => {
      // The caller tags itself: the answer shows the caller, which the activity changes.
      const parameters = { userTagName: "sent fifty times", userIds: [root.userId] };
      const body = envelope("create", organizationId, parameters);
      const answers = await Promise.all(Array.from({ length: 50 }, () => send("create", root, body)));
      for (const answer of answers) {
        assertAccepted(answer);
        assert.deepEqual(answer.json, answers[0]?.json);
      }
      assert.deepEqual((await send("create", root, body)).json, answers[0]?.json);
      assert.equal((await keptOf(body)).length, 1);
      // Another valid user of the organization is answered with the same activity, and adds no vote to a finished one.
      for (const caller of [deputy, member]) {
        assert.deepEqual((await send("create", caller, body)).json, answers[0]?.json);
      }
      for (const caller of [{ p256: createKey() }, other.owner]) {
        assert.equal((await send("create", caller, body)).status, 401);
      }
      // The same JSON with its keys in another order is another activity, and this name is taken.
      const { type, ...others } = body;
      assert.equal((await send("create", root, { ...others, type })).status, 400);
    });

    await t.test("a body that is refused is kept as rejected, once, and its repeats are refused alike", async () => {
      for (const act of ["create", "remove"] as const) {
        const parameters = act === "create" ? { userTagName: randomUUID(), userIds: [] } : { userTagIds: ["x"] };
        const body = envelope(act, organizationId, parameters);
        const answers = await Promise.all(Array.from({ length: 20 }, () => send(act, member, body)));
        // It is final: not even a root user's stamp over the same bytes runs it.
        for (const answer of [...answers, await send(act, root, body)]) assertRefused(answer, policyRefusal);
        const statuses = (await keptOf(body)).map(({ status }) => status);
        assert.deepEqual(statuses, ["ACTIVITY_STATUS_REJECTED"]);
      }
    });

    await t.test("a body that fails is kept as failed, once, and its repeats fail alike", async () => {
      const absent = randomUUID();
      const bodies = [
        ["remove", envelope("remove", organizationId, { userTagIds: [absent] }), 404],
        ["create", envelope("create", organizationId, { userTagName: "x", userIds: [absent] }), 404],
        ["create", envelope("create", organizationId, { userTagName: "sent fifty times", userIds: [] }), 400],
      ] as const;
      for (const [act, body, status] of bodies) {
        const answers = await Promise.all(Array.from({ length: 20 }, () => send(act, root, body)));
        answers.push(await send(act, root, body), await send(act, deputy, body));
        for (const answer of answers) {
          assert.equal(answer.status, status, answer.text);
          assert.deepEqual(answer.json, answers[0]?.json);
        }
        const { errorCode: _, ...failure } = answers[0]?.json ?? {};
        assert.deepEqual(
          (await keptOf(body)).map((each) => [each.status, each.failure]),
          [["ACTIVITY_STATUS_FAILED", failure]],
        );
      }
    });

    await t.test("of ten bodies that ask for one name at once, one gets it", async () => {
      const bodies = Array.from({ length: 10 }, (_, index) =>
        envelope("create", organizationId, { userTagName: "raced", userIds: [] }, { index }),
      );
      const answers = await Promise.all(bodies.map((body) => send("create", root, body)));
      const statuses = answers.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, ...Array.from({ length: 9 }, () => 400)]);
      // Names are an organization's own: another has this one too.
      const theirs = envelope("create", other.organizationId, { userTagName: "raced", userIds: [] });
      assertAccepted(await send("create", other.owner, theirs));
    });

    await t.test("a body is live from one hour ago to five minutes ahead", async () => {
      const at = (offsetMs: number) => {
        const timestampMs = String(Date.now() + offsetMs);
        const parameters = { userTagName: randomUUID(), userIds: [] };
        return send("create", root, envelope("create", organizationId, parameters, { timestampMs }));
      };
      for (const offsetMs of [marginMs - hourMs, fiveMinutesMs - marginMs]) assertAccepted(await at(offsetMs));
      const before = await kept();
      for (const offsetMs of [-hourMs - marginMs, fiveMinutesMs + marginMs, -Date.now()]) {
        assertRefused(await at(offsetMs), stale);
      }
      assert.deepEqual(await kept(), before);
    });

    await t.test("a body too old for a new activity still returns the one it made", async () => {
      const { body, answer, tooOldAtMs } = await aging;
      assertAccepted(answer);
      await sleep(Math.max(0, tooOldAtMs - Date.now()));
      assert.deepEqual((await send("create", root, body)).json, answer.json);
      const sibling = { ...body, parameters: { ...body.parameters, userTagName: "too late" } };
      assertRefused(await send("create", root, sibling), stale);
    });

    await t.test("none of this was an error inside", () => {
      assert.doesNotMatch(world.server.output(), ownFault);
    });
  });
}

/** A body that is accepted in the last seconds of its hour; on a busy machine, in its last minutes. */
async function startAging(
  { organizationId, root }: World,
  send: (act: Act, caller: Caller, body: unknown) => Promise<Answer>,
) {
  const parameters = { userTagName: "grows old", userIds: [] };
  for (let leftMs = 6_000; ; leftMs *= 4) {
    const timestampMs = Date.now() - hourMs + leftMs;
    const body = { ...envelope("create", organizationId, parameters), parameters, timestampMs: String(timestampMs) };
    const answer = await send("create", root, body);
    if (answer.status === 200 || leftMs > patienceMs) {
      return { body, answer, tooOldAtMs: timestampMs + hourMs + 100 };
    }
  }
}
