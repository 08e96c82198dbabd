/** OAuth 2.0 credentials: create_, update_, delete_, get_oauth2_credential, list_oauth2_credentials; and oauth2_authenticate. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { encryptOauth2ClientSecret } from "@turnkey/crypto";
import { clientSecret, oauth2Provider, oauth2Settings } from "../oauth2_provider.ts";
import { invalid, notFound } from "../refusals.ts";
import type { Refusal } from "../wire.ts";
import { activityEntry, type BadInput, queryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";
import { added } from "./keys.ts";
import { byId } from "./people.ts";
import type { Place } from "./stage.ts";

type CredentialParams = { provider: string; clientId: string; encryptedClientSecret: string };

/** As an application would: with the published client, to the server's published key. */
async function credentialParams({ url }: Fixture, more: Partial<CredentialParams> = {}): Promise<CredentialParams> {
  const published = (await (await fetch(`${url}/.well-known/keystead.json`)).json()) as Json;
  const encryptedClientSecret = await encryptOauth2ClientSecret(
    clientSecret,
    published.publicKeys.clientSecretEncryption,
  );
  return { provider: "OAUTH2_PROVIDER_ALPHA", clientId: randomUUID(), encryptedClientSecret, ...more };
}

async function newCredential(fixture: Fixture, place: Place = fixture.place): Promise<string> {
  const params = await credentialParams(fixture);
  return (await fixture.done("create_oauth2_credential", params, place.root, place)).oauth2CredentialId;
}

const noSuchCredential = (oauth2CredentialId: string, { organizationId }: Place): Refusal => ({
  ...notFound(`unable to find OAuth 2.0 credential ${oauth2CredentialId} in organization ${organizationId}`),
  errorCode: "OAUTH2_CREDENTIAL_NOT_FOUND",
});

const unreadable = invalid(
  /^encryptedClientSecret does not open: encrypt the secret to the key `clientSecretEncryption`/,
);

const badFields: readonly BadInput<CredentialParams>[] = [
  {
    name: "another provider",
    bend: (good) => ({ ...good, provider: "OAUTH2_PROVIDER_GAMMA" }),
    refusal: invalid(/^invalid request body: field `parameters.provider`/),
  },
  {
    name: "an empty client id",
    bend: (good) => ({ ...good, clientId: "" }),
    refusal: invalid("client_id must be set"),
    kept: "FAILED",
  },
  {
    name: "a secret in the clear",
    bend: (good) => ({ ...good, encryptedClientSecret: "s3cret" }),
    refusal: unreadable,
    kept: "FAILED",
  },
  {
    name: "a secret that was encrypted to another key",
    bend: async (good) => ({ ...good, encryptedClientSecret: await encryptOauth2ClientSecret("s3cret") }),
    refusal: unreadable,
    kept: "FAILED",
  },
  {
    name: "a provider and client that exist",
    bend: async (good, fixture) => {
      const other = await credentialParams(fixture);
      await fixture.done("create_oauth2_credential", other);
      return { ...good, provider: other.provider, clientId: other.clientId };
    },
    refusal: {
      status: 409,
      code: 6,
      message: /^OAuth 2.0 credential \S+ has this provider and client id: update it$/,
    },
    kept: "FAILED",
  },
];

/** A credential as it is shown, against what was asked for. */
function checkShown(
  { oauth2CredentialId: _, organizationId, createdAt, updatedAt, ...shown }: Json,
  asked: object,
): void {
  assert.deepEqual(shown, asked);
  assert.ok([organizationId, createdAt.seconds, updatedAt.seconds].every((each) => typeof each === "string"));
}

