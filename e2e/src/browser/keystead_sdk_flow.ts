/** Our own SDK. */
import assert from "node:assert/strict";
import { assertSignedHello, keyTypes, sessionClaims } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { KeysteadSdkSteps } from "./page/keystead_sdk.ts";

export const keysteadSdkFlow: Flow = async (t, { keystead, open }) => {
  const page = await open<KeysteadSdkSteps>(t, "keystead_sdk");
  const { organizationId } = await page.run("register");

  await t.test(
    "a passkey signs in with the parent's id, and a key that cannot be read signs from then on",
    async () => {
      const { token, publicKey, expiresAtMs, ...session } = await page.run("logIn");
      assert.equal(session.organizationId, organizationId);
      assert.equal(session.extractable, false);
      const { exp, public_key } = await sessionClaims(keystead, token);
      assert.deepEqual([exp * 1000, public_key], [expiresAtMs, publicKey]);
      assert.equal((await page.run("whoami")).userId, session.userId);
      await assertSignedHello(await page.run("sign"));
    },
  );

  await t.test("it refreshes itself, and goes on after a reload from what IndexedDB kept", async () => {
    const refreshed = await page.run("refresh", 3600);
    await page.run("store");
    await page.reload();
    assert.match((await page.refusal("whoami")).message, /nobody is signed in/);
    assert.deepEqual(await page.run("resume"), refreshed);
    await assertSignedHello(await page.run("sign"));
    assert.deepEqual(await keyTypes(keystead, organizationId), ["CREDENTIAL_TYPE_LOGIN"]);
  });

  await t.test("after logging out neither the page nor the server takes the key", async () => {
    await page.run("logOut");
    assert.match((await page.refusal("whoami")).message, /logged out/);
    await page.run("resume");
    assert.match((await page.refusal("whoami")).message, /could not find public key/);
    await page.run("logOut");
    assert.deepEqual(await keyTypes(keystead, organizationId), []);
  });

  await t.test("a session ends at its time, and then logging out is no error", async () => {
    await page.run("logIn", 1);
    assert.match((await page.untilRefused("whoami")).message, /expired api key/);
    await page.run("logOut");
  });
};
