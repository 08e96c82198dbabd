/** Refusals as the published clients throw them: their own class, with code, message and details as the wire has them. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyRequestError as HttpRequestError, TurnkeyClient } from "@turnkey/http";
import { TurnkeyRequestError } from "@turnkey/sdk-server";
import { createKey } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import {
  apiKeyOf,
  apiKeyPair,
  asPerson,
  createMember,
  foundOrganization,
  namedError,
  type Person,
  refusalOf,
  wording,
} from "./clients.ts";

const policyRefusal = {
  "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
  message: "No policies evaluated to outcome: Allow",
  policyEvaluations: [],
};

export async function refusals(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { organizationId } = owner;
  const member = await createMember(server, owner, "Member");
  const tag = (person: Person, userTagName: string, changes: object = {}) => ({
    sdk: () => person.sdk.createUserTag({ userTagName, userIds: [], ...changes }),
    http: () =>
      person.http.createUserTag({
        type: "ACTIVITY_TYPE_CREATE_USER_TAG",
        timestampMs: String(Date.now()),
        organizationId: person.organizationId,
        parameters: { userTagName, userIds: [] },
        ...changes,
      }),
  });
  await tag(owner, "taken").sdk();

  const strangers = asPerson(server, { ...owner, key: createKey() });
  const lost = { organizationId: randomUUID() };
  const late = { timestampMs: String(Date.now() - 2 * 3_600_000) };
  const keyless = [{ userName: "Keyless", apiKeys: [], authenticators: [], oauthProviders: [], userTags: [] }];

  const refusals: [
    what: string,
    calls: { sdk(): Promise<unknown>; http?(): Promise<unknown> },
    message: string | RegExp,
  ][] = [
    ["a name that is taken", tag(owner, "taken"), wording(3, "user tag label must be unique: `taken` exists")],
    [
      "an organization that does not exist",
      tag(owner, "lost", lost),
      wording(5, "no organization found with the given ID", [namedError("ORGANIZATION_NOT_FOUND")]),
    ],
    [
      "an organization id that is none",
      tag(owner, "lost", { organizationId: "mine" }),
      wording(3, "malformed organization ID provided", [namedError("INVALID_ORGANIZATION_ID")]),
    ],
    [
      "a time outside the window",
      tag(owner, "late", late),
      wording(3, "request timestamp is outside the allowed window", [namedError("REQUEST_INVALID")]),
    ],
    [
      "a user whom no policy allows it",
      tag(member, "not mine"),
      wording(7, "You don't have sufficient permissions to take this action.", [policyRefusal]),
    ],
    [
      "a key of nobody",
      tag(strangers, "strange"),
      // The words by which the session clients know that a session is over.
      /^Turnkey error 16: could not find public key in organization or its parent organization.*"PUBLIC_KEY_NOT_FOUND"/,
    ],
    [
      "a user without a credential",
      {
        // Of the top-level organization, where a login by contact is off.
        sdk: () => root.sdk.createUsers({ users: keyless }),
        http: () =>
          root.http.createUsers({
            type: "ACTIVITY_TYPE_CREATE_USERS_V4",
            timestampMs: String(Date.now()),
            organizationId: root.organizationId,
            parameters: { users: keyless },
          }),
      },
      /^Turnkey error 3: user missing valid credential: [0-9a-f-]{36} \(`[^`]+`\); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does \(Details: \[\]\)$/,
    ],
    [
      "a key that somebody has",
      { sdk: () => owner.sdk.createApiKeys({ userId: owner.userId, apiKeys: [apiKeyOf(member.key)] }) },
      /^Turnkey error 6: /,
    ],
    [
      "an expiration that is none",
      {
        sdk: () =>
          owner.sdk.createApiKeys({
            userId: owner.userId,
            apiKeys: [{ ...apiKeyOf(createKey()), expirationSeconds: "soon" }],
          }),
      },
      wording(
        3,
        "invalid api key expiration: expirationSeconds is a whole number of seconds, at least 1; leave it out for a key that never expires",
      ),
    ],
    [
      "an e-mail address that is none",
      { sdk: () => owner.sdk.updateUserEmail({ userId: owner.userId, userEmail: "nowhere" }) },
      /^Turnkey error 3: invalid email address.*"INVALID_EMAIL"/,
    ],
    [
      "a parameter that is missing",
      { sdk: () => owner.sdk.updateUserName({ userName: "Nobody" } as never) },
      /^Turnkey error 3: invalid request body: missing field `(parameters\.)?userId`/,
    ],
  ];
  for (const [what, calls, message] of refusals) {
    await t.test(`${what} is refused in the clients' own words`, async () => {
      const answers = [await refusalOf(calls.sdk()), ...(calls.http ? [await refusalOf(calls.http())] : [])];
      assert.ok(answers[0] instanceof TurnkeyRequestError);
      assert.ok(answers[1] === undefined || answers[1] instanceof HttpRequestError);
      for (const { name, message: said, code, details } of answers) {
        assert.equal(name, "TurnkeyRequestError");
        if (typeof message !== "string") assert.match(said, message);
        // The new user has a new id each time, all else is the same from both.
        else assert.equal(said, message);
        assert.equal(code, Number(/^Turnkey error (\d+):/.exec(said)?.[1]));
        assert.ok(Array.isArray(details));
      }
    });
  }

  await t.test("the body of a refusal has the clients' spelling of the error code beside ours", async () => {
    const { url, body, stamp } = await owner.http.stampGetWhoami(lost);
    const headers = { [stamp.stampHeaderName]: stamp.stampHeaderValue };
    const ask = async (more: Record<string, string>) =>
      (await fetch(url, { method: "POST", headers: { ...headers, ...more }, body })).json();
    const own = {
      code: 5,
      message: "no organization found with the given ID",
      details: [namedError("ORGANIZATION_NOT_FOUND")],
      errorCode: "ORGANIZATION_NOT_FOUND",
    };
    assert.deepEqual(await ask({}), own);
    const spelled = { ...own, turnkeyErrorCode: "ORGANIZATION_NOT_FOUND" };
    assert.deepEqual(await ask({ "X-Client-Version": "@turnkey/http@6.6.0" }), spelled);
  });

  await t.test("a refusal by policy leaves a rejected activity, a failure a failed one", async () => {
    const [second] = await foundOrganization(server, root, ["Keeper"]);
    assert.ok(second !== undefined);
    const nobody = await createMember(server, second, "Nobody");
    await refusalOf(tag(nobody, "refused").http());
    await tag(second, "there").http();
    await refusalOf(tag(second, "there").sdk());
    const list = async (status: "ACTIVITY_STATUS_REJECTED" | "ACTIVITY_STATUS_FAILED") =>
      (await second.sdk.getActivities({ filterByStatus: [status] })).activities;
    const [rejected, failed] = [await list("ACTIVITY_STATUS_REJECTED"), await list("ACTIVITY_STATUS_FAILED")];
    assert.deepEqual([rejected.length, failed.length], [1, 1]);
    assert.equal(rejected[0]?.votes[0]?.userId, nobody.userId);
    assert.equal(failed[0]?.failure?.code, 3);
    assert.equal(failed[0]?.failure?.message, "user tag label must be unique: `there` exists");
  });

  await t.test("an expired key is told so in the words that the session clients look for", async () => {
    const brief = createKey();
    await member.sdk.createApiKeys({
      userId: member.userId,
      apiKeys: [{ ...apiKeyOf(brief, "Brief"), expirationSeconds: "1" }],
    });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const { http } = asPerson(server, { ...member, key: brief });
    const expired = await refusalOf(http.getWhoami({ organizationId }));
    assert.equal(expired.code, 16);
    assert.match(expired.message, new RegExp(`Unauthenticated desc = expired api key publicKey=${brief.publicKey}`));
    assert.deepEqual(expired.details, [namedError("API_KEY_EXPIRED")]);
  });

  await t.test("a stamp over other bytes is refused, as is an endpoint that is not there", async () => {
    const stamper = new ApiKeyStamper(apiKeyPair(owner.key));
    const bent = new TurnkeyClient({ baseUrl: server.url }, { stamp: (payload) => stamper.stamp(`${payload} `) });
    const forged = await refusalOf(bent.getWhoami({ organizationId }));
    assert.equal(forged.message, wording(16, "could not verify api key signature", [namedError("SIGNATURE_INVALID")]));
    // In JSON too, so that the client can say what happened.
    const absent = owner.http.getOnRampTransactionStatus({ organizationId, transactionId: "none" });
    const { code, message } = await refusalOf(absent);
    assert.deepEqual([code, message.includes("`/public/v1/query/get_onramp_transaction_status`")], [12, true]);
  });
}
