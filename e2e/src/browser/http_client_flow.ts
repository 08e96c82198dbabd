/** `@turnkey/http` with `@turnkey/webauthn-stamper` and `@turnkey/indexed-db-stamper`. */
import assert from "node:assert/strict";
import { assertSignedHello, keyTypes, sessionClaims } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { HttpClientSteps } from "./page/http_client.ts";

export const httpClientFlow: Flow = async (t, { keystead, parentId, open }) => {
  const page = await open<HttpClientSteps>(t, "http_client");
  const { organizationId } = await page.run("register");
  const { userId } = await page.run("whoamiByPasskey", organizationId);

  await t.test("a registered passkey is found by the parent's id and by its own", async () => {
    const { organizationId: found, username } = await page.run("whoamiByPasskey", parentId);
    assert.deepEqual([found, username], [organizationId, "Ann"]);
  });

  await t.test("a login with the parent's id makes the key in IndexedDB a session, which signs", async () => {
    const claims = await sessionClaims(keystead, await page.run("logIn"));
    assert.deepEqual(
      { ...claims, exp: 0 },
      {
        exp: 0,
        public_key: await page.run("publicKey"),
        session_type: "SESSION_TYPE_READ_WRITE",
        user_id: userId,
        organization_id: organizationId,
      },
    );
    assert.equal((await page.run("whoami", organizationId)).userId, userId);
    await assertSignedHello(await page.run("sign", organizationId));
  });

  await t.test("the session survives a reload of the page, and is found by the parent's id too", async () => {
    await page.reload();
    assert.equal((await page.run("whoami", parentId)).organizationId, organizationId);
    await assertSignedHello(await page.run("sign", organizationId));
  });

  await t.test("the session refreshes itself: same key, later end", async () => {
    const before = await sessionClaims(keystead, await page.run("logIn", "600"));
    const after = await sessionClaims(keystead, await page.run("refresh", organizationId, "3600"));
    assert.equal(after.public_key, before.public_key);
    assert.ok(after.exp >= before.exp + 3000);
    assert.deepEqual(await keyTypes(keystead, organizationId), ["CREDENTIAL_TYPE_LOGIN"]);
  });

  await t.test("a read-write session comes as a bundle that only this page opens, and its key signs", async () => {
    const session = await page.run("startReadWriteSession");
    assert.deepEqual([session.organizationId, session.userId], [organizationId, userId]);
    await assertSignedHello(await page.run("signWithBundleKey"));
    assert.deepEqual(await keyTypes(keystead, organizationId), [
      "CREDENTIAL_TYPE_LOGIN",
      "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256",
    ]);
  });

  await t.test("after logging out the server knows the key no more, and then the browser does not", async () => {
    assert.equal(await page.run("logOut", organizationId, userId), "ACTIVITY_STATUS_COMPLETED");
    const { message } = await page.refusal("whoami", organizationId);
    assert.match(message, /could not find public key in organization or its parent organization/);
    await page.run("forgetKey");
    assert.match((await page.refusal("whoami", organizationId)).message, /Key not initialized/);
  });

  await t.test("a session ends at its time", async () => {
    await page.reload();
    await page.run("logIn", "1");
    const { message } = await page.untilRefused("whoami", organizationId);
    assert.match(message, /rpc error: code = Unauthenticated desc = expired api key publicKey=0[23][0-9a-f]{64}/);
  });
};
