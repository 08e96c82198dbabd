/** What the auth proxy's own paths take. Answers are flat, and bodies have no envelope: the gateway writes the activity. */

import { optionalEmail, optionalPhoneNumber } from "./contacts.ts";
import {
  apiKeys,
  authenticators,
  clientSignature,
  clientSignatureParams,
  oauthProviders,
  oauthProvidersV1,
  optional,
  requiredOidcToken,
  requiredVerificationToken,
  verificationToken,
} from "./credentials.ts";
import { name } from "./names.ts";
import { oauth2AuthenticateParams } from "./oauth2_authenticate.ts";
import { oauth2CredentialParams } from "./oauth2_credentials.ts";
import { type Static, Type } from "./schema.ts";
import { invalidateExisting, sessionPublicKey } from "./sessions.ts";
import { walletParams } from "./wallets.ts";

const text = (maxLength: number) => Type.String({ maxLength });

const person = {
  userEmail: optionalEmail,
  userPhoneNumber: optionalPhoneNumber,
  userTag: optional(name("Name of a user tag, which is made and given to the user.")),
  userName: optional(name("Human-readable name of the user.")),
  organizationName: optional(name("Human-readable name of the sub-organization.")),
  verificationToken,
  apiKeys,
  authenticators,
};
const rest = { wallet: optional(walletParams), clientSignature };

export const signUpRequest = Type.Object({ ...person, oauthProviders: oauthProvidersV1, ...rest });
export const signUpV2Request = Type.Object({ ...person, oauthProviders, ...rest });
export type SignUpRequestBody = Static<typeof signUpV2Request>;

export const startCodeRequest = Type.Object({
  otpType: text(100),
  contact: text(320),
  emailCustomization: optional(Type.Object({ templateId: optional(text(256)) })),
});

export const verifyCodeRequest = Type.Object({
  otpId: text(128),
  otpCode: text(256),
  publicKey: optional(text(200)),
});

export const verifyCodeV2Request = Type.Object({ otpId: text(128), encryptedOtpBundle: text(10_000) });

const login = {
  verificationToken: requiredVerificationToken,
  publicKey: sessionPublicKey,
  invalidateExisting,
  organizationId: optional(text(128)),
};
export const loginRequest = Type.Object({ ...login, clientSignature });
export const loginV2Request = Type.Object({ ...login, clientSignature: clientSignatureParams });

export const identityLoginRequest = Type.Object({
  oidcToken: requiredOidcToken,
  publicKey: sessionPublicKey,
  invalidateExisting,
  organizationId: optional(text(128)),
});

export type IdentityLoginRequest = Static<typeof identityLoginRequest>;

const { authCode, redirectUri, codeVerifier, nonce } = oauth2AuthenticateParams.properties;
const { provider, clientId } = oauth2CredentialParams;
export const providerSignInRequest = Type.Object({
  ...{ provider, authCode, redirectUri, codeVerifier, nonce, clientId },
});
export type ProviderSignInRequest = Static<typeof providerSignInRequest>;

export const accountRequest = Type.Object({
  filterType: text(100),
  filterValue: text(50_000),
  verificationToken,
  oidcToken: optional(text(50_000)),
});
export type AccountRequest = Static<typeof accountRequest>;
