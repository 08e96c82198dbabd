import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStamp, verifyStamp } from "@keystead/core/crypto/stamp.ts";
import { toBase64url } from "@keystead/core/encoding/base64url.ts";
import { testCurves } from "../../core/test/test_curves.ts";
import { createApiKeyStamper, generateApiKey } from "./api_key_stamper.ts";
import { createClient } from "./client.ts";
import {
  createSessionStamper,
  generateSessionKey,
  resumeSession,
  type SessionStamperOptions,
} from "./session_stamper.ts";

const lasting = generateApiKey();
const nowSeconds = 1_800_000_000;

type Sent = { path: string; by: string; body: { organizationId: string; parameters: Record<string, unknown> } };
type Refusal = { status: number; errorCode: string };

function sessionToken(publicKey: string, seconds: number, claims: object = {}): string {
  const payload = {
    exp: nowSeconds + seconds,
    public_key: publicKey,
    session_type: "SESSION_TYPE_READ_WRITE",
    user_id: "user-1",
    organization_id: "child",
    ...claims,
  };
  return ["{}", JSON.stringify(payload), "signature"].map((part) => toBase64url(Buffer.from(part))).join(".");
}

/** A server that knows one user of one child, and notes what was stamped by whom. */
function standIn({ claims = {} }: { claims?: object } = {}) {
  const sent: Sent[] = [];
  const refusals = new Map<string, Refusal>();
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const path = new URL(String(url)).pathname.split("/").at(-1) ?? "";
    const bytes = new Uint8Array(init?.body as Uint8Array);
    const stamp = parseStamp(testCurves, new Headers(init?.headers).get("x-stamp") ?? "");
    assert.equal(verifyStamp(testCurves, stamp, bytes), true);
    const body = JSON.parse(new TextDecoder().decode(bytes)) as Sent["body"];
    sent.push({ path, by: stamp.publicKey, body });
    const refusal = refusals.get(path);
    if (refusal) return Response.json({ code: 16, message: "no", ...refusal }, { status: refusal.status });
    return Response.json(answerTo(path, body));
  };
  const answerTo = (path: string, { parameters }: Sent["body"]) => {
    const completed = (result: object) => ({ activity: { status: "ACTIVITY_STATUS_COMPLETED", result } });
    if (path === "stamp_login") {
      const { publicKey, expirationSeconds = "900" } = parameters as Record<string, string>;
      return completed({
        stampLoginResult: { session: sessionToken(publicKey ?? "", Number(expirationSeconds), claims) },
      });
    }
    if (path === "delete_api_keys") return completed({ deleteApiKeysResult: parameters });
    const keys = [lasting.apiPublicKey, ...sent.filter((one) => one.path === "whoami").map((one) => one.by)];
    if (path === "get_api_keys") {
      return { apiKeys: keys.map((publicKey, i) => ({ apiKeyId: `key-${i}`, credential: { publicKey } })) };
    }
    return {};
  };
  const options = {
    baseUrl: "http://keystead.test",
    organizationId: "parent",
    loginWith: createApiKeyStamper(lasting),
    fetch,
  } satisfies SessionStamperOptions;
  return { sent, refusals, options, logIn: (more = {}) => createSessionStamper({ ...options, ...more }) };
}

test("one stamp of the lasting credential signs in; everything after it is stamped by the session's key", async () => {
  const { sent, options, logIn } = standIn();
  const session = await logIn({ expirationSeconds: 60, invalidateExisting: true });
  assert.deepEqual([session.organizationId, session.userId], ["child", "user-1"]);
  assert.equal(session.expiresAtMs, (nowSeconds + 60) * 1000);
  const { baseUrl, fetch } = options;
  await createClient({ baseUrl, fetch, organizationId: session.organizationId, stamper: session }).whoami();
  assert.deepEqual(
    sent.map(({ path, by, body }) => [path, by, body.organizationId]),
    [
      ["stamp_login", lasting.apiPublicKey, "parent"],
      ["whoami", session.key.publicKey, "child"],
    ],
  );
  assert.deepEqual(sent[0]?.body.parameters, {
    publicKey: session.key.publicKey,
    expirationSeconds: "60",
    invalidateExisting: true,
  });
});

