/** OAuth 2.0 credentials as requests write them and as answers show them. */
import { oauth2ProviderSpellings } from "../state/oauth2_providers.ts";
import { component } from "./component.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

export const oauth2CredentialParams = {
  provider: Type.Enum([...oauth2ProviderSpellings], { description: "The OAuth 2.0 provider." }),
  clientId: Type.String({ maxLength: 255, description: "The client id that the provider has issued." }),
  encryptedClientSecret: Type.String({
    minLength: 1,
    maxLength: 4_000,
    description:
      "The client secret that the provider has issued, encrypted to the service key `clientSecretEncryption`.",
  }),
};

const fields = Type.Object(oauth2CredentialParams);
export type Oauth2CredentialParams = Static<typeof fields>;

const text = (description: string) => Type.String({ description });

export const oauth2CredentialRecord = Type.Object(
  {
    oauth2CredentialId: text("Unique identifier of the OAuth 2.0 credential."),
    organizationId: text("Unique identifier of the organization."),
    provider: text("The OAuth 2.0 provider."),
    clientId: text("The client id that the provider has issued."),
    encryptedClientSecret: text("The client secret, encrypted, as it came."),
    createdAt: timestamp,
    updatedAt: timestamp,
  },
  { description: "What an application signs users in to an OAuth 2.0 provider with." },
);

export const oauth2Credential = component<Static<typeof oauth2CredentialRecord>>("Oauth2Credential");
