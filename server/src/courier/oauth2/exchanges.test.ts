import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type StandInProvider, startOauth2Provider } from "../../../../core/test/oauth2_provider.ts";
import type { Oauth2Reply } from "../../frames/courier_messages.ts";
import { type Oauth2Order, openAnswer, orderLifeMs, sealOrder } from "../../outbox/oauth2_order.ts";
import type { Oauth2Provider } from "../../state/oauth2_providers.ts";
import { createFetchJson } from "../fetch/fetch_json.ts";
import { createExchanges } from "./exchanges.ts";
import { type ProviderAddresses, readProviders } from "./providers.ts";

const client = { clientId: "client", clientSecret: "s3cret: ä&" };
const user = { id: "2244994945" };
const redirectUri = "https://app.example.com/back?a=b";
const courierKey = new Uint8Array(randomBytes(32));

type Rig = {
  provider: StandInProvider;
  clock: { nowMs: number };
  place: { organizationId: string; fingerprint: Uint8Array };
  order(more?: Partial<Oauth2Order>): Oauth2Order;
  give(order: Oauth2Order, place?: Rig["place"], key?: Uint8Array): Promise<Oauth2Reply>;
};

async function createRig(t: TestContext, addresses?: Partial<ProviderAddresses>): Promise<Rig> {
  const provider = await startOauth2Provider(client);
  t.after(provider.close);
  const clock = { nowMs: Date.now() };
  const name: Oauth2Provider = "OAUTH2_PROVIDER_ALPHA";
  const exchanges = createExchanges({
    courierKey,
    fetchJson: createFetchJson({ egress: "loopback" }),
    providers: new Map([[name, { ...provider.addresses, ...addresses }]]),
    now: () => clock.nowMs,
    note: () => undefined,
  });
  const place = { organizationId: randomUUID(), fingerprint: new Uint8Array(randomBytes(32)) };
  return {
    provider,
    clock,
    place,
    order: (more = {}) => ({
      provider: name,
      clientId: client.clientId,
      clientSecret: Buffer.from(client.clientSecret),
      authCode: provider.signIn(user, "verifier", redirectUri),
      redirectUri,
      codeVerifier: "verifier",
      sealedAtMs: clock.nowMs,
      ...more,
    }),
    give: (order, at = place, key = courierKey) => exchanges.exchange({ ...at, order: sealOrder(key, place, order) }),
  };
}

function refusal(reply: Oauth2Reply): [error: string, reason: string] {
  assert.ok(reply.kind === "failed");
  return [reply.value.error, reply.value.reason];
}

test("an order is exchanged, and its answer opens for its own body and client alone", async (t) => {
  const { give, order, place, clock } = await createRig(t);
  const ordered = order();
  const asked = { provider: ordered.provider, clientId: ordered.clientId };
  const reply = await give(ordered);
  assert.ok(reply.kind === "answer");
  const { sealed } = reply.value;
  const { userId, bearerToken, exchangedAtMs } = openAnswer(courierKey, place, asked, sealed) ?? assert.fail("closed");
  assert.deepEqual([userId, exchangedAtMs], [user.id, clock.nowMs]);
  assert.match(bearerToken, /^[\w-]{32}$/);
  const other = { ...place, fingerprint: new Uint8Array(randomBytes(32)) };
  for (const at of [other, { ...place, organizationId: randomUUID() }]) {
    assert.equal(openAnswer(courierKey, at, asked, sealed), undefined);
  }
  for (const client of [
    { ...asked, clientId: "another" },
    { ...asked, provider: "OAUTH2_PROVIDER_BETA" as const },
  ]) {
    assert.equal(openAnswer(courierKey, place, client, sealed), undefined);
  }
  assert.equal(openAnswer(new Uint8Array(randomBytes(32)), place, asked, sealed), undefined);
});

