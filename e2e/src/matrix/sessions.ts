/** stamp_login, create_read_write_session, create_read_only_session; bundles and tokens are read with the published package. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { decryptCredentialBundle, generateP256KeyPair, getPublicKey } from "@turnkey/crypto";
import { createKey } from "../key_pairs.ts";
import { invalid, notFound } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { activityEntry, type BadInput, type Seen } from "./entry.ts";
import { exists, noSuchUser, notOwnAct } from "./faults.ts";
import { envelope, type Fixture, type Json } from "./fixture.ts";
import { byId } from "./people.ts";

const reader = generateP256KeyPair();
const targetPublicKey = reader.publicKeyUncompressed;

export const badLifetimes: BadInput<Json>[] = ["0", "", "-1", "1.5", "soon"].map((expirationSeconds) => ({
  name: `a lifetime of \`${expirationSeconds}\``,
  bend: (good) => ({ ...good, expirationSeconds }),
  refusal: invalid(
    "invalid api key expiration: expirationSeconds is a whole number of seconds, at least 1; leave it out for a session of 15 minutes",
  ),
  kept: "FAILED",
}));

export const tooLong: BadInput<Json> = {
  name: "more than thirty days",
  bend: (good) => ({ ...good, expirationSeconds: "2592001" }),
  refusal: invalid(
    "invalid api key expiration: a session lasts at most 2592000 seconds (maxSessionSeconds in KEYSTEAD_LIMITS)",
  ),
  kept: "FAILED",
};

/** The one key that the caller has now and did not have before. Everything else is as it was. */
export function newKeyOf({ place }: Fixture, { before, after }: Seen): Json {
  const { userId } = place.root;
  const keys = (users: Json[]) => byId(users, "userId", userId).apiKeys as Json[];
  const known = keys(before.users).map(({ apiKeyId }) => apiKeyId);
  const added = keys(after.users).filter(({ apiKeyId }) => !known.includes(apiKeyId));
  assert.equal(added.length, 1);
  const others = (users: Json[]) => users.filter((user) => user.userId !== userId);
  assert.deepEqual({ ...after, users: others(after.users) }, { ...before, users: others(before.users) });
  return added[0];
}

export function claimsOf(session: string): Json {
  const [header = "", payload = ""] = session.split(".");
  assert.deepEqual(JSON.parse(atob(header)), { alg: "ES256", typ: "JWT" });
  return JSON.parse(atob(payload));
}

/** A key without a person, as requests want one. */
function holder(fixture: Fixture, key: ReturnType<typeof createKey>) {
  return { ...fixture.place.root, p256: key };
}

export const stampLogin = activityEntry<{ publicKey: string; expirationSeconds: string }>({
  good: () => ({ publicKey: createKey().publicKey, expirationSeconds: "3600" }),
  required: ["publicKey"],
  result({ publicKey }, seen, { place }) {
    const { exp, ...claims } = claimsOf(seen.result.session);
    const { organizationId, root } = place;
    const expected = { public_key: publicKey, session_type: "SESSION_TYPE_READ_WRITE" };
    assert.deepEqual(claims, { ...expected, user_id: root.userId, organization_id: organizationId });
    assert.ok(exp > Date.now() / 1000);
    return seen.result;
  },
  shows({ publicKey }, seen, fixture) {
    const { credential, expirationSeconds } = newKeyOf(fixture, seen);
    assert.deepEqual(credential, { publicKey, type: "CREDENTIAL_TYPE_LOGIN" });
    assert.equal(expirationSeconds, "3600");
  },
  bad: [
    ...badLifetimes,
    tooLong,
    {
      name: "a key that is no point",
      bend: (good) => ({ ...good, publicKey: `05${"02".repeat(32)}` }),
      refusal: { status: 400, code: 3, message: /publicKey/ },
      kept: "FAILED",
    },
    {
      name: "a lasting key of the caller's",
      bend: (good, { place }) => ({ ...good, publicKey: place.root.p256.publicKey }),
      refusal: exists(/already belongs to a user of this organization/),
      kept: "FAILED",
    },
    {
      name: "another user's key",
      bend: (good, { place }) => ({ ...good, publicKey: place.member.p256.publicKey }),
      refusal: exists(/already belongs to a user of this organization/),
      kept: "FAILED",
    },
    {
      name: "a profile that is not there",
      bend: (good) => ({ ...good, sessionProfileId: "11111111-2222-4333-8444-555555555555" }),
      refusal: (_, { place }) =>
        notFound(
          `unable to find session profile 11111111-2222-4333-8444-555555555555 in organization ${place.organizationId}`,
        ),
      kept: "FAILED",
    },
  ],
  foreign: [],
  isOwnAct: true,
  isSignIn: true,
  own: () => ({ publicKey: createKey().publicKey, expirationSeconds: "60" }),
  also: {
    "the key acts until it ends": async (fixture) => {
      const key = createKey();
      await fixture.done("stamp_login", { publicKey: key.publicKey, expirationSeconds: "3600" });
      const { userId } = await fixture.ask("whoami", {}, holder(fixture, key));
      assert.equal(userId, fixture.place.root.userId);
      await fixture.done("create_user_tag", { userTagName: randomUUID(), userIds: [] }, holder(fixture, key));
    },
    "with the parent's id, a member of a sub-organization signs in to its own": async (fixture) => {
      const { parent, sub } = fixture;
      const { publicKey } = createKey();
      const answer = await fixture.submit("stamp_login", { publicKey }, sub.root, parent);
      assert.equal(answer.status, 200, answer.text);
      const { id, organizationId, result } = answer.json.activity;
      assert.equal(organizationId, sub.organizationId);
      assert.equal(claimsOf(result.stampLoginResult.session).organization_id, sub.organizationId);
      const look = async () => (await fixture.ask("get_activity", { activityId: id }, sub.root, parent)).activity;
      let activity = await look();
      while (activity.status === "ACTIVITY_STATUS_PENDING") activity = await look();
      assert.deepEqual(activity, answer.json.activity);
    },
  },
});

