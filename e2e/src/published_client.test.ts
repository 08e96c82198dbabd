/** The published clients of this wire, unmodified from npm, with only the base URL changed. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import {
  assertActivityCompleted,
  createActivityPoller,
  TERMINAL_ACTIVITY_STATUSES,
  TurnkeyClient,
  TurnkeyRequestError,
} from "@turnkey/http";
import { dialects, startServer } from "./world.ts";

/** The stamper signs by WebCrypto, by node:crypto or in pure JavaScript, depending on where it runs. */
const runtimes = ["node", "browser", "purejs"] as const;

const timestamps = { seconds: /^\d{10}$/, nanos: /^\d{1,9}$/ };

function assertTimestamp(value: { seconds: string; nanos: string }): void {
  assert.deepEqual(Object.keys(value).sort(), ["nanos", "seconds"]);
  assert.match(value.seconds, timestamps.seconds);
  assert.match(value.nanos, timestamps.nanos);
}

async function refusalOf(call: Promise<unknown>): Promise<TurnkeyRequestError> {
  const error = await call.then(
    () => assert.fail("it was accepted"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof TurnkeyRequestError, String(error));
  return error;
}

for (const dialect of dialects) {
  test(`the published clients on ${dialect}`, async (t) => {
    const server = await startServer(t, dialect);
    if (server === undefined) return;
    const { organizationId, organizationName, userId, apiPublicKey, apiPrivateKey } = server.bootstrap;
    const client = new TurnkeyClient({ baseUrl: server.url }, new ApiKeyStamper({ apiPublicKey, apiPrivateKey }));
    const createTag = (userTagName: string) =>
      client.createUserTag({
        type: "ACTIVITY_TYPE_CREATE_USER_TAG",
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { userTagName, userIds: [userId] },
      });

    for (const runtimeOverride of runtimes) {
      await t.test(`getWhoami, stamped by the ${runtimeOverride} runtime`, async () => {
        const stamper = new ApiKeyStamper({ apiPublicKey, apiPrivateKey, runtimeOverride });
        for (const baseUrl of [server.url, `${server.url}/`]) {
          const answer = await new TurnkeyClient({ baseUrl }, stamper).getWhoami({ organizationId });
          assert.deepEqual(answer, { organizationId, organizationName, userId, username: "Root user" });
        }
      });
    }

    await t.test("createUserTag and deleteUserTags, with times in the client's own form", async () => {
      const { activity } = await createTag("published");
      assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
      assert.ok(TERMINAL_ACTIVITY_STATUSES.includes(activity.status));
      assertTimestamp(activity.createdAt);
      assertTimestamp(activity.updatedAt);
      assertTimestamp(activity.votes[0]?.createdAt ?? { seconds: "", nanos: "" });
      const userTagId = activity.result.createUserTagResult?.userTagId ?? "";
      assert.deepEqual(activity.result.createUserTagResult, { userTagId, userIds: [userId] });
      const { activity: removal } = await client.deleteUserTags({
        type: "ACTIVITY_TYPE_DELETE_USER_TAGS",
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { userTagIds: [userTagId] },
      });
      assert.deepEqual(removal.result.deleteUserTagsResult, { userTagIds: [userTagId], userIds: [userId] });
      for (const completed of [activity, removal]) assertActivityCompleted(completed);
    });

    await t.test("the activity poller needs no second request", async () => {
      const poll = createActivityPoller({ client, requestFn: client.createUserTag });
      const activity = await poll({
        type: "ACTIVITY_TYPE_CREATE_USER_TAG",
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { userTagName: "polled", userIds: [] },
      });
      assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
    });

    await t.test("a request stamped by the client and sent by another is the same request", async () => {
      const { url, body, stamp } = await client.stampGetWhoami({ organizationId });
      const headers = { [stamp.stampHeaderName]: stamp.stampHeaderValue };
      const answer = await fetch(url, { method: "POST", headers, body });
      assert.equal(((await answer.json()) as { userId: string }).userId, userId);
    });

    await t.test("refusals arrive as the client's own error, with code, message and details", async () => {
      await createTag("taken");
      const duplicate = await refusalOf(createTag("taken"));
      assert.equal(duplicate.code, 3);
      assert.equal(duplicate.message, "Turnkey error 3: user tag label must be unique: `taken` exists (Details: [])");

      const missing = await refusalOf(client.getWhoami({ organizationId: randomUUID() }));
      assert.equal(missing.code, 5);
      assert.deepEqual(missing.details, [
        {
          "@type": "type.googleapis.com/errors.v1.TurnkeyErrorDetail",
          turnkeyErrorCode: "ORGANIZATION_NOT_FOUND",
        },
      ]);

      const stranger = new ApiKeyStamper({
        apiPublicKey: "02f739f8c77b32f4d5f13265861febd76e7a9c61a1140d296b8c16302508870316",
        apiPrivateKey: "487f361ddfd73440e707f4daa6775b376859e8a3c9f29b3bb694a12927c0213c",
      });
      const strange = new TurnkeyClient({ baseUrl: server.url }, stranger);
      const unknown = await refusalOf(strange.getWhoami({ organizationId }));
      assert.equal(unknown.code, 16);
      // The words by which the session clients know that a session is over.
      assert.match(unknown.message, /could not find public key in organization or its parent organization/);

      // An endpoint that this version does not have answers in JSON too, so the client can say what happened.
      const absent = await refusalOf(client.getOrganization({ organizationId }));
      assert.equal(absent.code, 5);
    });
  });
}
