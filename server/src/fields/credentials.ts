/** Credentials as sign-up and user creation send them, in the forms of all versions. */
import { knownFields } from "./known_fields.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";

/** Nullable, because some clients write out what they leave open. */
export function optional<T extends Parameters<typeof Type.Optional>[0]>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** A lifetime in seconds as a decimal string; whether it is a sensible one is checked with its own text. */
const expirationSeconds = Type.String({ maxLength: 100, description: "Lifetime in seconds, as a decimal string." });

const publicKey = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "Public component of the key pair, in hex.",
});

export const apiKeyCurve = Type.Enum(["API_KEY_CURVE_P256", "API_KEY_CURVE_SECP256K1", "API_KEY_CURVE_ED25519"], {
  description: "Curve of the key pair.",
});

/** Before keys had curves, all were P-256. */
export const apiKeyParamsV1 = Type.Object({
  apiKeyName: name("Human-readable name of the API key."),
  publicKey,
  expirationSeconds: optional(expirationSeconds),
});

export const apiKeyParams = Type.Object({
  apiKeyName: name("Human-readable name of the API key."),
  publicKey,
  curveType: apiKeyCurve,
  expirationSeconds: optional(expirationSeconds),
});

export type ApiKeyParams = Static<typeof apiKeyParams>;

export function fromApiKeyV1(params: Static<typeof apiKeyParamsV1>): ApiKeyParams {
  return { ...knownFields(apiKeyParamsV1, params), curveType: "API_KEY_CURVE_P256" };
}

export const apiKeys = Type.Array(apiKeyParams, { maxItems: 100, description: "API keys." });
export const apiKeysV1 = Type.Array(apiKeyParamsV1, { maxItems: 100, description: "API keys." });

const authenticatorName = name("Human-readable name of the passkey.");
const challenge = Type.String({ maxLength: 10_000, description: "The challenge that was presented." });
const clientDataJson = Type.String({ maxLength: 50_000, description: "Signing context and challenge, base64url." });
const attestationObject = Type.String({ maxLength: 50_000, description: "Authenticator data, base64url." });

const transports = Type.Array(
  Type.Enum([
    "AUTHENTICATOR_TRANSPORT_BLE",
    "AUTHENTICATOR_TRANSPORT_INTERNAL",
    "AUTHENTICATOR_TRANSPORT_NFC",
    "AUTHENTICATOR_TRANSPORT_USB",
    "AUTHENTICATOR_TRANSPORT_HYBRID",
  ]),
  { maxItems: 10, description: "How the passkey can be reached." },
);

export const authenticatorParams = Type.Object({
  authenticatorName,
  challenge,
  attestation: Type.Object({
    credentialId: Type.String({ maxLength: 10_000, description: "Id of the credential, base64url." }),
    clientDataJson,
    attestationObject,
    transports,
  }),
});

export type AuthenticatorParams = Static<typeof authenticatorParams>;

/** The first form repeats what a browser hands out. */
/** Its `userId` says nothing: the user is the one that the request names outside of it. */
export const authenticatorParamsV1 = Type.Object({
  authenticatorName,
  userId: Type.String({ maxLength: 128 }),
  attestation: Type.Object({
    id: Type.String({ maxLength: 10_000 }),
    type: Type.Literal("public-key"),
    rawId: Type.String({ maxLength: 10_000 }),
    response: Type.Object({ clientDataJson, attestationObject, transports: optional(transports) }),
    clientExtensionResults: Type.Object({}),
  }),
  challenge,
});

export function fromAuthenticatorV1(params: Static<typeof authenticatorParamsV1>): AuthenticatorParams {
  const { rawId, response } = params.attestation;
  const { clientDataJson, attestationObject, transports } = response;
  return {
    authenticatorName: params.authenticatorName,
    challenge: params.challenge,
    attestation: { credentialId: rawId, clientDataJson, attestationObject, transports: transports ?? [] },
  };
}

export const authenticators = Type.Array(authenticatorParams, { maxItems: 100, description: "Passkeys." });
export const authenticatorsV1 = Type.Array(authenticatorParamsV1, { maxItems: 100, description: "Passkeys." });

const providerName = name("Human-readable name of the identity provider.");
export const requiredOidcToken = Type.String({
  maxLength: 50_000,
  description: "OpenID Connect token: a compact JWT, or base64 of one.",
});
const claim = Type.String({ minLength: 1, maxLength: 1_000 });

/** Before links could be made from claims alone, each brought a token. */
export const oauthProviderParamsV1 = Type.Object({ providerName, oidcToken: requiredOidcToken });

export const oauthProviderParams = Type.Object({
  providerName,
  oidcToken: optional(requiredOidcToken),
  oidcClaims: optional(Type.Object({ iss: claim, sub: claim, aud: claim })),
});

export type OauthProviderParams = Static<typeof oauthProviderParams>;

export function fromOauthProviderV1(params: Static<typeof oauthProviderParamsV1>): OauthProviderParams {
  return knownFields(oauthProviderParamsV1, params);
}

const links = { maxItems: 100, description: "Identities at OpenID Connect issuers; a user has at most ten." };
export const oauthProviders = Type.Array(oauthProviderParams, links);
export const oauthProvidersV1 = Type.Array(oauthProviderParamsV1, links);

/** Proves a contact by a code that was sent to it. */
export const requiredVerificationToken = Type.String({
  maxLength: 10_000,
  description: "Signed token that proves a contact.",
});

export const verificationToken = optional(requiredVerificationToken);

/** A client's signature over what it does with a verification token. */
export const clientSignatureParams = Type.Object({
  publicKey,
  scheme: Type.Enum(["CLIENT_SIGNATURE_SCHEME_API_P256"]),
  // It repeats all credentials of a sign-up, passkeys with their attestations included.
  message: Type.String({ maxLength: 250_000, description: "The signed message." }),
  signature: Type.String({ maxLength: 1_000, description: "The signature over the message." }),
});

export const clientSignature = optional(clientSignatureParams);