export const createOauth2Credential = activityEntry<CredentialParams>({
  good: credentialParams,
  required: ["provider", "clientId", "encryptedClientSecret"],
  result: ({ clientId }, { after }) => ({
    oauth2CredentialId: byId(after.oauth2Credentials, "clientId", clientId)?.oauth2CredentialId,
  }),
  shows(asked, { before, after }) {
    const [made, ...others] = added(before.oauth2Credentials, after.oauth2Credentials, "oauth2CredentialId");
    assert.deepEqual(others, []);
    checkShown(made, asked);
  },
  bad: badFields,
  foreign: [],
  also: {
    "a published client sends and sees its own names of providers": async (fixture) => {
      const { organizationId, root } = fixture.parent;
      const asked = await credentialParams(fixture, { provider: "OAUTH2_PROVIDER_DISCORD" });
      const { oauth2CredentialId } = await fixture.done("create_oauth2_credential", asked);
      const body = { organizationId, oauth2CredentialId };
      const query = { kind: "query", path: "get_oauth2_credential", body, key: root.p256 } as const;
      const providerIn = async (spelling: "own" | "published") =>
        (await fixture.send({ ...query, spelling })).json.oauth2Credential.provider;
      assert.equal(await providerIn("published"), "OAUTH2_PROVIDER_DISCORD");
      assert.equal(await providerIn("own"), "OAUTH2_PROVIDER_BETA");
    },
  },
});

type UpdateParams = CredentialParams & { oauth2CredentialId: string };

export const updateOauth2Credential = activityEntry<UpdateParams>({
  good: async (fixture) => ({
    oauth2CredentialId: await newCredential(fixture),
    ...(await credentialParams(fixture, { provider: "OAUTH2_PROVIDER_BETA" })),
  }),
  required: ["oauth2CredentialId", "provider", "clientId", "encryptedClientSecret"],
  result: ({ oauth2CredentialId }) => ({ oauth2CredentialId }),
  shows({ oauth2CredentialId, ...asked }, { after }) {
    checkShown(byId(after.oauth2Credentials, "oauth2CredentialId", oauth2CredentialId), asked);
  },
  bad: [
    ...(badFields as readonly BadInput<UpdateParams>[]),
    {
      name: "a credential that is not there",
      bend: (good) => ({ ...good, oauth2CredentialId: randomUUID() }),
      refusal: ({ oauth2CredentialId }, { parent }) => noSuchCredential(oauth2CredentialId, parent),
      kept: "FAILED",
    },
    {
      name: "a credential of a sub-organization",
      bend: async (good, fixture) => ({ ...good, oauth2CredentialId: await newCredential(fixture, fixture.sub) }),
      refusal: ({ oauth2CredentialId }, { parent }) => noSuchCredential(oauth2CredentialId, parent),
      kept: "FAILED",
    },
  ],
  foreign: [],
});

export const deleteOauth2Credential = activityEntry<{ oauth2CredentialId: string }>({
  good: async (fixture) => ({ oauth2CredentialId: await newCredential(fixture) }),
  required: ["oauth2CredentialId"],
  result: ({ oauth2CredentialId }) => ({ oauth2CredentialId }),
  shows({ oauth2CredentialId }, { before, after }) {
    const left = before.oauth2Credentials.filter((each) => each.oauth2CredentialId !== oauth2CredentialId);
    assert.deepEqual(after, { ...before, oauth2Credentials: left });
  },
  bad: [
    {
      name: "a credential of another organization",
      bend: async (_, fixture) => ({ oauth2CredentialId: await newCredential(fixture, fixture.other) }),
      refusal: ({ oauth2CredentialId }, { parent }) => noSuchCredential(oauth2CredentialId, parent),
      kept: "FAILED",
    },
  ],
  foreign: [],
});

