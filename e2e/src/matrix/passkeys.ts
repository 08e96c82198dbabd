/** create_authenticators, delete_authenticators, get_authenticator, get_authenticators. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { base64url, clientDataJson, flags, sha256 } from "../../../core/test/webauthn/authenticator.ts";
import { type AuthenticatorParams, authenticatorParams, createPasskey } from "../passkeys.ts";
import { exhausted, invalid, notFound } from "../refusals.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import { noSuchUser } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { byId, newUser } from "./people.ts";
import type { Place } from "./stage.ts";

const rpIdOfPasskeys = "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR";

/** What a reader sees of a passkey that was registered so. */
function shown({ authenticatorName, attestation: { credentialId, transports } }: AuthenticatorParams) {
  return {
    authenticatorName,
    credentialId,
    transports,
    attestationType: "none",
    aaguid: "00000000-0000-0000-0000-000000000000",
    model: "",
  };
}

function withoutOurs({ authenticatorId, credential, createdAt: _, updatedAt: __, ...rest }: Json): Json {
  assert.match(authenticatorId, /^[0-9a-f-]{36}$/);
  assert.equal(credential.type, rpIdOfPasskeys);
  assert.match(credential.publicKey, /^0[23][0-9a-f]{64}$/);
  return rest;
}

type Params = { authenticators: AuthenticatorParams[]; userId: string };

/** A registration whose parts do not belong together, and why. */
function flawed(
  name: string,
  params: () => AuthenticatorParams,
  why: string | RegExp,
  text = "invalid authenticator attestation",
): BadInput<Params> {
  const message = typeof why === "string" ? `${text}${why === "" ? "" : ": "}${why}` : why;
  const bend = (good: Params) => ({ ...good, authenticators: [params()] });
  return { name, bend, refusal: invalid(message), kept: "FAILED" };
}

type Parts = Parameters<NonNullable<Parameters<typeof authenticatorParams>[1]>>[0];

const changed = (change: (parts: Parts) => Partial<Parts>) => () =>
  authenticatorParams(createPasskey(), (parts) => ({ ...parts, ...change(parts) }));

/** With other flags, or other bytes of the authenticator's. */
const changedData = (change: (data: Parts["authenticator"]) => Partial<Parts["authenticator"]>) =>
  changed(({ authenticator }) => ({ authenticator: { ...authenticator, ...change(authenticator) } }));

/** What the browser says of the page and of what it did there. */
const fromBrowser = (type: string, origin: string) =>
  changed(({ challenge }) => ({ clientDataJson: clientDataJson(type, challenge, origin) }));

const changedObject = (change: (bytes: Buffer) => Uint8Array) => () => {
  const { attestation, ...params } = authenticatorParams();
  const bytes = Buffer.from(attestation.attestationObject, "base64url");
  return { ...params, attestation: { ...attestation, attestationObject: base64url(change(bytes)) } };
};

const rpOrigin = "https://app.example.com";

const flawedRegistrations: readonly BadInput<Params>[] = [
  flawed("a stamp instead of a registration", fromBrowser("webauthn.get", rpOrigin), "the type is not webauthn.create"),
  flawed(
    "a page without encryption",
    fromBrowser("webauthn.create", "http://app.example.com"),
    "the origin `http://app.example.com` is neither https nor localhost",
  ),
  flawed(
    "a page of another domain",
    fromBrowser("webauthn.create", "https://evil.example"),
    "the origin `https://evil.example` is outside the passkey's domain",
  ),
  flawed(
    "a passkey for another domain",
    changedData(() => ({ rpIdHash: sha256("evil.example") })),
    `the origin \`${rpOrigin}\` is outside the passkey's domain`,
  ),
  flawed(
    "a user who was not present",
    changedData((data) => ({ flags: data.flags & ~flags.up })),
    "the user was not present",
  ),
  flawed(
    "no new credential",
    changedData((data) => ({ flags: data.flags & ~flags.at, attested: new Uint8Array() })),
    "no credential in the authenticator data",
  ),
  flawed(
    "a flag that says there is none",
    changedData((data) => ({ flags: data.flags & ~flags.at })),
    "malformed authenticator data: trailing bytes",
  ),
  flawed(
    "a backup of what cannot be backed up",
    changedData((data) => ({ flags: data.flags | flags.bs })),
    "malformed authenticator data: backed up, but not eligible for backup",
  ),
  flawed(
    "an algorithm that passkeys do not have here",
    () => {
      const { passkey, credentialId } = createPasskey();
      const coseKey = passkey.coseKey.map(([label, value]) => [label, label === 3 ? -8 : value] as const);
      return authenticatorParams({ passkey: { ...passkey, coseKey }, credentialId });
    },
    "unsupported algorithm -8: passkeys are made with -7 (ES256) and -257 (RS256)",
  ),
  flawed(
    "an attestation object that is cut",
    changedObject((bytes) => bytes.subarray(0, -1)),
    /^invalid authenticator attestation: /,
  ),
  flawed(
    "an attestation object without authenticator data",
    changedObject(() => Uint8Array.of(0xa0)),
    "",
    "missing parameter: user authenticator attestation auth data",
  ),
  flawed(
    "bytes behind the authenticator data",
    changedData(() => ({ extensions: Uint8Array.of(0) })),
    "malformed authenticator data: trailing bytes",
  ),
];

