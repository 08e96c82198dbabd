/** Signing in with a real OpenID provider: its own login page, its tokens, its keys as it replaces them. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { createApiKeyStamper, createClient, type KeysteadError } from "@keystead/sdk";
import { patienceMs } from "../../../core/test/patience.ts";
import { createKey } from "../key_pairs.ts";
import { startKeystead } from "../keystead_server.ts";
import { startOpenIdProvider } from "./openid_provider.ts";

const nonceFor = (publicKey: string) => createHash("sha256").update(publicKey).digest("hex");

test("a user signs up and in by an OpenID provider, before and after the provider has replaced its keys", async (t) => {
  const provider = await startOpenIdProvider();
  t.after(provider.stop);
  const server = await startKeystead();
  t.after(() => server.stop());
  const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const parent = createClient({ baseUrl, organizationId, stamper });
  const { subOrganizationId } = await parent.createSubOrganization({
    subOrganizationName: "Ann",
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: "Ann",
        oauthProviders: [{ providerName: "Provider", oidcToken: await provider.signIn("ann", "none") }],
      },
    ],
  });
  const inSub = createClient({ baseUrl, organizationId: subOrganizationId, stamper });

  /** A session key whose token the provider has just issued. */
  const tokenFor = async (user: string) => {
    const { publicKey, privateKey } = createKey();
    return { publicKey, privateKey, oidcToken: await provider.signIn(user, nonceFor(publicKey)) };
  };
  type Login = Awaited<ReturnType<typeof tokenFor>>;
  const login = ({ publicKey, oidcToken }: Login) => inSub.oauthLogin({ publicKey, oidcToken });
  const whoIs = async ({ publicKey, privateKey }: Login) => {
    const own = createApiKeyStamper({
      apiPublicKey: publicKey,
      apiPrivateKey: Buffer.from(privateKey).toString("hex"),
    });
    return (await createClient({ baseUrl, organizationId: subOrganizationId, stamper: own }).whoami()).username;
  };

  const first = await tokenFor("ann");
  await login(first);
  assert.equal(await whoIs(first), "Ann");
  await assert.rejects(login(await tokenFor("eve")), "an identity that nobody here has");
  await assert.rejects(login({ ...first, publicKey: createKey().publicKey }), { status: 400, message: /its nonce/ });

  // Its next tokens name a key that was not there when its keys were fetched.
  const old = await tokenFor("ann");
  await provider.rotate({ dropsOld: true });
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const next = await tokenFor("ann");
    const refused = await login(next).then(
      () => undefined,
      (error: KeysteadError) => error,
    );
    if (refused === undefined) {
      assert.equal(await whoIs(next), "Ann");
      break;
    }
    // An issuer is asked once a minute.
    assert.equal(refused.status, 400, refused.message);
    assert.ok(Date.now() < deadline, refused.message);
    await pause(2_000);
  }
  await assert.rejects(login(old), { status: 400 }, "a token of the retired key");
  assert.equal(await whoIs(first), "Ann", "a session outlives the key that began it");
});