export const getOauth2Credential = queryEntry<{ oauth2CredentialId: string }>({
  good: async (fixture, place) => ({ oauth2CredentialId: await newCredential(fixture, place) }),
  required: ["oauth2CredentialId"],
  answer: ({ oauth2CredentialId }, { oauth2Credential, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.equal(oauth2Credential.oauth2CredentialId, oauth2CredentialId);
  },
  bad: [
    {
      name: "a credential that is not there",
      bend: () => ({ oauth2CredentialId: randomUUID() }),
      refusal: ({ oauth2CredentialId }, { place }) => noSuchCredential(oauth2CredentialId, place),
    },
  ],
  foreign: [],
});

export const listOauth2Credentials = queryEntry<object>({
  good: async (fixture, place) => {
    const { oauth2Credentials } = await fixture.ask("list_oauth2_credentials", {}, place.root, place);
    if (oauth2Credentials.length === 0) await newCredential(fixture, place);
    return {};
  },
  required: [],
  answer: (_, { oauth2Credentials, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.equal(oauth2Credentials.length, 1);
  },
  bad: [],
  foreign: [],
});

type SignIn = {
  oauth2CredentialId: string;
  authCode: string;
  redirectUri: string;
  codeVerifier: string;
  nonce: string;
  bearerTokenTargetPublicKey?: string;
};

const providerUser = { id: "2244994945" };

/** Of a user who has just signed in at the provider. */
async function signIn(fixture: Fixture): Promise<SignIn> {
  const [redirectUri, codeVerifier] = ["https://app.example.com/back", "v".repeat(43)];
  return {
    oauth2CredentialId: await newCredential(fixture),
    authCode: oauth2Provider.signIn(providerUser, codeVerifier, redirectUri),
    redirectUri,
    codeVerifier,
    nonce: "00".repeat(32),
  };
}

const emptyFields = {
  oauth2CredentialId: "oauth2_credential_id",
  authCode: "auth_code",
  redirectUri: "redirect_uri",
  codeVerifier: "code_verifier",
  nonce: "nonce",
} as const;

export const oauth2Authenticate = activityEntry<SignIn>({
  good: signIn,
  required: Object.keys(emptyFields),
  result({ nonce }, { result }) {
    const [, payload = ""] = result.oidcToken.split(".");
    const { iss, sub, exp, iat, ...claims } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    assert.deepEqual([iss, sub, exp - iat], [oauth2Settings.KEYSTEAD_PUBLIC_URL, `x:${providerUser.id}`, 600]);
    assert.deepEqual(claims, { aud: claims.aud, nonce });
    return { oidcToken: result.oidcToken };
  },
  shows: (_, { before, after }) => assert.deepEqual(after, before),
  bad: [
    ...Object.entries(emptyFields).map(
      ([field, name]): BadInput<SignIn> => ({
        name: `an empty ${field}`,
        bend: (good) => ({ ...good, [field]: "" }),
        refusal: invalid(`${name} must be set`),
        kept: "FAILED",
      }),
    ),
    {
      name: "a code that the provider has not given",
      bend: (good) => ({ ...good, authCode: randomUUID() }),
      refusal: invalid("OAUTH2_PROVIDER_X: the provider refuses the authorization code (400)"),
    },
    {
      name: "a credential that is not there",
      bend: (good) => ({ ...good, oauth2CredentialId: randomUUID() }),
      refusal: ({ oauth2CredentialId }, { parent }) => noSuchCredential(oauth2CredentialId, parent),
      kept: "FAILED",
    },
    {
      name: "a provider that is not configured",
      bend: async (good, fixture) => {
        const params = await credentialParams(fixture, { provider: "OAUTH2_PROVIDER_BETA" });
        const { oauth2CredentialId } = await fixture.done("create_oauth2_credential", params);
        return { ...good, oauth2CredentialId };
      },
      refusal: {
        status: 400,
        code: 9,
        message: "OAUTH2_PROVIDER_DISCORD is not configured: name it in KEYSTEAD_OAUTH2_PROVIDERS",
        errorCode: "OAUTH2_PROVIDER_NOT_CONFIGURED",
      },
    },
    {
      name: "a target that is no key",
      bend: (good) => ({ ...good, bearerTokenTargetPublicKey: "key" }),
      refusal: invalid(/public key/),
      kept: "FAILED",
    },
  ],
  foreign: [],
  neverWaits: true,
  bearerField: "oidcToken",
  bearerParams: ["authCode", "codeVerifier"],
});
