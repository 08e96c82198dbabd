/** Users and their credentials as answers show them. */
import { component } from "./component.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

const text = (description: string) => Type.String({ description });

export const credentialRecord = Type.Object(
  {
    publicKey: text("Public component of the key pair, in hex."),
    type: text("`CREDENTIAL_TYPE_…`: what the credential is, and for sessions how it was obtained."),
    sessionProfileId: Type.Optional(text("The session profile that bounds what the session may do, if it has one.")),
  },
  { description: "What a user authenticates with." },
);

export const apiKeyRecord = Type.Object(
  {
    credential: component<Static<typeof credentialRecord>>("Credential"),
    apiKeyId: text("Unique identifier of the API key."),
    apiKeyName: text("Human-readable name of the API key."),
    createdAt: timestamp,
    updatedAt: timestamp,
    expirationSeconds: Type.Optional(
      text("Lifetime in seconds since the key's creation; absent when it never expires."),
    ),
  },
  { description: "An API key of a user." },
);

export const apiKey = component<Static<typeof apiKeyRecord>>("ApiKey");

export const authenticatorRecord = Type.Object(
  {
    transports: Type.Array(Type.String(), { description: "How browsers can reach the passkey." }),
    attestationType: text("Format of the attestation that it was registered with."),
    aaguid: text("Model of the authenticator, as a UUID."),
    credentialId: text("The authenticator's own id of the passkey, base64url."),
    model: text("Name of the model; empty where it is not known."),
    credential: component<Static<typeof credentialRecord>>("Credential"),
    authenticatorId: text("Unique identifier of the passkey."),
    authenticatorName: text("Human-readable name of the passkey."),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "A passkey of a user." },
);

export const authenticator = component<Static<typeof authenticatorRecord>>("Authenticator");

export const oauthProviderRecord = Type.Object(
  {
    providerId: text("Unique identifier of the link."),
    providerName: text("Human-readable name of the identity provider."),
    issuer: text("Issuer of the identity: the claim `iss`."),
    audience: text("Application that the identity is for: the claim `aud`."),
    subject: text("The user at the issuer: the claim `sub`."),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "An OpenID Connect identity of a user." },
);

export const oauthProvider = component<Static<typeof oauthProviderRecord>>("OauthProvider");

export const userRecord = Type.Object(
  {
    userId: text("Unique identifier of the user."),
    userName: text("Human-readable name of the user."),
    userEmail: Type.Optional(text("E-mail address.")),
    userPhoneNumber: Type.Optional(text("Phone number in E.164 form.")),
    authenticators: Type.Array(authenticator),
    apiKeys: Type.Array(apiKey),
    userTags: Type.Array(Type.String(), { description: "Ids of the user's tags." }),
    oauthProviders: Type.Array(oauthProvider),
    mfaPolicies: Type.Array(Type.Unknown(), { description: "When the user must authenticate in more than one way." }),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "A user of an organization." },
);

export const user = component<Static<typeof userRecord>>("User");
