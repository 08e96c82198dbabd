/** A sign-in at an OAuth 2.0 provider, as requests write it. Texts that are empty have refusals of their own. */
import { optional } from "./credentials.ts";
import { type Static, Type } from "./schema.ts";

const text = (maxLength: number, description: string) => Type.String({ maxLength, description });

export const oauth2AuthenticateParams = Type.Object({
  oauth2CredentialId: text(128, "The OAuth 2.0 credential whose client the user has signed in to."),
  authCode: text(2_048, "The code that the provider has given to the user."),
  redirectUri: text(2_048, "The address that the provider has sent the user to."),
  codeVerifier: text(256, "The verifier of the code, as RFC 7636 has it."),
  nonce: text(
    256,
    "What the token is bound to: SHA-256 of the text of the public key that will sign in with it, in hex.",
  ),
  bearerTokenTargetPublicKey: optional(
    text(200, "A P-256 public key in hex. The provider's bearer token is encrypted to it and added to the token."),
  ),
});

export type Oauth2AuthenticateParams = Static<typeof oauth2AuthenticateParams>;
