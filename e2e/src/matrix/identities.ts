/** create_oauth_providers, delete_oauth_providers, get_oauth_providers, oauth_login, oauth. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { loopbackIssuer } from "../identity/loopback_issuer.ts";
import { createKey } from "../key_pairs.ts";
import { exhausted, invalid, notFound } from "../refusals.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { noSuchUser } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { byId, newUser } from "./people.ts";
import { badLifetimes, claimsOf, newKeyOf, tooLong } from "./sessions.ts";
import type { Place } from "./stage.ts";

type Provider = { providerName: string; oidcToken: string };
type Params = { userId: string; oauthProviders: Provider[] };

const invalidToken = (why: string | RegExp) =>
  invalid(typeof why === "string" ? `invalid OIDC token: ${why}` : why, "INVALID_OIDC_TOKEN");

/** An identity that nobody has registered yet. */
async function newProvider(claims: Json = {}): Promise<Provider> {
  const { token } = await loopbackIssuer();
  return { providerName: "Issuer", oidcToken: token({ sub: randomUUID(), ...claims }) };
}

function subjectIn({ oidcToken }: Provider): string {
  return JSON.parse(Buffer.from(oidcToken.split(".")[1] ?? "", "base64url").toString("utf8")).sub;
}

const badProvider = (
  name: string,
  provider: () => Promise<Json>,
  refusal: BadInput<Params>["refusal"],
): BadInput<Params> => ({
  name,
  bend: async (good) => ({ ...good, oauthProviders: [await provider()] }),
  refusal,
  kept: "FAILED",
});

export const createOauthProviders = activityEntry<Params>({
  good: async (fixture) => ({
    userId: await newUser(fixture),
    oauthProviders: [await newProvider(), await newProvider()],
  }),
  required: ["userId", "oauthProviders", "oauthProviders.0.providerName"],
  result: ({ userId, oauthProviders }, { after }) => {
    const shown = byId(after.users, "userId", userId).oauthProviders;
    return { providerIds: oauthProviders.map((each) => byId(shown, "subject", subjectIn(each)).providerId) };
  },
  async shows({ userId, oauthProviders }, { before, after }) {
    assert.deepEqual(byId(before.users, "userId", userId).oauthProviders, []);
    const { issuer } = await loopbackIssuer();
    const shown = byId(after.users, "userId", userId).oauthProviders;
    assert.equal(shown.length, oauthProviders.length);
    for (const provider of shown) {
      assert.deepEqual([provider.providerName, provider.issuer, provider.audience], ["Issuer", issuer, "client-1"]);
    }
  },
  bad: [
    {
      name: "no identity",
      bend: (good) => ({ ...good, oauthProviders: [] }),
      refusal: invalid("invalid request body: field `parameters.oauthProviders` must not have fewer than 1 items"),
    },
    badProvider(
      "neither token nor claims",
      async () => ({ providerName: "Issuer" }),
      invalid("invalid oauth provider: give either oidcToken or oidcClaims"),
    ),
    badProvider(
      "claims that nobody vouches for",
      async () => ({ providerName: "Issuer", oidcClaims: { iss: "https://a.example", sub: "s", aud: "a" } }),
      invalidToken(/^invalid oauth provider: oidcClaims need an oidcToken/),
    ),
    badProvider(
      "no token",
      async () => ({ providerName: "Issuer", oidcToken: "abc" }),
      invalidToken("neither a compact JWT nor base64 of one"),
    ),
    badProvider(
      "a token of nobody's",
      async () => ({ providerName: "Issuer", oidcToken: "e30.e30.AA" }),
      invalidToken("its header has no `alg`"),
    ),
    badProvider(
      "a token that has expired",
      () => newProvider({ exp: Math.floor(Date.now() / 1000) - 61 }),
      invalidToken("it has expired"),
    ),
    badProvider(
      "a token for several applications",
      () => newProvider({ aud: ["a", "b"] }),
      invalidToken("`aud` must have exactly one element"),
    ),
    {
      name: "an eleventh identity",
      bend: async (good) => ({
        ...good,
        oauthProviders: await Promise.all(Array.from({ length: 11 }, () => newProvider())),
      }),
      refusal: exhausted("user has exceeded maximum oauth providers: delete one with delete_oauth_providers first"),
      kept: "FAILED",
    },
  ],
  foreign: [{ name: "a user", bend: (good, { userId }) => ({ ...good, userId }), refusal: noSuchUser }],
  own: async ({ place }) => ({ userId: place.member.userId, oauthProviders: [await newProvider()] }),
  openToParent: true,
  bearerParams: ["oidcToken"],
  versions: {
    ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: async (fixture) => ({
      userId: await newUser(fixture),
      oauthProviders: [await newProvider()],
    }),
  },
});

