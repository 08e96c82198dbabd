/** `@turnkey/core`. */
import assert from "node:assert/strict";
import { assertSignedHello, keyTypes, sessionClaims } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { CoreClientSteps } from "./page/core_client.ts";

export const coreClientFlow: Flow = async (t, { keystead, open }) => {
  const page = await open<CoreClientSteps>(t, "core_client");
  const { organizationId, credentialId } = await page.run("register");

  await t.test(
    "loginWithPasskey with the parent's id makes a session in the user's organization, which signs",
    async () => {
      const { sessionToken } = await page.run("logIn");
      assert.equal((await sessionClaims(keystead, sessionToken)).organization_id, organizationId);
      const session = await page.run("session");
      assert.equal(session?.organizationId, organizationId);
      assert.equal((await page.run("user")).userName, "Ann");
      await assertSignedHello(await page.run("sign"));
    },
  );

  await t.test("the session survives a reload of the page", async () => {
    await page.reload();
    await assertSignedHello(await page.run("sign"));
  });

  await t.test("refreshSession changes to a new key with a later end, and that signs", async () => {
    const before = await page.run("session");
    await page.run("refresh", "3600");
    const after = await page.run("session");
    assert.ok((after?.expiry ?? 0) >= (before?.expiry ?? 0) + 2000);
    assert.notEqual(after?.publicKey, before?.publicKey);
    await assertSignedHello(await page.run("sign"));
    assert.deepEqual(await keyTypes(keystead, organizationId), ["CREDENTIAL_TYPE_LOGIN", "CREDENTIAL_TYPE_LOGIN"]);
  });

  let removedCredentialId: string | undefined;
  await t.test("a session adds a passkey to its user and takes it away again", async () => {
    const { added, names, left, ...removed } = await page.run("addAndRemovePasskey");
    removedCredentialId = removed.removedCredentialId;
    assert.equal(added.length, 1);
    assert.deepEqual([...names].sort(), ["Laptop", "Phone"]);
    assert.equal(left, 1);
  });

  await t.test("logout forgets session and key", async () => {
    await page.run("logOut");
    assert.equal(await page.run("session"), null);
    assert.equal((await page.refusal("user")).code, "NO_SESSION_FOUND");
  });

  await t.test("a deleted passkey does not log in, though the authenticator still has it", async () => {
    const { code, causes } = await page.refusal("logIn", "900", removedCredentialId);
    assert.equal(code, "PASSKEY_LOGIN_AUTH_ERROR");
    assert.match(causes.join(), /credential ID could not be found in organization or its parent organization/);
  });

  await t.test("the end of a session is one that the client recognises", async () => {
    await page.run("logIn", "1", credentialId);
    assert.equal((await page.untilRefused("user")).code, "SESSION_EXPIRED");
  });
};
