import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, test } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { parseStamp, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import { testCurves } from "../../core/test/test_curves.ts";
import { createApiKeyStamper } from "./api_key_stamper.ts";
import { type Client, createClient } from "./client.ts";
import { version } from "./generated/api.ts";
import { KeysteadError } from "./keystead_error.ts";

const privateKey = new Uint8Array(32).fill(7);
const { publicKey } = parseStamp(testCurves, signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", new Uint8Array(0)));

type Received = { url: string; headers: IncomingHttpHeaders; bytes: Buffer };

/** A server that notes what it receives and answers what the test says. */
const received: Received[] = [];
let answer: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    received.push({ url: request.url ?? "", headers: request.headers, bytes: Buffer.concat(chunks) });
    answer(response);
  });
});
let client: Client;

beforeEach(async () => {
  received.length = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  client = createClient({
    baseUrl: `http://127.0.0.1:${port}/`,
    organizationId: "org-1",
    stamper: createApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: privateKey }),
  });
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function answerJson(status: number, body: unknown): void {
  answer = (response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
}

function activity(fields: Record<string, unknown> = {}) {
  return {
    id: "activity-1",
    organizationId: "org-1",
    status: "ACTIVITY_STATUS_COMPLETED",
    type: "ACTIVITY_TYPE_CREATE_USER_TAG",
    intent: {},
    result: { createUserTagResult: { userTagId: "tag-1", userIds: ["user-1"] } },
    votes: [],
    ...fields,
  };
}

function only(): Received & { body: Record<string, unknown> } {
  assert.equal(received.length, 1);
  const [request] = received;
  assert.ok(request);
  return { ...request, body: JSON.parse(request.bytes.toString()) as Record<string, unknown> };
}

const tag = { userTagName: "ops", userIds: [] };

test("the stamp verifies over exactly the bytes that arrive, whatever characters they hold", async () => {
  answerJson(200, { activity: activity() });
  await client.createUserTag({ userTagName: 'Übung ✓ "🔑" \u2028', userIds: [] });
  const { headers, bytes } = only();
  const stamp = parseStamp(testCurves, String(headers["x-stamp"]));
  assert.equal(stamp.publicKey, publicKey);
  assert.equal(verifyStamp(testCurves, stamp, bytes), true);
  assert.equal(verifyStamp(testCurves, stamp, Buffer.concat([bytes, Buffer.from(" ")])), false);
});

test("an activity is sent in its envelope and comes back with its result beside it", async () => {
  answerJson(200, { activity: activity() });
  const before = Date.now();
  const answered = await client.createUserTag(tag);
  assert.equal(answered.userTagId, "tag-1");
  assert.deepEqual(answered.userIds, ["user-1"]);
  assert.equal(answered.activity.id, "activity-1");
  const { url, headers, body } = only();
  assert.equal(url, "/public/v1/submit/create_user_tag");
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["x-client-version"], `@keystead/sdk@${version}`);
  const { timestampMs, ...rest } = body;
  assert.deepEqual(rest, { type: "ACTIVITY_TYPE_CREATE_USER_TAG", organizationId: "org-1", parameters: tag });
  assert.match(String(timestampMs), /^[0-9]+$/);
  assert.ok(Number(timestampMs) >= before);
});

test("a query is sent with the client's organization, or with the one the call names", async () => {
  const whoami = { organizationId: "org-1", organizationName: "One", userId: "user-1", username: "Ada" };
  answerJson(200, whoami);
  assert.deepEqual(await client.whoami(), whoami);
  await client.whoami({ organizationId: "org-2" });
  await client.whoami({}, { organizationId: "org-3" });
  assert.deepEqual(
    received.map(({ url, bytes }) => [url, bytes.toString()]),
    ["org-1", "org-2", "org-3"].map((id) => ["/public/v1/query/whoami", JSON.stringify({ organizationId: id })]),
  );
});

test("a call can name organization and time; with the same time it sends the same bytes", async () => {
  answerJson(200, { activity: activity() });
  for (let i = 0; i < 2; i++)
    await client.createUserTag(tag, { organizationId: "org-2", timestampMs: 1_700_000_000_000 });
  assert.deepEqual(received[0]?.bytes, received[1]?.bytes);
  assert.match(String(received[0]?.bytes), /"timestampMs":"1700000000000","organizationId":"org-2"/);
});

test("an activity with its organization among the parameters is refused and not sent", async () => {
  const misplaced = { ...tag, organizationId: "org-2" };
  await assert.rejects(client.createUserTag(misplaced), {
    name: "TypeError",
    message:
      "create_user_tag has no parameter organizationId; name the organization in the second argument: { organizationId }",
  });
  assert.equal(received.length, 0);
});

