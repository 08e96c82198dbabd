/** What the tests of this room do with a deployment: make something, ask for it again, and hear whether it is ready. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { keyFrom } from "../key_pairs.ts";
import type { Bootstrap } from "../keystead_server.ts";
import { envelope, type Json } from "../matrix/fixture.ts";
import { readBootstrap } from "../test_disk/test_disk.ts";
import { type Answer, call } from "../wire.ts";

/** A body and the answer that it must always have. */
export type Act = { body: string; answer: Json };

export type Deployment = { url: string; bootstrap: Bootstrap };

export function deploymentAt(url: string, dataFolder: string): Deployment {
  return { url, bootstrap: readBootstrap(dataFolder) };
}

/** A body that makes a tag; its time is the test's own unless told. */
export function tagBody({ bootstrap }: Deployment, timestampMs = Date.now()): string {
  const parameters = { userTagName: `Tag ${crypto.randomUUID()}`, userIds: [] };
  const body = envelope("ACTIVITY_TYPE_CREATE_USER_TAG", bootstrap.organizationId, parameters);
  return JSON.stringify({ ...body, timestampMs: String(timestampMs) });
}

export function send({ url, bootstrap }: Deployment, body: string): Promise<Answer> {
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(bootstrap.apiPrivateKey));
  return call(url, "/public/v1/submit/create_user_tag", key, body);
}

export async function act(deployment: Deployment, body = tagBody(deployment)): Promise<Act> {
  const answer = await send(deployment, body);
  assert.equal(answer.status, 200, answer.text);
  return { body, answer: answer.json };
}

/** Everything that was acknowledged is there, word for word. */
export async function assertAllThere(deployment: Deployment, acts: readonly Act[]): Promise<void> {
  for (const { body, answer } of acts) {
    const again = await send(deployment, body);
    assert.deepEqual(again.json, answer, body);
  }
}

/** While the disk refuses, an answer may have to wait; another one than before it never becomes. */
export async function assertNothingElse(deployment: Deployment, acts: readonly Act[]): Promise<void> {
  for (const { body, answer } of acts) {
    const again = await send(deployment, body);
    if (again.status !== 503) assert.deepEqual(again.json, answer, body);
  }
}

/** Refused for now, with a reason; the same bytes may be sent again. */
export async function assertUnavailable(deployment: Deployment, body: string, message: RegExp): Promise<void> {
  const { status, json, text } = await send(deployment, body);
  assert.deepEqual({ status, code: json?.code }, { status: 503, code: 14 }, text);
  assert.match(json.message, message);
}

/** Who only asks does not notice. */
export async function assertReadable({ url, bootstrap }: Deployment): Promise<void> {
  const { organizationId, userId, apiPrivateKey } = bootstrap;
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  const answer = await call(url, "/public/v1/query/whoami", key, { organizationId });
  assert.equal(answer.json?.userId, userId, answer.text);
}

/** What `/readyz` says, once that is `expected` if it will be: it looks once a second, however often it is asked. */
export async function readiness({ url }: Deployment, expected: number): Promise<{ status: number; why: string }> {
  for (const until = Date.now() + patienceMs; ; ) {
    const answer = await fetch(`${url}/readyz`);
    const { why = "" } = (await answer.json()) as { why?: string };
    if (answer.status === expected || Date.now() > until) return { status: answer.status, why };
    await pause(50);
  }
}

/** Sends the same body until it is answered: service goes on without anybody's help. */
export async function untilAnswered(deployment: Deployment, body: string): Promise<Act> {
  for (const until = Date.now() + patienceMs; ; ) {
    const answer = await send(deployment, body).catch((error) => ({ status: 0, text: String(error), json: undefined }));
    if (answer.status === 200) return { body, answer: answer.json };
    assert.ok(Date.now() < until, `it did not come back: ${answer.text}`);
    await pause(50);
  }
}

/** What a process says comes by another way than its answers, and may come later. */
export async function untilSaid(output: () => string, pattern: RegExp): Promise<void> {
  for (const until = Date.now() + patienceMs; Date.now() < until && !pattern.test(output()); ) await pause(20);
  assert.match(output(), pattern);
}
