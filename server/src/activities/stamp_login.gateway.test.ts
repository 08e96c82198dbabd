/** Signing in, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { faultCodes } from "@keystead/core/fault.ts";
import { createGatewayRig, type GatewayRig, Refused } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { login, newKey, query } from "../../test/session_rig.ts";
import { decodePage } from "../state/pages.ts";
import { findPage, findVersion } from "../store/organizations.ts";

async function keysOf({ store }: GatewayRig, organizationId: string, userId: string) {
  const page = await findPage(store, organizationId, "members");
  assert.ok(page);
  return decodePage("members", page).users.get(userId)?.apiKeys ?? [];
}

const refused = (code: keyof typeof faultCodes, message: RegExp) => (error: unknown) =>
  error instanceof Refused && error.failure.code === faultCodes[code] && message.test(error.failure.message);

for (const dialect of dialects) {
  describe(`sign-in on ${dialect}`, () => {
    test("a login's key speaks for its user until it ends, and the token says so", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId } = rig;
      const bob = await rig.newPerson("bob");
      const { session, publicKey, claims } = await login(rig, bob, {}, { expirationSeconds: "60" });
      assert.deepEqual(claims, {
        exp: Math.floor((rig.signer.clock.nowMs + 60_000) / 1000),
        public_key: publicKey,
        session_type: "SESSION_TYPE_READ_WRITE",
        user_id: bob.userId,
        organization_id: organizationId,
      });
      const [lasting, key] = await keysOf(rig, organizationId, bob.userId);
      assert.equal(lasting?.expiresAtMs, undefined);
      assert.equal(key?.type, "CREDENTIAL_TYPE_LOGIN");
      assert.match(key?.apiKeyName ?? "", /^Login - \d{4}-/);
      const me = await query<{ userId: string }>(rig, "whoami", { organizationId }, session);
      assert.equal(me.userId, bob.userId);
      // It may do what its user may do alone: here, end.
      const deleted = { userId: bob.userId, apiKeyIds: [key?.apiKeyId] };
      await rig.submit(session, "delete_api_keys", deleted);
      await assert.rejects(query(rig, "whoami", { organizationId }, session), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
    });

    test("a session that is over opens nothing, and a login gives it new time", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { session, publicKey } = await login(rig, rig.root, {}, { expirationSeconds: "60" });
      rig.signer.clock.nowMs += 61_000;
      const tag = { userTagName: "a", userIds: [] };
      await assert.rejects(rig.submit(session, "create_user_tag", tag), { errorCode: "API_KEY_EXPIRED" });
      const [, before] = await keysOf(rig, rig.organizationId, rig.root.userId);
      await rig.submit(rig.root, "stamp_login", { publicKey, expirationSeconds: "120" });
      const [, renewed, ...others] = await keysOf(rig, rig.organizationId, rig.root.userId);
      assert.deepEqual(others, []);
      const { nowMs } = rig.signer.clock;
      assert.deepEqual(renewed, { ...before, expiresAtMs: nowMs + 120_000, updatedAtMs: nowMs });
      await rig.submit(session, "create_user_tag", tag);
    });

    test("a lasting key, one that was made to end, and anybody else's are refused, and stay as they are", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId, root } = rig;
      const bob = await rig.newPerson("bob");
      const ending = newKey();
      const apiKeys = [
        { apiKeyName: "e", publicKey: ending.publicKey, curveType: "API_KEY_CURVE_P256", expirationSeconds: "90" },
      ];
      await rig.submit(bob, "create_api_keys", { userId: bob.userId, apiKeys });
      const { publicKey: theirs } = await login(rig, root);
      const keys = async () => [
        await keysOf(rig, organizationId, bob.userId),
        await keysOf(rig, organizationId, root.userId),
      ];
      const before = await keys();
      const own = before[0]?.[0]?.publicKey;
      for (const publicKey of [own, ending.publicKey, theirs]) {
        const sent = rig.submit(bob, "stamp_login", { publicKey, invalidateExisting: true });
        await assert.rejects(sent, refused("already_exists", /already belongs to a user of this organization/));
      }
      assert.deepEqual(await keys(), before);
    });

    test("an eleventh session takes the place of the oldest, and invalidateExisting ends those of its type alone", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { organizationId } = rig;
      const bob = await rig.newPerson("bob");
      const ids: string[] = [];
      let length = 0;
      for (let i = 0; i < 25; i++) {
        rig.signer.clock.nowMs += 10_000;
        await login(rig, bob, {}, { expirationSeconds: "3600" });
        const keys = await keysOf(rig, organizationId, bob.userId);
        assert.equal(keys.length, 1 + Math.min(i + 1, 10));
        ids.push(keys.at(-1)?.apiKeyId ?? "");
        assert.deepEqual(
          keys.slice(1).map(({ apiKeyId }) => apiKeyId),
          ids.slice(-10),
        );
        const page = await findPage(rig.store, organizationId, "members");
        if (i === 9) length = page?.length ?? 0;
        if (i >= 9) assert.equal(page?.length, length);
      }
      const targetPublicKey = newKey().publicKey;
      await rig.submit(bob, "create_read_write_session", { targetPublicKey, apiKeyName: "rw" });
      const { publicKey } = await login(rig, bob, {}, { invalidateExisting: true });
      const kept = (await keysOf(rig, organizationId, bob.userId)).map(({ apiKeyName, publicKey: each }) =>
        each === publicKey ? "new" : apiKeyName,
      );
      assert.deepEqual(kept, ["key", "rw", "new"]);
    });

    test("bad lifetimes, keys and profiles are refused with their texts", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const { publicKey } = newKey();
      const cases: [object, keyof typeof faultCodes, RegExp][] = [
        [{ publicKey, expirationSeconds: "0" }, "invalid_argument", /^invalid api key expiration/],
        [{ publicKey, expirationSeconds: "1.5" }, "invalid_argument", /^invalid api key expiration/],
        [{ publicKey, expirationSeconds: "" }, "invalid_argument", /^invalid api key expiration/],
        [{ publicKey, expirationSeconds: "2592001" }, "invalid_argument", /at most 2592000 seconds/],
        [{ publicKey: `05${"02".repeat(32)}` }, "invalid_argument", /publicKey/],
        [{ publicKey, sessionProfileId: "11111111-0000-0000-0000-000000000000" }, "not_found", /session profile/],
      ];
      for (const [params, code, message] of cases) {
        await assert.rejects(
          rig.submit(rig.root, "stamp_login", params),
          refused(code, message),
          JSON.stringify(params),
        );
      }
      const zeros = { publicKey, sessionProfileId: "00000000-0000-0000-0000-000000000000" };
      await rig.submit(rig.root, "stamp_login", { ...zeros, expirationSeconds: "2592000" });
    });

    test("the same bytes are one login, and of no other organization", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const bob = await rig.newPerson("bob");
      const body = rig.body("stamp_login", { publicKey: newKey().publicKey });
      const first = await rig.send(bob, "stamp_login", body);
      const again = await rig.send(bob, "stamp_login", body);
      assert.deepEqual(again.result, first.result);
      assert.equal((await keysOf(rig, rig.organizationId, bob.userId)).length, 2);
    });

    test("a body that names the parent runs in the one sub-organization that knows its key", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const child = await rig.newSubOrganization(1, ["ann"]);
      const [ann] = child.people;
      assert.ok(ann);
      const before = await findVersion(rig.store, rig.organizationId);
      const { session, claims, organizationId, activityId } = await login(rig, ann);
      assert.equal(organizationId, child.organizationId);
      assert.equal(claims.organization_id, child.organizationId);
      assert.equal(claims.user_id, ann.userId);
      assert.equal(await findVersion(rig.store, rig.organizationId), before, "the parent did not move");
      // With the parent's id, her own key and the session find it, and nobody of another sub-organization does.
      const asked = { organizationId: rig.organizationId, activityId };
      for (const by of [ann, session]) {
        const { activity }: { activity: { id: string } } = await query(rig, "get_activity", asked, by);
        assert.equal(activity.id, activityId);
      }
      const other = await rig.newSubOrganization(1, ["eve"]);
      assert.ok(other.people[0]);
      await assert.rejects(query(rig, "get_activity", asked, other.people[0]), { code: "not_found" });
      // The same bytes again are the same activity, and no other endpoint looks below.
      const body = rig.body("stamp_login", { publicKey: newKey().publicKey });
      const first = await rig.send(ann, "stamp_login", body);
      assert.equal((await rig.send(ann, "stamp_login", body)).id, first.id);
      const tag = rig.submit(ann, "create_user_tag", { userTagName: "a", userIds: [] });
      await assert.rejects(tag, { errorCode: "PUBLIC_KEY_NOT_FOUND" });
    });

    test("where several sub-organizations know a key, the one where it is proven is taken, or none", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const [own, theirs] = [await rig.newSubOrganization(1, ["ann"]), await rig.newSubOrganization(1, ["eve"])];
      const [[ann], [eve]] = [own.people, theirs.people];
      assert.ok(ann && eve);
      const stranger = newKey();
      const keyIn = async (organizationId: string, by: typeof ann, publicKey: string) => {
        const apiKeys = [{ apiKeyName: "k", publicKey, curveType: "API_KEY_CURVE_P256" }];
        await rig.submit(by, "create_api_keys", { userId: by.userId, apiKeys }, { organizationId });
      };
      const [annKey] = await keysOf(rig, own.organizationId, ann.userId);
      await keyIn(theirs.organizationId, eve, annKey?.publicKey ?? "");
      assert.equal((await login(rig, ann)).organizationId, own.organizationId);
      // A key that is proven nowhere: where one knows it, that is taken, and it proves nothing.
      await keyIn(theirs.organizationId, eve, stranger.publicKey);
      const bob = { userId: "", userName: "", privateKey: stranger.privateKey };
      assert.equal((await login(rig, bob)).organizationId, theirs.organizationId);
      const marked = (await keysOf(rig, theirs.organizationId, eve.userId)).find(
        (key) => key.publicKey === stranger.publicKey,
      );
      assert.equal(marked?.proven, undefined);
      await keyIn(own.organizationId, ann, stranger.publicKey);
      await assert.rejects(login(rig, bob), { errorCode: "CREDENTIAL_CONFLICT" });
      // Whoever acts with it in one of them by its name has proven it there.
      const tag = { userTagName: "a", userIds: [] };
      await rig.submit(bob, "create_user_tag", tag, { organizationId: own.organizationId });
      assert.equal((await login(rig, bob)).organizationId, own.organizationId);
    });

    test("a key that moves takes no login with it", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const child = await rig.newSubOrganization(1, ["ann"]);
      const [ann] = child.people;
      assert.ok(ann);
      const moved = newKey();
      const apiKeys = [{ apiKeyName: "k", publicKey: moved.publicKey, curveType: "API_KEY_CURVE_P256" }];
      const added = await rig.submit(rig.root, "create_api_keys", { userId: rig.root.userId, apiKeys });
      const { apiKeyIds } = added.result.createApiKeysResult as { apiKeyIds: string[] };
      const by = { userId: "", userName: "", privateKey: moved.privateKey };
      const body = rig.body("stamp_login", { publicKey: newKey().publicKey });
      assert.equal((await rig.send(by, "stamp_login", body)).organizationId, rig.organizationId);
      await rig.submit(rig.root, "delete_api_keys", { userId: rig.root.userId, apiKeyIds });
      const inChild = { organizationId: child.organizationId };
      await rig.submit(ann, "create_api_keys", { userId: ann.userId, apiKeys }, inChild);
      await assert.rejects(rig.send(by, "stamp_login", body), {
        code: "failed_precondition",
        message: "this request was made in another organization before; send it again with a new timestampMs",
      });
      assert.equal((await login(rig, by)).organizationId, child.organizationId);
    });

    test("a parent gets no session in its child, and nobody one of another user, not even root", async (t) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const child = await rig.newSubOrganization(1, ["ann"]);
      const inChild = { organizationId: child.organizationId };
      const bob = await rig.newPerson("bob");
      const targetPublicKey = newKey().publicKey;
      const mismatch = { errorCode: "ORGANIZATION_MISMATCH" };
      await assert.rejects(login(rig, rig.root, inChild), mismatch);
      const session = (params: object, options = {}) =>
        rig.submit(rig.root, "create_read_write_session", { targetPublicKey, ...params }, options);
      await assert.rejects(session({}, inChild), mismatch);
      await assert.rejects(session({ userId: child.people[0]?.userId }, inChild), mismatch);
      await assert.rejects(rig.submit(rig.root, "create_read_only_session", {}, inChild), mismatch);
      await assert.rejects(session({ userId: bob.userId }), refused("permission_denied", /sufficient permissions/));
      await assert.rejects(session({ userId: child.people[0]?.userId }), refused("not_found", /unable to find user/));
      assert.equal((await keysOf(rig, rig.organizationId, bob.userId)).length, 1);
    });
  });
}
