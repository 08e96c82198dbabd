/**
 * Logins go on while a real OpenID provider replaces its keys: browsers sign in at its own pages, and a real server lets them in. Nobody
 * with a valid token is refused for longer than the pause between two fetches of the provider's keys; once the server has the new keys, nobody is
 * let in by a key that is not published any more.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { refetchPauseMs } from "@keystead/core/oidc/issuer_statement.ts";
import { type OpenIdProvider, startOpenIdProvider } from "@keystead/e2e/identity/openid_provider.ts";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { type KeysteadServer, ownFault, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { createApiKeyStamper, createClient, type KeysteadError } from "@keystead/sdk";
import { nonceFor } from "../../../core/test/oidc/test_issuer.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";

const clients = 4;
/** Between two logins of a client: one per second each is a load that a slow machine bears beside other suites. */
const restMs = 1_000;
/** A login that has begun takes so long at most; a slow machine must not count as a refusal. */
const slackMs = 5_000;

type Login = { kid: string; sentAtMs: number; refusal: string | undefined };

async function createUser({ bootstrap }: KeysteadServer, provider: OpenIdProvider, user: string) {
  const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const oauthProviders = [{ providerName: "Provider", oidcToken: await provider.signIn(user, "none") }];
  const { subOrganizationId } = await createClient({ baseUrl, organizationId, stamper }).createSubOrganization({
    subOrganizationName: user,
    rootQuorumThreshold: 1,
    rootUsers: [{ userName: user, oauthProviders }],
  });
  return createClient({ baseUrl, organizationId: subOrganizationId, stamper });
}

const kidOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString("utf8")).kid;

test("logins go on while an OpenID provider replaces its keys", { timeout: testTimeoutMs }, async (t) => {
  const provider = await startOpenIdProvider();
  t.after(provider.stop);
  const server = await startKeystead();
  t.after(() => server.stop());
  const logins: Login[] = [];
  let isOver = false;

  async function signIn(user: string, inSub: Awaited<ReturnType<typeof createUser>>): Promise<void> {
    const { publicKey } = createKey();
    const oidcToken = await provider.signIn(user, nonceFor(publicKey));
    const sentAtMs = Date.now();
    const refusal = await inSub.oauthLogin({ publicKey, oidcToken }).then(
      () => undefined,
      (error: KeysteadError) => error,
    );
    if (refusal !== undefined) assert.equal(refusal.status, 400, refusal.message);
    logins.push({ kid: kidOf(oidcToken), sentAtMs, refusal: refusal?.message });
  }

  const users = await Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const user = `user-${index}`;
      return { user, inSub: await createUser(server, provider, user) };
    }),
  );
  const running = users.map(async ({ user, inSub }) => {
    for (; !isOver; await pause(restMs)) await signIn(user, inSub);
  });
  const failed = Promise.all(running).then(() => new Promise<never>(() => undefined));

  const waits: number[] = [];
  for (let rotation = 0; rotation < samples.providerRotations; rotation++) {
    await Promise.race([failed, untilAccepted(logins, provider)]);
    const { user, inSub } = users[0] as (typeof users)[number];
    const old = createKey();
    const oldToken = await provider.signIn(user, nonceFor(old.publicKey));
    const rotatedAtMs = Date.now();
    await provider.rotate({ dropsOld: true });
    const acceptedAtMs = await Promise.race([failed, untilAccepted(logins, provider)]);
    waits.push(acceptedAtMs - rotatedAtMs);
    const late = logins.filter(
      ({ refusal, sentAtMs }) => refusal !== undefined && sentAtMs > rotatedAtMs + refetchPauseMs + slackMs,
    );
    assert.deepEqual(late, [], "refused for longer than the pause");
    await assert.rejects(inSub.oauthLogin({ publicKey: old.publicKey, oidcToken: oldToken }), { status: 400 });
  }
  isOver = true;
  await Promise.all(running);
  const refused = logins.filter(({ refusal }) => refusal !== undefined);
  for (const { refusal } of refused) assert.match(refusal ?? "", /its key is not one|within this minute/);
  t.diagnostic(
    `${logins.length} logins by ${clients} clients through ${waits.length} rotations: ${refused.length} refused, for ` +
      `${waits.map((waitMs) => (waitMs / 1000).toFixed(1)).join(", ")} s until the new key was taken (pause ${refetchPauseMs / 1000} s)`,
  );
  assert.doesNotMatch(server.output(), ownFault);
});

/** Until a login under the key that signs now is accepted; when it was sent. */
async function untilAccepted(logins: readonly Login[], provider: OpenIdProvider): Promise<number> {
  for (;;) {
    const [kid] = provider.kids();
    const accepted = logins.find((login) => login.kid === kid && login.refusal === undefined);
    if (accepted !== undefined) return accepted.sentAtMs;
    await pause(50);
  }
}