test("equal calls in one millisecond are different activities", async () => {
  answerJson(200, { activity: activity() });
  await Promise.all(Array.from({ length: 5 }, () => client.createUserTag(tag)));
  assert.equal(new Set(received.map(({ bytes }) => bytes.toString())).size, 5);
});

test("a refusal is a KeysteadError with everything the server said", async () => {
  const details = [{ "@type": "x", errorCode: "PUBLIC_KEY_NOT_FOUND" }];
  answerJson(401, { code: 16, message: "could not find public key", details, errorCode: "PUBLIC_KEY_NOT_FOUND" });
  await assert.rejects(client.whoami(), (error) => {
    assert.ok(error instanceof KeysteadError);
    const { status, code, errorCode, message, activity } = error;
    assert.deepEqual(
      { status, code, errorCode, message, details: error.details, activity },
      {
        status: 401,
        code: 16,
        errorCode: "PUBLIC_KEY_NOT_FOUND",
        message: "could not find public key",
        details,
        activity: undefined,
      },
    );
    return true;
  });
});

test("an answer that is not ours is a KeysteadError with the HTTP status", async () => {
  answer = (response) => response.writeHead(502).end("<html>");
  await assert.rejects(client.whoami(), { name: "KeysteadError", status: 502, code: 2, message: "502 Bad Gateway" });
  answer = (response) => response.writeHead(200).end("<html>");
  await assert.rejects(client.whoami(), { name: "KeysteadError", status: 200, message: /not JSON/ });
  answerJson(200, {});
  await assert.rejects(client.createUserTag(tag), { name: "KeysteadError", message: /no activity/ });
});

test("an activity that waits for approvals rejects and carries the activity", async () => {
  answerJson(200, { activity: activity({ status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", result: {} }) });
  await assert.rejects(client.createUserTag(tag), (error) => {
    assert.ok(error instanceof KeysteadError);
    assert.equal(error.errorCode, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert.equal(error.activity?.id, "activity-1");
    return true;
  });
});

test("a vote resolves with the activity it was cast on, also while that goes on waiting", async () => {
  answerJson(200, { activity: activity({ status: "ACTIVITY_STATUS_CONSENSUS_NEEDED", result: {} }) });
  const fingerprint = `sha256:${"0".repeat(64)}`;
  assert.equal((await client.approveActivity({ fingerprint })).activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  assert.equal((await client.rejectActivity({ fingerprint })).activity.id, "activity-1");
});

test("an idempotency key goes into its header, and none is sent unasked", async () => {
  answerJson(200, { activity: activity() });
  await client.createUserTag(tag, { idempotencyKey: "order-17" });
  assert.equal(only().headers["idempotency-key"], "order-17");
  received.length = 0;
  await client.createUserTag(tag);
  assert.equal(only().headers["idempotency-key"], undefined);
});

test("an activity that failed rejects with its failure", async () => {
  const failure = { code: 5, message: "unable to find user", details: [] };
  answerJson(200, { activity: activity({ status: "ACTIVITY_STATUS_FAILED", result: {}, failure }) });
  await assert.rejects(client.createUserTag(tag), { code: 5, message: "unable to find user" });
});

test("a request can be sent raw: a string is stamped and sent as it is", async () => {
  answerJson(200, { answered: true });
  const text = '{ "organizationId":"org-1" ,"x":1.0 }';
  assert.deepEqual(await client.request("/public/v1/query/anything", text), { answered: true });
  assert.equal(only().bytes.toString(), text);
});

test("a stamped body is not sent on to where a redirect points", async () => {
  answer = (response) => response.writeHead(307, { location: "/elsewhere" }).end();
  await assert.rejects(client.whoami(), TypeError);
  assert.equal(received.length, 1);
});

test("a call can be given up", async () => {
  answer = () => undefined;
  await assert.rejects(client.whoami({}, { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
});

test("a server that cannot be reached is named, with the reason", async () => {
  const stamper = createApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: privateKey });
  const nobody = createClient({ baseUrl: "http://127.0.0.1:9", organizationId: "org-1", stamper });
  await assert.rejects(nobody.whoami(), {
    name: "TypeError",
    message: /^cannot reach http:\/\/127\.0\.0\.1:9: .+; if the server is not running, start it with `npm start`$/,
  });
});

test("who asks for app proofs has the flag beside the parameters, and nobody else has it at all", async () => {
  answerJson(200, { activity: activity({ result: { createUserTagResult: {} } }) });
  const tag = { userTagName: "a", userIds: [] };
  await client.createUserTag(tag, { generateAppProofs: true });
  await client.createUserTag(tag);
  const [asked, plain] = received.map(({ bytes }) => JSON.parse(String(bytes)));
  assert.equal(asked.generateAppProofs, true);
  assert.ok(!("generateAppProofs" in plain) && !("generateAppProofs" in asked.parameters));
});
