/** `@turnkey/sdk-browser`. */
import assert from "node:assert/strict";
import { assertSignedHello, keyTypes } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { SdkBrowserSteps } from "./page/sdk_browser.ts";

const readWrite = "SESSION_TYPE_READ_WRITE";

export const sdkBrowserFlow: Flow = async (t, { keystead, open }) => {
  const page = await open<SdkBrowserSteps>(t, "sdk_browser");
  const { organizationId } = await page.run("register");

  await t.test("loginWithPasskey stores a session of the user's own organization, and its key signs", async () => {
    await page.run("logIn");
    const session = await page.run("session");
    const { userId } = await page.run("whoami");
    const token = await page.run("publicKey");
    assert.deepEqual({ ...session, expiry: 0 }, { sessionType: readWrite, userId, organizationId, expiry: 0, token });
    await assertSignedHello(await page.run("sign"));
  });

  await t.test("the session survives a reload of the page", async () => {
    await page.reload();
    assert.equal((await page.run("whoami")).organizationId, organizationId);
  });

  await t.test("refreshSession changes to a new key with a later end, and that signs", async () => {
    const before = { key: await page.run("publicKey"), session: await page.run("session") };
    await page.run("refresh", "3600");
    const session = await page.run("session");
    assert.ok((session?.expiry ?? 0) >= (before.session?.expiry ?? 0) + 2000);
    assert.notEqual(await page.run("publicKey"), before.key);
    await assertSignedHello(await page.run("sign"));
    assert.deepEqual(await keyTypes(keystead, organizationId), ["CREDENTIAL_TYPE_LOGIN", "CREDENTIAL_TYPE_LOGIN"]);
  });

  await t.test("logout forgets the session; without its key nothing is stamped", async () => {
    await page.run("logOut");
    assert.equal(await page.run("session"), null);
    await page.run("forgetKey");
    assert.match((await page.refusal("whoami")).message, /Key not initialized/);
    await page.reload();
  });

  await t.test("a read-write session is made with the parent's id, and its bundle opens in the page", async () => {
    const { privateKey, ...session } = await page.run("readWriteSession");
    assert.match(privateKey, /^[0-9a-f]{64}$/);
    assert.deepEqual([session.organizationId, session.username], [organizationId, "Ann"]);
    assert.ok((await keyTypes(keystead, organizationId)).includes("CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256"));
  });

  await t.test("a read-only session reads and cannot submit, and is renewed by the passkey", async () => {
    const session = await page.run("logInReadOnly");
    assert.equal(session?.sessionType, "SESSION_TYPE_READ_ONLY");
    assert.equal(session.organizationId, organizationId);
    assert.equal((await page.run("whoamiReadOnly", session.token)).organizationId, organizationId);
    const { message, code } = await page.refusal("createTagReadOnly", session.token);
    assert.equal(code, 7, message);
    const renewed = await page.run("refreshReadOnly");
    assert.ok(renewed !== null && renewed.expiry >= session.expiry);
    assert.equal((await page.run("whoamiReadOnly", renewed.token)).organizationId, organizationId);
    await page.run("logOut");
  });

  await t.test("a session ends at its time, for the server and for the client", async () => {
    await page.run("logIn", "1");
    const { message } = await page.untilRefused("whoami");
    assert.match(message, /expired api key publicKey/);
    assert.equal(await page.run("session"), null);
  });
};
