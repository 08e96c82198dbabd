/**
 * Courier, gateway and signer killed at each step of an exchange at an OAuth 2.0 provider, on both databases. A code is exchanged once; the
 * same bytes get an identity token, or hear from then on that the provider refuses the code; and who signs in anew is let in.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { dialects, testSource } from "@keystead/e2e/databases.ts";
import { keyFrom } from "@keystead/e2e/key_pairs.ts";
import { type KeysteadServer, ownFault, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { envelope, fingerprintOf, type Json } from "@keystead/e2e/matrix/fixture.ts";
import { killIfThere } from "@keystead/e2e/process_tree.ts";
import { type Answer, call } from "@keystead/e2e/wire.ts";
import type { Store } from "@keystead/server/store/store.ts";
import { encryptOauth2ClientSecret } from "@turnkey/crypto";
import { type ProviderStep, type StandInProvider, startOauth2Provider } from "../../../core/test/oauth2_provider.ts";
import { untilAnswered } from "../acts/patience.ts";
import { freePort } from "../crash/free_port.ts";

const steps = ["code asked for", "code exchanged", "user asked for"] as const satisfies readonly ProviderStep[];
const victims = ["courier", "gateway", "signer"] as const;
type Victim = (typeof victims)[number];

const clientSecret = "s3cret";
const [redirectUri, codeVerifier] = ["https://app.example.com/back", "v".repeat(43)];

/** One death is ordered at a time; whoever reaches its step first carries it out. */
class Deaths {
  #ordered: { victim: Victim; step: ProviderStep } | undefined;
  server: KeysteadServer | undefined;
  count = 0;

  order(victim: Victim, step: ProviderStep): void {
    this.#ordered = { victim, step };
  }

  async reached(step: ProviderStep): Promise<void> {
    if (this.#ordered?.step !== step) return;
    const { victim } = this.#ordered;
    this.#ordered = undefined;
    const pid = (await this.server?.children())?.[victim];
    if (pid !== undefined && killIfThere(pid)) this.count += 1;
  }
}

async function start(t: TestContext, dialect: Store["dialect"], provider: StandInProvider) {
  const source = await testSource(t, dialect);
  if (source === undefined) return undefined;
  const server = await startKeystead({
    ...(source.kind === "postgres" && { databaseUrl: source.url }),
    // A gateway that is replaced must be found again.
    port: await freePort(),
    env: {
      KEYSTEAD_OAUTH2_PROVIDERS: JSON.stringify({ OAUTH2_PROVIDER_ALPHA: provider.addresses }),
      KEYSTEAD_PUBLIC_URL: "https://keys.example.com",
      KEYSTEAD_RESTART_PAUSE_MS: "100",
    },
  });
  t.after(() => server.stop());
  return server;
}

function createUser({ url, bootstrap }: KeysteadServer, provider: StandInProvider) {
  const { organizationId, apiPrivateKey } = bootstrap;
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  const waits = { cutOff: 0, refused: 0, unavailable: 0 };
  const post = (path: string, body: object): Promise<Answer> =>
    untilAnswered(() => call(url, `/public/v1/${path}`, key, body), waits, path);
  return {
    async register(): Promise<string> {
      const published = (await (await fetch(`${url}/.well-known/keystead.json`)).json()) as Json;
      const encryptedClientSecret = await encryptOauth2ClientSecret(
        clientSecret,
        published.publicKeys.clientSecretEncryption,
      );
      const parameters = { provider: "OAUTH2_PROVIDER_ALPHA", clientId: "client", encryptedClientSecret };
      const body = envelope("ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL", organizationId, parameters);
      const { json, text } = await post("submit/create_oauth2_credential", body);
      assert.equal(json.activity?.status, "ACTIVITY_STATUS_COMPLETED", text);
      return json.activity.result.createOauth2CredentialResult.oauth2CredentialId;
    },
    /** Of a user who has just signed in at the provider. */
    signIn(oauth2CredentialId: string) {
      const authCode = provider.signIn({ id: "2244994945" }, codeVerifier, redirectUri);
      const nonce = "00".repeat(32);
      const parameters = { oauth2CredentialId, authCode, redirectUri, codeVerifier, nonce };
      const body = envelope("ACTIVITY_TYPE_OAUTH2_AUTHENTICATE", organizationId, parameters);
      return { authCode, body, send: () => post("submit/oauth2_authenticate", body) };
    },
    async isKept(body: object): Promise<boolean> {
      const { json } = await post("query/list_activities", { organizationId, paginationOptions: { limit: "10" } });
      return json.activities.some(({ fingerprint }: Json) => fingerprint === fingerprintOf(body));
    },
  };
}

const tokenIn = ({ json }: Answer): string => json.activity.result.oauth2AuthenticateResult.oidcToken;

for (const dialect of dialects) {
  test(`a code is exchanged once whoever is killed at whatever step of the exchange, on ${dialect}`, {
    skip: process.platform !== "linux" && "needs /proc",
  }, async (t) => {
    const deaths = new Deaths();
    const provider = await startOauth2Provider({ clientSecret }, undefined, (step) => deaths.reached(step));
    t.after(provider.close);
    const server = await start(t, dialect, provider);
    if (server === undefined) return;
    deaths.server = server;
    const user = createUser(server, provider);
    const credentialId = await user.register();
    let refused = 0;
    for (const victim of victims) {
      for (const step of steps) {
        const what = `${victim} killed at ${step}`;
        deaths.order(victim, step);
        const { authCode, body, send } = user.signIn(credentialId);
        const answer = await send();
        assert.equal(provider.granted.filter((code) => code === authCode).length, 1, `${what}: exchanged once`);
        if (answer.status === 200) assert.equal(tokenIn(await send()), tokenIn(answer), `${what}: the same answer`);
        else {
          refused += 1;
          assert.notEqual(victim, "signer", `${what}: the courier remembers`);
          assert.match(answer.json.message, /the provider refuses the authorization code/, what);
          assert.deepEqual((await send()).json, answer.json, `${what}: the same refusal`);
        }
        assert.equal(await user.isKept(body), answer.status === 200, what);
        assert.equal((await user.signIn(credentialId).send()).status, 200, `${what}: who signs in anew is let in`);
      }
    }
    t.diagnostic(
      `${dialect}: ${victims.length * steps.length} exchanges, ${deaths.count} kills, ${refused} refused because the code was used up; ` +
        `${provider.granted.length} codes exchanged, each once`,
    );
    assert.equal(deaths.count, victims.length * steps.length, "everybody who was to be killed was");
    assert.equal(new Set(provider.granted).size, provider.granted.length);
    assert.doesNotMatch(server.output(), ownFault);
  });
}