test("the session's private key cannot be read, and no two sessions share one", async () => {
  const [one, other] = [await generateSessionKey(), await generateSessionKey()];
  assert.equal(one.privateKey.extractable, false);
  await assert.rejects(crypto.subtle.exportKey("pkcs8", one.privateKey), { name: "InvalidAccessError" });
  assert.notEqual(one.publicKey, other.publicKey);
  assert.match(one.publicKey, /^0[23][0-9a-f]{64}$/);
});

test("a refresh is the session's own act, keeps the key and moves the end", async () => {
  const { sent, logIn } = standIn();
  const session = await logIn();
  const first = session.token;
  await session.refresh({ expirationSeconds: 3600 });
  assert.equal(session.expiresAtMs, (nowSeconds + 3600) * 1000);
  assert.notEqual(session.token, first);
  const { publicKey } = session.key;
  assert.deepEqual(sent.at(-1), {
    path: "stamp_login",
    by: publicKey,
    body: { ...sent.at(-1)?.body, organizationId: "child", parameters: { publicKey, expirationSeconds: "3600" } },
  });
});

test("a session goes on from its key and token, and says which one it is", async () => {
  const { options, logIn } = standIn();
  const { key, token } = await logIn();
  const { baseUrl, fetch } = options;
  const session = resumeSession({ baseUrl, fetch, key, token });
  assert.deepEqual([session.organizationId, session.expiresAtMs], ["child", (nowSeconds + 900) * 1000]);
  await session.refresh({ expirationSeconds: 1000 });
  assert.equal(session.expiresAtMs, (nowSeconds + 1000) * 1000);
  const stranger = await generateSessionKey();
  assert.throws(() => resumeSession({ baseUrl, key: stranger, token }), /about another key/);
  for (const broken of ["", "a.b", "e30.W10.e30", "e30.e30.e30"]) {
    assert.throws(() => resumeSession({ baseUrl, key, token: broken }), /is this a Keystead server\?/);
  }
});

test("logging out deletes the session's key and no other, and ends the stamper", async () => {
  const { sent, options, logIn } = standIn();
  const session = await logIn();
  const { baseUrl, fetch } = options;
  await createClient({ baseUrl, fetch, organizationId: "child", stamper: session }).whoami();
  await session.logOut();
  assert.equal(sent.at(-1)?.path, "delete_api_keys");
  assert.deepEqual(sent.at(-1)?.body.parameters, { userId: "user-1", apiKeyIds: ["key-1"] });
  await assert.rejects(async () => session.stamp(new Uint8Array()), /logged out/);
  const count = sent.length;
  await session.logOut();
  assert.equal(sent.length, count);
});

test("logging out of a session that is over succeeds, and a refusal of another kind leaves it as it is", async () => {
  for (const errorCode of ["API_KEY_EXPIRED", "PUBLIC_KEY_NOT_FOUND"]) {
    const { refusals, logIn } = standIn();
    const session = await logIn();
    refusals.set("get_api_keys", { status: 401, errorCode });
    await session.logOut();
    await assert.rejects(async () => session.stamp(new Uint8Array()), /logged out/);
  }
  const { refusals, logIn } = standIn();
  const session = await logIn();
  refusals.set("delete_api_keys", { status: 403, errorCode: "REQUEST_NOT_AUTHORIZED" });
  await assert.rejects(session.logOut(), { name: "KeysteadError", status: 403 });
  assert.equal((await session.stamp(new Uint8Array())).name, "X-Stamp");
});

test("a token that lacks its claims is not taken for a session", async () => {
  for (const claims of [{ exp: "soon" }, { user_id: null }, { organization_id: 1 }]) {
    await assert.rejects(standIn({ claims }).logIn(), /lacks a claim/);
  }
  await assert.rejects(standIn({ claims: { public_key: lasting.apiPublicKey } }).logIn(), /about another key/);
});

test("where the platform has no WebCrypto, the error says what to do", async (t) => {
  const own = Object.getOwnPropertyDescriptor(globalThis, "crypto");
  assert.ok(own);
  t.after(() => Object.defineProperty(globalThis, "crypto", own));
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  await assert.rejects(generateSessionKey(), /open the page over https or on localhost/);
});