type ReadWrite = { targetPublicKey: string; apiKeyName: string; expirationSeconds: string; userId?: string };

export const createReadWriteSession = activityEntry<ReadWrite>({
  good: () => ({ targetPublicKey, apiKeyName: `Session ${randomUUID()}`, expirationSeconds: "3600" }),
  required: ["targetPublicKey"],
  result({ apiKeyName }, { after, result }, { place }) {
    const { organizationId, root } = place;
    const apiKeys: Json[] = byId(after.users, "userId", root.userId).apiKeys;
    const { apiKeyId } = byId(apiKeys, "apiKeyName", apiKeyName);
    const { credentialBundle } = result;
    const organizationName = after.organizationName;
    return {
      organizationId,
      organizationName,
      userId: root.userId,
      username: root.userName,
      apiKeyId,
      credentialBundle,
    };
  },
  shows(_, seen, fixture) {
    const { credential, expirationSeconds } = newKeyOf(fixture, seen);
    const privateKey = decryptCredentialBundle(seen.result.credentialBundle, reader.privateKey);
    const publicKey = Buffer.from(getPublicKey(privateKey, true)).toString("hex");
    assert.deepEqual(credential, { publicKey, type: "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256" });
    assert.equal(expirationSeconds, "3600");
  },
  bad: [
    ...badLifetimes,
    tooLong,
    ...["x", "02", targetPublicKey.slice(2), `${targetPublicKey}00`, `02${"ff".repeat(32)}`].map(
      (wrong): BadInput<ReadWrite> => ({
        name: `the target \`${wrong.slice(0, 10)}\` of ${wrong.length} digits`,
        bend: (good) => ({ ...good, targetPublicKey: wrong }),
        refusal: invalid("invalid target public key: expected the 66 or 130 hex digits of a point of P-256"),
        kept: "FAILED",
      }),
    ),
    {
      name: "a target that is no point",
      bend: (good) => ({ ...good, targetPublicKey: `04${"00".repeat(64)}` }),
      refusal: invalid("invalid target public key: expected the 66 or 130 hex digits of a point of P-256"),
      kept: "FAILED",
    },
    {
      name: "another user's session",
      bend: (good, { place }) => ({ ...good, userId: place.deputy.userId }),
      refusal: notOwnAct,
      kept: "REJECTED",
    },
  ],
  foreign: [{ name: "a user", bend: (good, { userId }) => ({ ...good, userId }), refusal: noSuchUser }],
  isOwnAct: true,
  isSignIn: true,
  own: ({ place }) => ({
    targetPublicKey,
    apiKeyName: "own",
    expirationSeconds: "60",
    userId: place.member.userId,
  }),
  versions: {
    ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: async (fixture) => {
      const { userId } = fixture.place.root;
      await fixture.done("update_user_email", { userId, userEmail: "root@example.com" });
      return { targetPublicKey, email: "Root@example.com" };
    },
  },
  also: {
    "the first version takes nobody else's address": async (fixture) => {
      const type = "ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION";
      const parameters = { targetPublicKey, email: "somebody@example.com" };
      const body = envelope(type, fixture.place.organizationId, parameters);
      const path = "create_read_write_session";
      const answer = await fixture.send({ kind: "submit", path, body, key: fixture.place.root.p256 });
      assert.equal(answer.status, 403, answer.text);
    },
  },
});

export const createReadOnlySession = activityEntry<Record<string, never>>({
  good: () => ({}),
  required: [],
  result(_, { after, result }, { place }) {
    const { organizationId, root } = place;
    const { session, sessionExpiry } = result;
    assert.match(session, /^[\w-]{140}$/);
    assert.match(sessionExpiry, /^\d+$/);
    const owner = { organizationId, organizationName: after.organizationName, userId: root.userId };
    return { ...owner, username: root.userName, session, sessionExpiry };
  },
  shows: (_, { before, after }) => assert.deepEqual(after, before),
  bad: [],
  foreign: [],
  isOwnAct: true,
  isSignIn: true,
  bearerField: "session",
  own: () => ({}),
  also: {
    "it reads as its user, here and below, and submits nothing": async (fixture) => {
      const { parent, sub } = fixture;
      const { session } = await fixture.done("create_read_only_session", {}, parent.member, parent);
      for (const { organizationId } of [parent, sub]) {
        const answer = await fixture.send({ kind: "query", path: "whoami", body: { organizationId }, session });
        assert.equal(answer.json.userId, parent.member.userId, answer.text);
      }
      const body = envelope("ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", parent.organizationId, {});
      const submitted = await fixture.send({ kind: "submit", path: "create_read_only_session", body, session });
      assertRefused(submitted, {
        status: 403,
        code: 7,
        errorCode: "REQUEST_NOT_AUTHORIZED",
        message: "request not authorized: a read-only session cannot submit activities",
      });
      const { organizationId } = parent;
      const bent = `${session.slice(0, -2)}${session.endsWith("AA") ? "BB" : "AA"}`;
      const forged = await fixture.send({ kind: "query", path: "whoami", body: { organizationId }, session: bent });
      assertRefused(forged, {
        status: 401,
        code: 16,
        errorCode: "SIGNATURE_INVALID",
        message: "could not verify read-only session",
      });
      const other = { organizationId: fixture.other.organizationId };
      const foreign = await fixture.send({ kind: "query", path: "whoami", body: other, session });
      assert.equal(foreign.status, 401, foreign.text);
    },
  },
});
