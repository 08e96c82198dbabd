/** The three endpoints from outside, on a real server and both databases: what they answer, refuse, keep and repeat. */
import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createKey, type KeyPair } from "./fixtures.ts";
import { type Answer, assertAccepted, assertRefused, bytesOf, call, type Refusal, stampFields } from "./wire.ts";
import { dialects, type StoredActivity, startWorld, type World } from "./world.ts";

const whoami = "/public/v1/query/whoami";

const submits = {
  create: { path: "/public/v1/submit/create_user_tag", type: "ACTIVITY_TYPE_CREATE_USER_TAG" },
  remove: { path: "/public/v1/submit/delete_user_tags", type: "ACTIVITY_TYPE_DELETE_USER_TAGS" },
} as const;

type Act = keyof typeof submits;
type Caller = { organizationId: string; userId: string; p256: KeyPair };

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const policyRefusal: Refusal = {
  status: 403,
  code: 7,
  message: "You don't have sufficient permissions to take this action.",
  details: [
    {
      "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
      message: "No policies evaluated to outcome: Allow",
      policyEvaluations: [],
    },
  ],
};

function envelope(act: Act, organizationId: string, parameters: unknown, more: object = {}) {
  return {
    type: submits[act].type,
    timestampMs: String(Date.now()),
    organizationId,
    parameters,
    ...more,
  };
}

function fingerprintOf(body: unknown): string {
  return createHash("sha256").update(bytesOf(body)).digest("hex");
}