test("one body's code is exchanged once, however often and however many at once ask", async (t) => {
  const { give, order, provider } = await createRig(t);
  const ordered = order();
  const replies = await Promise.all(Array.from({ length: 20 }, () => give(ordered)));
  replies.push(await give(ordered));
  assert.equal(provider.exchanges, 1);
  for (const reply of replies) assert.deepEqual(reply, replies[0]);
});

test("an order that the signer has not sealed for this body, or that is over, reaches no provider", async (t) => {
  const { give, order, place, provider, clock } = await createRig(t);
  const other = { ...place, fingerprint: new Uint8Array(randomBytes(32)) };
  assert.deepEqual(refusal(await give(order(), other)), ["invalid", "the order is not the signer's"]);
  const foreign = new Uint8Array(randomBytes(32));
  assert.deepEqual(refusal(await give(order(), place, foreign)), ["invalid", "the order is not the signer's"]);
  const old = order({ sealedAtMs: clock.nowMs - orderLifeMs - 1 });
  assert.deepEqual(refusal(await give(old)), ["invalid", "the order is over"]);
  assert.equal(provider.exchanges, 0);
  assert.equal((await give(order())).kind, "answer", "the right one is not kept away by them");
});

test("a provider's no is final, and its words are not repeated", async (t) => {
  const refused = "OAUTH2_PROVIDER_X: the provider refuses the authorization code";
  const bent: [Partial<Oauth2Order>, string][] = [
    [{ authCode: "unknown" }, `${refused} (400)`],
    [{ codeVerifier: "other" }, `${refused} (400)`],
    [{ redirectUri: "https://evil.example" }, `${refused} (400)`],
    [{ clientSecret: Buffer.from("wrong") }, `${refused} (401)`],
  ];
  for (const [more, reason] of bent) {
    const { give, order, provider } = await createRig(t);
    const ordered = order(more);
    assert.deepEqual(refusal(await give(ordered)), ["refused", reason]);
    assert.deepEqual(refusal(await give(ordered)), ["refused", reason]);
    assert.equal(provider.exchanges, 1);
  }
});

test("answers that are none are refused: no token, a token with a line end, no user", async (t) => {
  const answers = [{}, [], null, { access_token: 5 }, { access_token: "a\r\nb" }, { access_token: "x".repeat(2_049) }];
  for (const body of answers) {
    const { give, order, provider } = await createRig(t);
    provider.failNext({ status: 200, body });
    assert.deepEqual(refusal(await give(order()))[0], "refused", JSON.stringify(body));
  }
  const { give, order } = await createRig(t, { userUrl: "http://127.0.0.1:1/" });
  assert.equal(refusal(await give(order()))[0], "unreachable");
});

test("a provider that does not answer may be asked again with the same order", async (t) => {
  const { give, order, provider } = await createRig(t);
  const ordered = order();
  provider.failNext({ status: 500, body: {} });
  assert.equal(refusal(await give(ordered))[0], "unreachable");
  assert.equal((await give(ordered)).kind, "answer");
});

test("a provider that the setting does not name is not configured, and the refusal names the setting", async (t) => {
  const { give, order } = await createRig(t);
  assert.deepEqual(refusal(await give(order({ provider: "OAUTH2_PROVIDER_BETA" }))), [
    "unconfigured",
    "OAUTH2_PROVIDER_DISCORD is not configured: name it in KEYSTEAD_OAUTH2_PROVIDERS",
  ]);
});

test("the setting takes the place of the built-in providers, in either spelling", () => {
  assert.deepEqual([...readProviders(undefined).keys()], ["OAUTH2_PROVIDER_ALPHA", "OAUTH2_PROVIDER_BETA"]);
  const addresses = { tokenUrl: "https://a.example/t", userUrl: "https://a.example/u" };
  for (const spelling of ["OAUTH2_PROVIDER_DISCORD", "OAUTH2_PROVIDER_BETA"]) {
    const table = readProviders(JSON.stringify({ [spelling]: addresses }));
    assert.deepEqual([...table], [["OAUTH2_PROVIDER_BETA", addresses]]);
  }
});