async function userWithProviders(fixture: Fixture, place: Place = fixture.place): Promise<string> {
  const oauthProviders = [await newProvider(), await newProvider()];
  const user = { userName: `User ${randomUUID()}`, apiKeys: [], authenticators: [], userTags: [], oauthProviders };
  const { userIds } = await fixture.done("create_users", { users: [user] }, place.root, place);
  return userIds[0];
}

async function idsOf(fixture: Fixture, userId: string, place: Place = fixture.place): Promise<string[]> {
  const { oauthProviders } = await fixture.ask("get_oauth_providers", { userId }, place.root, place);
  return oauthProviders.map(({ providerId }: Json) => providerId);
}

export const deleteOauthProviders = activityEntry<{ userId: string; providerIds: string[] }>({
  good: async (fixture) => {
    const userId = await userWithProviders(fixture);
    return { userId, providerIds: (await idsOf(fixture, userId)).slice(0, 1) };
  },
  required: ["userId", "providerIds"],
  result: ({ providerIds }) => ({ providerIds }),
  shows({ userId, providerIds }, { before, after }) {
    const of = (users: Json[]) => byId(users, "userId", userId).oauthProviders;
    assert.deepEqual(
      of(after.users),
      of(before.users).filter(({ providerId }: Json) => !providerIds.includes(providerId)),
    );
  },
  bad: [
    {
      name: "no identity",
      bend: (good) => ({ ...good, providerIds: [] }),
      refusal: invalid("invalid request body: field `parameters.providerIds` must not have fewer than 1 items"),
    },
    {
      name: "the last credential",
      bend: async ({ userId }, fixture) => ({ userId, providerIds: await idsOf(fixture, userId) }),
      refusal: ({ userId }) =>
        invalid(
          `user missing valid credential: ${userId}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
        ),
      kept: "FAILED",
    },
    {
      name: "an identity that the user does not have",
      bend: ({ userId, providerIds: [one] }) => ({ userId, providerIds: [one, randomUUID()] }),
      refusal: ({ userId, providerIds }) =>
        notFound(`unable to find oauth provider ${providerIds[1]} of user ${userId}`),
      kept: "FAILED",
    },
  ],
  foreign: [{ name: "a user", bend: (good, { userId }) => ({ ...good, userId }), refusal: noSuchUser }],
  own: async (fixture) => {
    const { userId } = fixture.place.member;
    const oauthProviders = [await newProvider()];
    const { providerIds } = await fixture.done("create_oauth_providers", { userId, oauthProviders });
    return { userId, providerIds };
  },
});

export const getOauthProviders = queryEntry<{ userId: string }>({
  good: async (fixture, place) => ({ userId: await userWithProviders(fixture, place) }),
  required: [],
  answer: async ({ userId }, { oauthProviders, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    assert.deepEqual(oauthProviders, (await fixture.ask("get_user", { userId })).user.oauthProviders);
    assert.equal(oauthProviders.length, 2);
  },
  bad: [],
  foreign: [{ name: "a user", bend: (_, { userId }) => ({ userId }), refusal: noSuchUser }],
});

/** The subject of each place's root user, once it has one. */
const subjects = new WeakMap<Place, string>();

/** The root user's identity, registered when it is first needed. */
export async function subjectOf(fixture: Fixture, place: Place = fixture.place): Promise<string> {
  const known = subjects.get(place);
  if (known !== undefined) return known;
  const subject = randomUUID();
  subjects.set(place, subject);
  const oauthProviders = [await newProvider({ sub: subject })];
  await fixture.done("create_oauth_providers", { userId: place.root.userId, oauthProviders }, place.root, place);
  return subject;
}

type Login = { oidcToken: string; publicKey: string; expirationSeconds: string };

async function loginWith(fixture: Fixture, publicKey = createKey().publicKey, claims: Json = {}): Promise<Login> {
  const { token } = await loopbackIssuer();
  const oidcToken = token({ sub: await subjectOf(fixture), ...claims }, publicKey);
  return { oidcToken, publicKey, expirationSeconds: "3600" };
}

const badLogin = (
  name: string,
  bend: (good: Login, fixture: Fixture) => object | Promise<object>,
  why: string,
): BadInput<Login> => ({ name, bend, refusal: invalidToken(why), kept: "FAILED" });

export const oauthLogin = activityEntry<Login>({
  good: (fixture) => loginWith(fixture),
  required: ["oidcToken", "publicKey"],
  result({ publicKey }, { result }, { place }) {
    const { exp, ...claims } = claimsOf(result.session);
    const { organizationId, root } = place;
    const expected = { public_key: publicKey, session_type: "SESSION_TYPE_READ_WRITE" };
    assert.deepEqual(claims, { ...expected, user_id: root.userId, organization_id: organizationId });
    assert.ok(exp > Date.now() / 1000);
    return result;
  },
  shows({ publicKey }, seen, fixture) {
    const { credential, expirationSeconds } = newKeyOf(fixture, seen);
    assert.deepEqual(credential, { publicKey, type: "CREDENTIAL_TYPE_LOGIN" });
    assert.equal(expirationSeconds, "3600");
  },
  bad: [
    ...(badLifetimes as BadInput<Login>[]),
    tooLong as BadInput<Login>,
    badLogin("no token", (good) => ({ ...good, oidcToken: "abc" }), "neither a compact JWT nor base64 of one"),
    badLogin(
      "a token for another key",
      (good) => ({ ...good, publicKey: createKey().publicKey }),
      "its nonce is not the hash of the public key",
    ),
    badLogin(
      "an altered token",
      (good) => ({ ...good, oidcToken: good.oidcToken.replace(/[^.]{8}$/, "AAAAAAAA") }),
      "its signature is not its issuer's",
    ),
    {
      name: "an issuer that cannot be reached",
      bend: (good, fixture) => loginWith(fixture, good.publicKey, { iss: "http://127.0.0.1:1" }),
      refusal: invalid(/`http:\/\/127\.0\.0\.1:1`/),
    },
  ],
  foreign: [],
  neverWaits: true,
  openToParent: true,
  bearerField: "session",
  bearerParams: ["oidcToken"],
  also: {
    "the parent's server signs a user of its sub-organization in, by the identity that is registered there": async (
      fixture,
    ) => {
      const { parent, sub } = fixture;
      const { token } = await loopbackIssuer();
      const subject = await subjectOf(fixture, sub);
      const key = createKey();
      const login = (claims: Json) => ({ oidcToken: token(claims, key.publicKey), publicKey: key.publicKey });
      const unknown = await fixture.submit("oauth_login", login({ sub: randomUUID() }), parent.root, sub);
      assert.equal(unknown.status, 401, unknown.text);
      assert.match(unknown.text, /CREDENTIAL_NOT_FOUND/);
      await fixture.done("oauth_login", login({ sub: subject }), parent.root, sub);
      const me = await fixture.ask("whoami", {}, { ...sub.root, p256: key }, sub);
      assert.equal(me.userId, sub.root.userId);
      const filter = { filterType: "OIDC_TOKEN", filterValue: token({ sub: subject }) };
      const found: Json = await fixture.ask("list_suborgs", filter, parent.root, parent);
      assert.deepEqual(found.organizationIds, [sub.organizationId]);
    },
  },
});

type Oauth = { oidcToken: string; targetPublicKey: string };

export const oauth = activityEntry<Oauth>({
  async good(fixture) {
    const { publicKey } = createKey();
    return { oidcToken: (await loginWith(fixture, publicKey)).oidcToken, targetPublicKey: publicKey };
  },
  required: ["oidcToken", "targetPublicKey"],
  result(_sent, { result }, { place }) {
    assert.equal(result.userId, place.root.userId);
    assert.ok(result.credentialBundle.length > 100);
    return result;
  },
  shows(_sent, seen, fixture) {
    const { credential, apiKeyName } = newKeyOf(fixture, seen);
    assert.equal(credential.type, "CREDENTIAL_TYPE_OAUTH_KEY_P256");
    assert.match(apiKeyName, /^Oauth - /);
  },
  bad: [
    ...(badLifetimes as unknown as BadInput<Oauth>[]),
    {
      name: "a token for another key",
      bend: (good) => ({ ...good, targetPublicKey: createKey().publicKey }),
      refusal: invalidToken("its nonce is not the hash of the public key"),
      kept: "FAILED",
    },
  ],
  foreign: [],
  neverWaits: true,
  openToParent: true,
  bearerField: "credentialBundle",
  bearerParams: ["oidcToken"],
});