export const createAuthenticators = activityEntry<Params>({
  good: async (fixture) => ({
    authenticators: [authenticatorParams(), authenticatorParams()],
    userId: await newUser(fixture),
  }),
  required: [
    "authenticators",
    "userId",
    ...["authenticatorName", "challenge", "attestation"].map((name) => `authenticators.0.${name}`),
    ...["credentialId", "clientDataJson", "attestationObject", "transports"].map(
      (name) => `authenticators.0.attestation.${name}`,
    ),
  ],
  result: ({ authenticators, userId }, { after }) => ({
    authenticatorIds: authenticators.map(
      ({ authenticatorName }) =>
        byId(byId(after.users, "userId", userId).authenticators, "authenticatorName", authenticatorName)
          .authenticatorId,
    ),
  }),
  shows({ authenticators, userId }, { after }) {
    const seen = byId(after.users, "userId", userId).authenticators.map(withoutOurs);
    const byName = (one: Json, other: Json) => (one.authenticatorName < other.authenticatorName ? -1 : 1);
    assert.deepEqual(seen.toSorted(byName), authenticators.map(shown).toSorted(byName));
  },
  bad: [
    {
      name: "no passkey",
      bend: (good) => ({ ...good, authenticators: [] }),
      refusal: invalid("invalid request body: field `parameters.authenticators` must not have fewer than 1 items"),
    },
    {
      name: "another challenge than the browser signed",
      bend: (good) => ({ ...good, authenticators: [{ ...authenticatorParams(), challenge: "b3RoZXI" }] }),
      refusal: invalid("invalid authenticator attestation: the challenge differs"),
      kept: "FAILED",
    },
    {
      name: "another credential id than the authenticator gave",
      bend: (good) => {
        const { attestation, ...params } = authenticatorParams();
        return { ...good, authenticators: [{ ...params, attestation: { ...attestation, credentialId: "AAAA" } }] };
      },
      refusal: invalid("invalid authenticator attestation: the credential id differs"),
      kept: "FAILED",
    },
    {
      name: "bytes behind the attestation object",
      bend: (good) => {
        const { attestation, ...params } = authenticatorParams();
        const attestationObject = Buffer.concat([
          Buffer.from(attestation.attestationObject, "base64url"),
          Uint8Array.of(0),
        ]).toString("base64url");
        return { ...good, authenticators: [{ ...params, attestation: { ...attestation, attestationObject } }] };
      },
      refusal: invalid(/^invalid authenticator attestation: /),
      kept: "FAILED",
    },
    ...flawedRegistrations,
    {
      name: "a transport that is none",
      bend: (good) => {
        const { attestation, ...params } = authenticatorParams();
        const transports = ["AUTHENTICATOR_TRANSPORT_CABLE"];
        return { ...good, authenticators: [{ ...params, attestation: { ...attestation, transports } }] };
      },
      refusal: invalid(
        /^invalid request body: field `parameters\.authenticators\.0\.attestation\.transports\.0` must be one of /,
      ),
    },
    {
      name: "a passkey that another user has",
      bend: async (good, fixture) => {
        const params = authenticatorParams();
        await newUser(fixture, { authenticators: [params] });
        return { ...good, authenticators: [params] };
      },
      refusal: { ...exhausted(/already belongs to a user of this organization/), status: 409, code: 6 },
      kept: "FAILED",
    },
    {
      name: "one passkey twice",
      bend: (good) => {
        const params = authenticatorParams();
        return { ...good, authenticators: [params, params] };
      },
      refusal: { ...exhausted(/already belongs to a user of this organization/), status: 409, code: 6 },
      kept: "FAILED",
    },
    {
      name: "an eleventh passkey",
      bend: async (good, fixture) => {
        const authenticators = Array.from({ length: 10 }, () => authenticatorParams());
        const userId = await newUser(fixture, { authenticators });
        return { ...good, userId };
      },
      refusal: exhausted("user has exceeded maximum authenticators: delete one with delete_authenticators first"),
      kept: "FAILED",
    },
  ],
  foreign: [{ name: "a user", bend: (good, { userId }) => ({ ...good, userId }), refusal: noSuchUser }],
  own: ({ place }) => ({ authenticators: [authenticatorParams()], userId: place.member.userId }),
  versions: {
    ACTIVITY_TYPE_CREATE_AUTHENTICATORS: async (fixture) => {
      const userId = await newUser(fixture);
      const { attestation, ...params } = authenticatorParams();
      const { credentialId, ...response } = attestation;
      const first = { id: credentialId, rawId: credentialId, type: "public-key", response, clientExtensionResults: {} };
      return { userId, authenticators: [{ ...params, userId, attestation: first }] };
    },
  },
});