for (const dialect of dialects) {
  test(`the endpoints on ${dialect}`, async (t) => {
    const world = await startWorld(t, dialect);
    if (world === undefined) return;
    const { url } = world.server;
    const { organizationId, root, deputy, member, other } = world;
    const send = (act: Act, caller: Caller, body: unknown) => call(url, submits[act].path, caller.p256, body);
    const create = async (caller: Caller, userTagName: string, userIds: string[] = []): Promise<string> => {
      const answer = await send("create", caller, envelope("create", caller.organizationId, { userTagName, userIds }));
      assertAccepted(answer);
      return answer.json.activity.result.createUserTagResult.userTagId;
    };
    /** It is waited for at the end: it must first grow too old. */
    const aging = startAging(world, send);

    await t.test("whoami answers with exactly four fields", async () => {
      const answer = await call(url, whoami, deputy.p256, { organizationId });
      assertAccepted(answer);
      assert.deepEqual(answer.json, {
        organizationId,
        organizationName: world.organizationName,
        userId: deputy.userId,
        username: deputy.userName,
      });
    });

    await t.test("create_user_tag answers with the whole activity", async () => {
      const parameters = { userTagName: "signers", userIds: [member.userId, deputy.userId] };
      const body = envelope("create", organizationId, parameters);
      const before = Date.now();
      const answer = await send("create", deputy, body);
      assertAccepted(answer);
      const { activity } = answer.json;
      assert.deepEqual(Object.keys(answer.json), ["activity"]);
      const { id, result, votes, createdAt, ...rest } = activity;
      assert.match(id, uuidV7);
      const { userTagId } = result.createUserTagResult;
      assert.match(userTagId, uuidV4);
      assert.deepEqual(result, { createUserTagResult: { userTagId, userIds: parameters.userIds } });
      assert.deepEqual(rest, {
        organizationId,
        status: "ACTIVITY_STATUS_COMPLETED",
        type: "ACTIVITY_TYPE_CREATE_USER_TAG",
        intent: { createUserTagIntent: parameters },
        fingerprint: `sha256:${fingerprintOf(body)}`,
        canApprove: false,
        canReject: false,
        updatedAt: createdAt,
        failure: null,
        appProofs: [],
      });
      const createdMs = Date.parse(createdAt);
      assert.ok(createdMs >= before - 1 && createdMs <= Date.now() + 1, createdAt);

      assert.equal(votes.length, 1);
      const { id: voteId, user, createdAt: votedAt, signature, ...vote } = votes[0];
      assert.match(voteId, uuidV4);
      assert.deepEqual(vote, {
        userId: deputy.userId,
        activityId: id,
        selection: "VOTE_SELECTION_APPROVED",
        message: JSON.stringify(body),
        publicKey: deputy.p256.publicKey,
        scheme: "SIGNATURE_SCHEME_TK_API_P256",
      });
      assert.equal(signature, stampFields(deputy.p256, bytesOf(body)).signature);
      assert.deepEqual(votedAt, {
        seconds: String(Math.floor(createdMs / 1000)),
        nanos: String((createdMs % 1000) * 1_000_000),
      });
      assert.equal(user.userId, deputy.userId);
      assert.equal(user.userName, deputy.userName);
      assert.deepEqual(
        user.apiKeys.map(({ credential }: { credential: object }) => credential),
        [
          { publicKey: deputy.p256.publicKey, type: "CREDENTIAL_TYPE_API_KEY_P256" },
          { publicKey: deputy.secp256k1.publicKey, type: "CREDENTIAL_TYPE_API_KEY_SECP256K1" },
          { publicKey: deputy.ed25519.publicKey, type: "CREDENTIAL_TYPE_API_KEY_ED25519" },
        ],
      );
      for (const list of ["authenticators", "oauthProviders", "mfaPolicies"]) assert.deepEqual(user[list], []);
    });

    await t.test("delete_user_tags deletes all named tags and names the users that carried them", async () => {
      const first = await create(root, "first of two", [member.userId]);
      const second = await create(root, "second of two", [member.userId, deputy.userId]);
      const parameters = { userTagIds: [first, second] };
      const answer = await send("remove", root, envelope("remove", organizationId, parameters));
      assertAccepted(answer);
      const { intent, result, status, type } = answer.json.activity;
      assert.deepEqual(
        { intent, status, type },
        {
          intent: { deleteUserTagsIntent: parameters },
          status: "ACTIVITY_STATUS_COMPLETED",
          type: "ACTIVITY_TYPE_DELETE_USER_TAGS",
        },
      );
      assert.deepEqual(Object.keys(result), ["deleteUserTagsResult"]);
      assert.deepEqual(result.deleteUserTagsResult.userTagIds, parameters.userTagIds);
      assert.deepEqual(result.deleteUserTagsResult.userIds.toSorted(), [member.userId, deputy.userId].sort());
      // Gone: a second deletion finds nothing, and the name is free again.
      assertRefused(await send("remove", root, envelope("remove", organizationId, { userTagIds: [first] })), {
        status: 404,
        code: 5,
        message: `unable to find user tag ${first} in organization ${organizationId}`,
      });
      await create(root, "first of two");
    });

    await t.test("a field that is missing or mistyped is named, and nothing is stored", async () => {
      const good = { create: { userTagName: "x", userIds: [] }, remove: { userTagIds: [randomUUID()] } };
      const missing = (field: string) => `invalid request body: missing field \`${field}\``;
      const names = (field: string) => new RegExp(`^invalid request body: field \`${field}\` `);
      const cases: [act: Act, body: object, message: string | RegExp][] = [];
      for (const act of ["create", "remove"] as const) {
        const valid = envelope(act, organizationId, good[act]);
        cases.push(
          [act, { ...valid, type: undefined }, /^Invalid activity type: /],
          [act, { ...valid, type: 7 }, /^Invalid activity type: /],
          [act, { ...valid, type: "ACTIVITY_TYPE_NOTHING" }, /^Invalid activity type: `ACTIVITY_TYPE_NOTHING`/],
          [act, { ...valid, type: `${valid.type}_V2` }, /^Invalid activity type: /],
          [act, { ...valid, timestampMs: undefined }, missing("timestampMs")],
          ...["", "now", "1.5", "-1", "0x10", "1".repeat(16), " 1", null, -1, 1.5, true, []].map(
            (timestampMs): [Act, object, RegExp] => [act, { ...valid, timestampMs }, names("timestampMs")],
          ),
          [act, { ...valid, parameters: undefined }, missing("parameters")],
          [act, { ...valid, parameters: null }, names("parameters")],
          [act, { ...valid, parameters: [] }, names("parameters")],
          [act, { ...valid, parameters: "x" }, names("parameters")],
          [act, { ...valid, generateAppProofs: "yes" }, names("generateAppProofs")],
        );
      }
      const createWith = (parameters: object): object => envelope("create", organizationId, parameters);
      const removeWith = (parameters: object): object => envelope("remove", organizationId, parameters);
      cases.push(
        ["create", createWith({ userIds: [] }), missing("userTagName")],
        ["create", createWith({ userTagName: "x" }), missing("userIds")],
        ...[null, 7, {}, "", "x".repeat(256)].map((userTagName): [Act, object, RegExp] => [
          "create",
          createWith({ userTagName, userIds: [] }),
          names("parameters\\.userTagName"),
        ]),
        ...["a\nb", "\u001b[1m", "a\u202eb", "\u2066a"].map((userTagName): [Act, object, RegExp] => [
          "create",
          createWith({ userTagName, userIds: [] }),
          /^invalid request body: field `parameters\.userTagName` has characters that are not allowed$/,
        ]),
        ["create", createWith({ userTagName: "x", userIds: "x" }), names("parameters\\.userIds")],
        ["create", createWith({ userTagName: "x", userIds: [7] }), names("parameters\\.userIds\\.0")],
        ["create", createWith({ userTagName: "x", userIds: [""] }), names("parameters\\.userIds\\.0")],
        [
          "create",
          createWith({ userTagName: "x", userIds: Array.from({ length: 1001 }, () => "x") }),
          names("parameters\\.userIds"),
        ],
        ["remove", removeWith({}), missing("userTagIds")],
        ["remove", removeWith({ userTagIds: [] }), names("parameters\\.userTagIds")],
        ["remove", removeWith({ userTagIds: {} }), names("parameters\\.userTagIds")],
        ["remove", removeWith({ userTagIds: [null] }), names("parameters\\.userTagIds\\.0")],
      );
      const before = await world.stored(organizationId);
      for (const [act, body, message] of cases) {
        const answer = await send(act, root, body);
        assert.doesNotThrow(
          () => assertRefused(answer, { status: 400, code: 3, message }),
          `${JSON.stringify(body).slice(0, 300)}: ${answer.text}`,
        );
        // Who may not ask learns nothing about how to ask.
        assert.equal((await send(act, { ...root, p256: createKey() }, body)).status, 401);
      }
      assert.deepEqual(await world.stored(organizationId), before);
    });

    await t.test("a bad stamp changes nothing and is not kept", async () => {
      const before = await world.stored(organizationId);
      const body = envelope("create", organizationId, { userTagName: "never", userIds: [] });
      const stamp = Buffer.from(JSON.stringify(stampFields(root.p256, bytesOf("other")))).toString("base64url");
      const refusal = { status: 401, code: 16, message: "could not verify api key signature" };
      const refused = await call(url, submits.create.path, root.p256, body, { stamp });
      assertRefused(refused, { ...refusal, errorCode: "SIGNATURE_INVALID" });
      assert.deepEqual(await world.stored(organizationId), before);
      assertAccepted(await send("create", root, body));
      // Now the activity exists; a repeat still needs a stamp that verifies.
      const repeated = await call(url, submits.create.path, root.p256, body, { stamp });
      assertRefused(repeated, { ...refusal, errorCode: "SIGNATURE_INVALID" });
      assert.equal((await send("create", { ...root, p256: createKey() }, body)).status, 401);
      assert.equal((await send("create", other.owner, body)).status, 401);
      assert.equal((await send("create", world.expired, body)).json.errorCode, "API_KEY_EXPIRED");
    });

    await t.test(
      "whom no policy allows is refused with 403, the refusal is kept, and a repeat says the same",
      async () => {
        for (const act of ["create", "remove"] as const) {
          const parameters = act === "create" ? { userTagName: randomUUID(), userIds: [] } : { userTagIds: ["x"] };
          const body = envelope(act, organizationId, parameters);
          const first = await send(act, member, body);
          assertRefused(first, policyRefusal);
          const kept: StoredActivity[] = (await world.stored(organizationId)).filter(
            (row) => row.fingerprint === fingerprintOf(body),
          );
          assert.deepEqual(
            kept.map(({ status }) => status),
            ["ACTIVITY_STATUS_REJECTED"],
          );
          const repeats = await Promise.all(Array.from({ length: 5 }, () => send(act, member, body)));
          for (const repeat of repeats) assert.deepEqual(repeat.json, first.json);
          // It is final: not even a root user's stamp over the same bytes runs it.
          assertRefused(await send(act, root, body), policyRefusal);
        }
      },
    );

    await t.test("another organization's users and tags answer like missing ones", async () => {
      const theirs = await create(other.owner, "of the other organization", [other.owner.userId]);
      const absent = randomUUID();
      const answers = await Promise.all(
        [theirs, absent].map((tag) => send("remove", root, envelope("remove", organizationId, { userTagIds: [tag] }))),
      );
      [theirs, absent].forEach((tag, index) => {
        assertRefused(answers[index] as Answer, {
          status: 404,
          code: 5,
          message: `unable to find user tag ${tag} in organization ${organizationId}`,
        });
      });
      for (const userId of [other.owner.userId, world.subA.owner.userId, absent]) {
        const parameters = { userTagName: randomUUID(), userIds: [userId] };
        assertRefused(await send("create", root, envelope("create", organizationId, parameters)), {
          status: 404,
          code: 5,
          message: `unable to find user ${userId} in organization ${organizationId}`,
        });
      }
      // Untouched by all that.
      const removed = await send(
        "remove",
        other.owner,
        envelope("remove", other.organizationId, { userTagIds: [theirs] }),
      );
      assertAccepted(removed);
      assert.deepEqual(removed.json.activity.result.deleteUserTagsResult.userIds, [other.owner.userId]);
      // One body is two activities in two organizations: names are an organization's own.
      await create(root, "both have it");
      await create(other.owner, "both have it");
    });

    await t.test("fifty senders of one body get one activity and one answer", async () => {
      const before = (await world.stored(organizationId)).length;
      // The caller tags itself: the answer shows the caller, which the activity changes.
      const parameters = { userTagName: "sent fifty times", userIds: [root.userId] };
      const body = envelope("create", organizationId, parameters);
      const answers = await Promise.all(Array.from({ length: 50 }, () => send("create", root, body)));
      for (const answer of answers) {
        assertAccepted(answer);
        assert.deepEqual(answer.json, answers[0]?.json);
      }
      assert.deepEqual((await send("create", root, body)).json, answers[0]?.json);
      assert.equal((await world.stored(organizationId)).length, before + 1);
      // Another valid user of the organization is answered with the same activity, and adds no vote to a finished one.
      for (const caller of [deputy, member]) {
        assert.deepEqual((await send("create", caller, body)).json, answers[0]?.json);
      }
      // The same bytes, as JSON, with another key order are another activity, and this name is taken.
      const { type, ...others } = body;
      assert.equal((await send("create", root, { ...others, type })).status, 400);
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
        const kept: StoredActivity[] = (await world.stored(organizationId)).filter(
          (row) => row.fingerprint === fingerprintOf(body),
        );
        assert.deepEqual(
          kept.map((row) => row.status),
          ["ACTIVITY_STATUS_FAILED"],
        );
        const { code, message, details } = JSON.parse(kept[0]?.failure ?? "");
        assert.deepEqual({ code, message, details, errorCode: "" }, answers[0]?.json);
      }
    });

    await t.test("all or nothing: one unknown id leaves the other tags and users as they were", async () => {
      const tag = await create(root, "survivor", [member.userId]);
      const removal = envelope("remove", organizationId, { userTagIds: [tag, randomUUID()] });
      assert.equal((await send("remove", root, removal)).status, 404);
      const creation = { userTagName: "half given", userIds: [member.userId, randomUUID()] };
      assert.equal((await send("create", root, envelope("create", organizationId, creation))).status, 404);
      await create(root, "half given");
      const removed = await send("remove", root, envelope("remove", organizationId, { userTagIds: [tag, tag] }));
      assertAccepted(removed);
      assert.deepEqual(removed.json.activity.result.deleteUserTagsResult, {
        userTagIds: [tag],
        userIds: [member.userId],
      });
    });

    await t.test("a name is given once", async () => {
      await create(root, "unique");
      const again = envelope("create", organizationId, { userTagName: "unique", userIds: [] });
      assertRefused(await send("create", root, again), {
        status: 400,
        code: 3,
        message: "user tag label must be unique: `unique` exists",
      });
      // Also when both ask at once, in different bodies.
      const bodies = Array.from({ length: 10 }, (_, index) =>
        envelope("create", organizationId, { userTagName: "raced", userIds: [] }, { index }),
      );
      const statuses = (await Promise.all(bodies.map((body) => send("create", root, body)))).map(
        ({ status }) => status,
      );
      assert.deepEqual(statuses.sort(), [200, ...Array.from({ length: 9 }, () => 400)]);
    });

    await t.test("a limit that is hit says which one", async () => {
      const { owner } = world.full;
      await create(owner, "the last that fits");
      const parameters = { userTagName: "one too many", userIds: [] };
      assertRefused(await send("create", owner, envelope("create", owner.organizationId, parameters)), {
        status: 429,
        code: 8,
        message: "organization has reached its limit of 1000 user tags",
      });
    });

    await t.test("a body is live from one hour ago to five minutes ahead", async () => {
      const [hour, fiveMinutes, margin] = [3_600_000, 300_000, 5_000];
      const stale: Refusal = {
        status: 400,
        code: 3,
        message: "request timestamp is outside the allowed window",
        errorCode: "REQUEST_INVALID",
      };
      const at = (offsetMs: number, act: Act, parameters: object) =>
        send(act, root, envelope(act, organizationId, parameters, { timestampMs: String(Date.now() + offsetMs) }));
      const named = () => ({ userTagName: randomUUID(), userIds: [] });
      assertAccepted(await at(margin - hour, "create", named()));
      assertAccepted(await at(fiveMinutes - margin, "create", named()));
      const before = await world.stored(organizationId);
      for (const offsetMs of [-hour - margin, fiveMinutes + margin, -Date.now()]) {
        assertRefused(await at(offsetMs, "create", named()), stale);
        assertRefused(await at(offsetMs, "remove", { userTagIds: ["x"] }), stale);
      }
      assert.deepEqual(await world.stored(organizationId), before);
    });

    await t.test("a body too old for a new activity still returns the one it made", async () => {
      const { body, answer, tooOldAtMs } = await aging;
      assertAccepted(answer);
      await sleep(Math.max(0, tooOldAtMs - Date.now()));
      assert.deepEqual((await send("create", root, body)).json, answer.json);
      const sibling = { ...body, parameters: { ...body.parameters, userTagName: "too late" } };
      assert.equal((await send("create", root, sibling)).json.errorCode, "REQUEST_INVALID");
    });

    await t.test("none of this was an error inside", () => {
      assert.doesNotMatch(world.server.output(), /internal/);
    });
  });
}

/** A body that is accepted in the last seconds of its hour. */
async function startAging(
  { organizationId, root }: World,
  send: (act: Act, caller: Caller, body: unknown) => Promise<Answer>,
) {
  const timestampMs = Date.now() - 3_600_000 + 6_000;
  const body = {
    ...envelope("create", organizationId, undefined),
    parameters: { userTagName: "grows old", userIds: [] },
    timestampMs: String(timestampMs),
  };
  return { body, answer: await send("create", root, body), tooOldAtMs: timestampMs + 3_600_000 + 100 };
}
