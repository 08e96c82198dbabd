/** What the published clients do while an activity is not over: whom they ask, how often, and what they make of it. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import {
  assertActivityCompleted,
  createActivityPoller,
  init,
  TurnkeyActivityError,
  TurnkeyApi,
  withAsyncPolling,
} from "@turnkey/http";
import { TurnkeyApiClient } from "@turnkey/sdk-server";
import { patienceMs } from "../../../core/test/patience.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { apiKeyPair, foundOrganization, type Person } from "./clients.ts";
import { approvalBody, rejectionBody, tagBody } from "./requests.ts";

/** The server client, and the bodies it has stamped so far. */
function watchedClient(
  { url }: KeysteadServer,
  person: Person,
  activityPoller: { intervalMs: number; numRetries: number },
) {
  const stamper = new ApiKeyStamper(apiKeyPair(person.key));
  const stamped: Record<string, unknown>[] = [];
  const client = new TurnkeyApiClient({
    apiBaseUrl: url,
    organizationId: person.organizationId,
    activityPoller,
    stamper: {
      stamp(payload: string) {
        stamped.push(JSON.parse(payload));
        return stamper.stamp(payload);
      },
    },
  });
  return { client, stamped };
}

/** Polls for longer than the other side of a test takes. */
const patient = { intervalMs: 20, numRetries: patienceMs / 20 };

/** The fingerprint of the proposal of this tag, as soon as somebody has made it. */
async function findWaiting({ sdk }: Person, userTagName: string): Promise<string> {
  for (;;) {
    const { activities } = await sdk.getActivities({ filterByStatus: ["ACTIVITY_STATUS_CONSENSUS_NEEDED"] });
    const found = activities.find(({ intent }) => intent.createUserTagIntent?.userTagName === userTagName);
    if (found !== undefined) return found.fingerprint;
  }
}

async function activityErrorOf(call: Promise<unknown>): Promise<TurnkeyActivityError> {
  const error = await call.then(
    () => assert.fail("it completed"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof TurnkeyActivityError, String(error));
  return error;
}

export async function polling(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [first, second] = await foundOrganization(server, root, ["First", "Second"], 2);
  assert.ok(first !== undefined && second !== undefined);

  await t.test("what completes inside its request is never polled for", async () => {
    const { client, stamped } = watchedClient(server, root, { intervalMs: 20, numRetries: 3 });
    const { userTagId } = await client.createUserTag({ userTagName: "at once", userIds: [] });
    assert.ok(userTagId);
    assert.equal(stamped.length, 1);

    const poll = createActivityPoller({ client: root.http, requestFn: root.http.createUserTag });
    const activity = await poll(tagBody(root, "polled"));
    assertActivityCompleted(activity);
  });

  await t.test("the server client asks five times about what waits, and hands it out as it is", async () => {
    const { client, stamped } = watchedClient(server, first, { intervalMs: 20, numRetries: 3 });
    const answer = await client.createUserTag({ userTagName: "waits", userIds: [] });
    const { activity } = answer;
    assert.equal(activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert.deepEqual(Object.keys(answer), ["activity"]);
    const poll = { activityId: activity.id, organizationId: first.organizationId };
    assert.deepEqual(stamped.slice(1), Array(5).fill(poll));
  });

  await t.test("the server client sees the approval that comes while it polls, and hands out the result", async () => {
    const { client } = watchedClient(server, first, patient);
    const proposal = client.createUserTag({ userTagName: "meanwhile", userIds: [] });
    await second.sdk.approveActivity({ fingerprint: await findWaiting(second, "meanwhile") });
    const { activity, userTagId } = await proposal;
    assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(activity.votes.length, 2);
    assert.equal(activity.result.createUserTagResult?.userTagId, userTagId);
  });

  await t.test("the server client sees the rejection that comes while it polls, and does not throw", async () => {
    const { client } = watchedClient(server, first, patient);
    const proposal = client.createUserTag({ userTagName: "unwanted", userIds: [] });
    await second.sdk.rejectActivity({ fingerprint: await findWaiting(second, "unwanted") });
    const { activity } = await proposal;
    assert.equal(activity.status, "ACTIVITY_STATUS_REJECTED");
  });

  await t.test("the http poller throws on consensus, and its error leads to the activity", async () => {
    const poll = createActivityPoller({ client: first.http, requestFn: first.http.createUserTag });
    const error = await activityErrorOf(poll(tagBody(first, "thrown")));
    const { activityId = "", activityStatus, activityType, message } = error;
    assert.deepEqual(
      { activityStatus, activityType, message },
      {
        activityStatus: "ACTIVITY_STATUS_CONSENSUS_NEEDED",
        activityType: "ACTIVITY_TYPE_CREATE_USER_TAG",
        message: `Consensus needed for activity ${activityId}`,
      },
    );
    const { organizationId } = first;
    const { activity } = await second.http.getActivity({ organizationId, activityId });
    const approvePolled = createActivityPoller({ client: second.http, requestFn: second.http.approveActivity });
    const approved = await approvePolled(approvalBody(second, activity.fingerprint));
    assert.equal(approved.id, activityId);
    const { activity: read } = await first.http.getActivity({ organizationId, activityId });
    assertActivityCompleted(read);
    assert.deepEqual(read.result, approved.result);
  });

  await t.test("the http poller throws on rejection and on failure, and says which", async () => {
    const now = Date.now();
    const kept = await first.http.createUserTag(tagBody(first, "twice", now));
    const doomed = await first.http.createUserTag(tagBody(first, "twice", now + 1));
    const approvePolled = createActivityPoller({ client: second.http, requestFn: second.http.approveActivity });
    const rejectPolled = createActivityPoller({ client: second.http, requestFn: second.http.rejectActivity });
    await second.sdk.approveActivity({ fingerprint: kept.activity.fingerprint });
    const failed = await activityErrorOf(approvePolled(approvalBody(second, doomed.activity.fingerprint)));
    assert.equal(failed.message, `Activity ${doomed.activity.id} failed`);
    assert.equal(failed.activityStatus, "ACTIVITY_STATUS_FAILED");

    const unwanted = await first.http.createUserTag(tagBody(first, "never"));
    const rejected = await activityErrorOf(rejectPolled(rejectionBody(second, unwanted.activity.fingerprint)));
    assert.equal(rejected.message, `Activity ${unwanted.activity.id} was rejected`);
    assert.equal(rejected.activityStatus, "ACTIVITY_STATUS_REJECTED");
  });

  await t.test("the older functions, which stamp with a key set once for all, do the same", async () => {
    init({ ...apiKeyPair(first.key), baseUrl: server.url });
    const { organizationId } = first;
    const createTag = withAsyncPolling({ request: TurnkeyApi.createUserTag });
    const error = await activityErrorOf(createTag({ body: tagBody(first, "older") }));
    assert.equal(error.activityStatus, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    const { activity } = await TurnkeyApi.getActivity({ body: { organizationId, activityId: error.activityId ?? "" } });
    await second.sdk.approveActivity({ fingerprint: activity.fingerprint });
    const { activity: read } = await TurnkeyApi.getActivity({ body: { organizationId, activityId: activity.id } });
    assertActivityCompleted(read);
    assert.equal((await TurnkeyApi.getWhoami({ body: { organizationId } })).userId, first.userId);

    init({ ...apiKeyPair(root.key), baseUrl: server.url });
    const completed = await createTag({ body: tagBody(root, "older") });
    assertActivityCompleted(completed);
  });
}
