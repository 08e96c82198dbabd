/** The same bytes more than once. A client in another language polls so: it posts what it posted and reads the status. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TestContext } from "node:test";
import { sealAndStampRequestBody, type TSignedRequest } from "@turnkey/http";
import type { KeysteadServer } from "../keystead_server.ts";
import { apiKeyPair, createMember, foundOrganization, type Person, wording } from "./clients.ts";
import { tagBody } from "./requests.ts";

/** As that client sends it: no content type, and none accepted but exactly JSON's. */
async function post({ url, body, stamp }: TSignedRequest) {
  const answer = await fetch(url, {
    method: "POST",
    headers: { [stamp.stampHeaderName]: stamp.stampHeaderValue },
    body: new TextEncoder().encode(body),
  });
  assert.equal(answer.headers.get("content-type"), "application/json");
  return { status: answer.status, text: await answer.text() };
}

function stampTag(person: Person, userTagName: string, timestampMs = Date.now()) {
  return person.http.stampCreateUserTag(tagBody(person, userTagName, timestampMs));
}

export async function repeats(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner, partner] = await foundOrganization(server, root, ["Owner", "Partner"]);
  assert.ok(owner !== undefined && partner !== undefined);

  await t.test("the same request posted again answers the same activity, word for word", async () => {
    const request = await stampTag(owner, "once");
    const answers = [await post(request), await post(request), await post(request)];
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    const { activity } = JSON.parse(answers[0]?.text ?? "");
    assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(activity.fingerprint, `sha256:${createHash("sha256").update(request.body).digest("hex")}`);
    const { userTags } = await owner.sdk.listUserTags({ organizationId: owner.organizationId });
    assert.equal(userTags.filter(({ tagName }) => tagName === "once").length, 1);
  });

  await t.test("so does a fresh stamp over the same bytes, by either client and by another user", async () => {
    const timestampMs = String(Date.now());
    const input = { userTagName: "stamped anew", userIds: [], organizationId: owner.organizationId, timestampMs };
    const { activity, userTagId } = await owner.sdk.createUserTag(input);
    for (const { sdk } of [owner, partner]) {
      const again = await sdk.createUserTag(input);
      assert.equal(again.activity.id, activity.id);
      assert.equal(again.userTagId, userTagId);
      assert.equal(again.activity.votes.length, 1);
    }
    const later = await owner.sdk.updateUserTag({ userTagId, addUserIds: [], removeUserIds: [], timestampMs });
    assert.notEqual(later.activity.id, activity.id);
  });

  await t.test("sent at the same moment many times, all senders get one activity", async () => {
    const request = await stampTag(owner, "crowd");
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(request)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(answers.map(({ text }) => JSON.parse(text).activity.id)).size, 1);
  });

  await t.test("what was refused or failed says the same each time", async () => {
    const member = await createMember(server, owner, "Member");
    await post(await stampTag(owner, "there"));
    for (const request of [await stampTag(member, "refused"), await stampTag(owner, "there")]) {
      const answers = [await post(request), await post(request)];
      assert.ok((answers[0]?.status ?? 0) >= 400);
      assert.deepEqual(answers[0], answers[1]);
    }
  });

  await t.test("a waiting activity is polled by its own bytes until the other has approved", async () => {
    const [first, second] = await foundOrganization(server, root, ["First", "Second"], 2);
    assert.ok(first !== undefined && second !== undefined);
    const request = await stampTag(first, "polled");
    const poll = async () => JSON.parse((await post(request)).text).activity;
    const proposed = await poll();
    assert.equal(proposed.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert.equal((await poll()).votes.length, 1);
    await second.sdk.approveActivity({ fingerprint: proposed.fingerprint });
    const completed = await poll();
    assert.equal(completed.id, proposed.id);
    assert.equal(completed.status, "ACTIVITY_STATUS_COMPLETED");
    assert.ok(completed.result.createUserTagResult.userTagId);
  });

  await t.test("a body sealed by the http client's helper is the bytes that were signed", async () => {
    const { organizationId } = owner;
    const { sealedBody, xStamp } = await sealAndStampRequestBody({
      body: {
        type: "ACTIVITY_TYPE_CREATE_USER_TAG",
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { userTagName: "größe 🔑", userIds: [] },
      },
      ...apiKeyPair(owner.key),
    });
    const url = `${server.url}/public/v1/submit/create_user_tag`;
    const request = { url, body: sealedBody, stamp: { stampHeaderName: "X-Stamp", stampHeaderValue: xStamp } };
    const { activity } = JSON.parse((await post(request)).text);
    assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(activity.votes[0].message, sealedBody);
    const bent = { ...request, body: sealedBody.replace("größe", "grösse") };
    const refused = JSON.parse((await post(bent)).text);
    assert.match(
      wording(refused.code, refused.message, refused.details),
      /^Turnkey error 16: could not verify api key signature/,
    );
  });

  await t.test("under one Idempotency-Key a fresh timestamp is the same request", async () => {
    const headers = { "Idempotency-Key": "retry-1" };
    const send = async (userTagName: string, timestampMs: number) => {
      const { url, body, stamp } = await stampTag(owner, userTagName, timestampMs);
      const answer = await fetch(url, {
        method: "POST",
        headers: { ...headers, [stamp.stampHeaderName]: stamp.stampHeaderValue },
        body,
      });
      return { status: answer.status, json: (await answer.json()) as { activity: { id: string } } };
    };
    const now = Date.now();
    const [one, two] = [await send("keyed", now), await send("keyed", now + 1)];
    assert.deepEqual([one.status, two.status], [200, 200]);
    assert.equal(one.json.activity.id, two.json.activity.id);
    assert.equal((await send("another", now + 2)).status, 409);
  });
}
