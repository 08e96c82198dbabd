/** The auth proxy's own paths below `/v1/`: what they take and what they answer. */
import { appProof } from "./app_proofs.ts";
import {
  accountRequest,
  identityLoginRequest,
  loginRequest,
  loginV2Request,
  providerSignInRequest,
  signUpRequest,
  signUpV2Request,
  startCodeRequest,
  verifyCodeRequest,
  verifyCodeV2Request,
} from "./auth_proxy_requests.ts";
import { id, organizationId } from "./ids.ts";
import { type TObject, Type } from "./schema.ts";
import { walletResult } from "./wallets.ts";

export type AuthProxyEndpoint = {
  summary: string;
  request: TObject;
  response: TObject;
  /** A captcha may have to be solved for it. */
  mayNeedCaptcha?: true;
};

const text = (description: string) => Type.String({ description });

const nothing = Type.Object({});
const session = Type.Object({ session: text("Signed token about the session of the key that was named.") });
const started = { otpId: id };
const verified = Type.Object({ verificationToken: text("Signed token that says which contact was verified.") });
const signedUp = Type.Object({
  organizationId,
  wallet: Type.Optional(walletResult),
  userId: id,
  appProofs: Type.Array(appProof),
});

export const authProxyEndpoints = {
  account: {
    summary: "Find the sub-organization that an identity signs in to",
    request: accountRequest,
    response: Type.Object({ organizationId: Type.Optional(text("Absent where the identity has none.")) }),
  },
  oauth2_authenticate: {
    summary: "Exchange a code of an OAuth 2.0 provider for an identity token",
    request: providerSignInRequest,
    response: Type.Object({ oidcToken: text("Identity token of this server.") }),
  },
  oauth_login: { summary: "Sign in with an identity token", request: identityLoginRequest, response: session },
  otp_init: {
    summary: "Send a one-time code that is answered in the plain",
    request: startCodeRequest,
    response: Type.Object(started),
    mayNeedCaptcha: true,
  },
  otp_init_v2: {
    summary: "Send a one-time code that is answered encrypted",
    request: startCodeRequest,
    response: Type.Object({
      ...started,
      otpEncryptionTargetBundle: text("Signed bundle with the key that answers are encrypted to."),
    }),
    mayNeedCaptcha: true,
  },
  otp_login: { summary: "Sign in with a verification token", request: loginRequest, response: session },
  otp_login_v2: {
    summary: "Sign in with a verification token and its key's signature",
    request: loginV2Request,
    response: session,
  },
  otp_verify: { summary: "Answer a one-time code", request: verifyCodeRequest, response: verified },
  otp_verify_v2: { summary: "Answer a one-time code, encrypted", request: verifyCodeV2Request, response: verified },
  signup: {
    summary: "Sign up: a sub-organization with one root user",
    request: signUpRequest,
    response: signedUp,
    mayNeedCaptcha: true,
  },
  signup_v2: {
    summary: "Sign up: a sub-organization with one root user, with identities of any issuer",
    request: signUpV2Request,
    response: signedUp,
    mayNeedCaptcha: true,
  },
  wallet_kit_client_params: {
    summary: "What wallet kits need of captchas",
    request: nothing,
    response: Type.Object({ turnstileSiteKey: Type.Optional(text("Absent where no captchas are asked for.")) }),
  },
  wallet_kit_config: {
    summary: "What wallet kits show",
    request: nothing,
    response: Type.Object({
      enabledProviders: Type.Array(Type.String(), { description: "Ways to sign in, and identity providers." }),
      sessionExpirationSeconds: text("Seconds."),
      organizationId,
      oauthClientIds: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "By provider." })),
      oauthRedirectUrl: Type.Optional(text("Where providers send people back to.")),
      otpAlphanumeric: Type.Boolean(),
      otpLength: text("Characters of a code."),
    }),
  },
} as const satisfies Record<string, AuthProxyEndpoint>;