/** Ids of the user's passkeys. */
async function idsOf(fixture: Fixture, userId: string, place: Place = fixture.place): Promise<string[]> {
  const { authenticators } = await fixture.ask("get_authenticators", { userId }, place.root, place);
  return authenticators.map(({ authenticatorId }: Json) => authenticatorId);
}

export const deleteAuthenticators = activityEntry<{ userId: string; authenticatorIds: string[] }>({
  good: async (fixture) => {
    const authenticators = Array.from({ length: 3 }, () => authenticatorParams());
    const userId = await newUser(fixture, { apiKeys: [], authenticators });
    return { userId, authenticatorIds: (await idsOf(fixture, userId)).slice(0, 2) };
  },
  required: ["userId", "authenticatorIds"],
  result: ({ authenticatorIds }) => ({ authenticatorIds }),
  shows({ userId, authenticatorIds }, { before, after }) {
    const passkeys = (users: Json[]) => byId(users, "userId", userId).authenticators;
    assert.deepEqual(
      passkeys(after.users),
      passkeys(before.users).filter(({ authenticatorId }: Json) => !authenticatorIds.includes(authenticatorId)),
    );
  },
  bad: [
    {
      name: "no passkey",
      bend: (good) => ({ ...good, authenticatorIds: [] }),
      refusal: invalid("invalid request body: field `parameters.authenticatorIds` must not have fewer than 1 items"),
    },
    {
      name: "the last credential",
      bend: async ({ userId }, fixture) => ({ userId, authenticatorIds: await idsOf(fixture, userId) }),
      refusal: ({ userId }) =>
        invalid(
          `user missing valid credential: ${userId}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
        ),
      kept: "FAILED",
    },
    {
      name: "a passkey that the user does not have",
      bend: ({ userId, authenticatorIds: [one] }) => ({ userId, authenticatorIds: [one, randomUUID()] }),
      refusal: ({ userId, authenticatorIds }) =>
        notFound(`unable to find authenticator ${authenticatorIds[1]} of user ${userId}`),
      kept: "FAILED",
    },
  ],
  foreign: [{ name: "a user", bend: (good, { userId }) => ({ ...good, userId }), refusal: noSuchUser }],
  own: async (fixture) => {
    const { userId } = fixture.place.member;
    const authenticators = [authenticatorParams()];
    const { authenticatorIds } = await fixture.done("create_authenticators", { userId, authenticators });
    return { userId, authenticatorIds };
  },
});

async function passkeyUser(fixture: Fixture, place: Place): Promise<string> {
  const users = [{ userName: `User ${randomUUID()}`, apiKeys: [], oauthProviders: [], userTags: [] }];
  const authenticators = [authenticatorParams(createPasskey()), authenticatorParams(createPasskey())];
  const parameters = { users: users.map((user) => ({ ...user, authenticators })) };
  const { userIds } = await fixture.done("create_users", parameters, place.root, place);
  return userIds[0];
}

export const getAuthenticator = queryEntry<{ authenticatorId: string }>({
  good: async (fixture, place) => {
    const [authenticatorId = ""] = await idsOf(fixture, await passkeyUser(fixture, place), place);
    return { authenticatorId };
  },
  required: ["authenticatorId"],
  answer: ({ authenticatorId }, { authenticator, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.equal(authenticator.authenticatorId, authenticatorId);
    withoutOurs(authenticator);
  },
  bad: [],
  foreign: [
    {
      name: "a key, which is no passkey",
      bend: (_, { apiKeyId }) => ({ authenticatorId: apiKeyId }),
      refusal: ({ apiKeyId }, { organizationId }) =>
        notFound(`unable to find authenticator ${apiKeyId} in organization ${organizationId}`),
    },
  ],
});

export const getAuthenticators = queryEntry<{ userId: string }>({
  good: async (fixture, place) => ({ userId: await passkeyUser(fixture, place) }),
  required: ["userId"],
  answer: async ({ userId }, { authenticators, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    assert.deepEqual(authenticators, (await fixture.ask("get_user", { userId })).user.authenticators);
    assert.equal(authenticators.length, 2);
  },
  bad: [],
  foreign: [{ name: "a user", bend: (_, { userId }) => ({ userId }), refusal: noSuchUser }],
});
