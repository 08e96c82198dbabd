/** Strangers at the auth proxy, who need nothing but the id that every page of the application shows: each path's costliest body. */
import { randomUUID } from "node:crypto";
import { authenticatorParams } from "../passkeys.ts";
import { bytesOf } from "../wire.ts";
import { type Attack, press } from "./attack.ts";
import { accounts, apiKey } from "./costliest/parts.ts";
import { longIdentityToken, longVerification } from "./costliest/sign_ins.ts";
import { anyAnswer } from "./one_tenant.ts";
import { headOf } from "./prepared.ts";
import { tenantLanes as floodConnections } from "./tenant.ts";

/** A wallet with as many accounts as are taken, beside the credentials of one user. */
const signUp = (turn: number) => ({
  apiKeys: Array.from({ length: 10 }, apiKey),
  authenticators: Array.from({ length: 10 }, () => authenticatorParams()),
  oauthProviders: [],
  userTag: randomUUID(),
  wallet: { walletName: "Flood", accounts: accounts(turn) },
});

// A contact has few live codes, so each has its own.
const startCode = () => ({ otpType: "OTP_TYPE_EMAIL", contact: `${randomUUID()}@example.com` });
const login = () => ({ ...longVerification(), publicKey: apiKey().publicKey, organizationId: randomUUID() });

/** What the `turn`th request sends. */
export const costliestProxyBodies: Readonly<Record<string, (turn: number) => object>> = {
  account: () => ({ filterType: "OIDC_TOKEN", filterValue: longIdentityToken }),
  oauth2_authenticate: () => ({
    provider: "OAUTH2_PROVIDER_ALPHA",
    clientId: randomUUID(),
    authCode: "x".repeat(2_048),
    redirectUri: `https://a.example/${"x".repeat(2_000)}`,
    codeVerifier: "x".repeat(256),
    nonce: "x".repeat(256),
  }),
  oauth_login: () => ({ oidcToken: longIdentityToken, publicKey: apiKey().publicKey }),
  otp_init: startCode,
  otp_init_v2: startCode,
  otp_login: login,
  otp_login_v2: login,
  otp_verify: () => ({ otpId: randomUUID(), otpCode: "0".repeat(256), publicKey: apiKey().publicKey }),
  otp_verify_v2: () => ({ otpId: randomUUID(), encryptedOtpBundle: "x".repeat(10_000) }),
  signup: signUp,
  signup_v2: signUp,
  wallet_kit_client_params: () => ({}),
  wallet_kit_config: () => ({}),
};

/** An address may have so many users made in an hour, and an organization so many codes sent. */
const isLimited = (path: string) => path.startsWith("signup") || path.startsWith("otp_init");

function flooding(path: string): Attack {
  return {
    ...(isLimited(path) && { isOnceAnHour: true }),
    says: `a stranger, ${floodConnections} connections: the costliest /v1/${path} of the auth proxy`,
    answers: anyAnswer,
    holds: floodConnections,
    ratio: 5,
    measured: { seconds: 10, rounds: 1 },
    sharesCalm: true,
    begin(assault) {
      const config = `X-Auth-Proxy-Config-Id: ${assault.target.authProxyConfigId}`;
      let turn = 0;
      press(assault, floodConnections, () => {
        const body = bytesOf(costliestProxyBodies[path]?.(++turn) ?? {});
        const lines = ["Content-Type: application/json", `Content-Length: ${body.length}`, config];
        return Buffer.concat([headOf(`/v1/${path}`, lines), body]);
      });
    },
  };
}

type ProxyAttackName = `costliest proxy ${string}`;

export const proxyAttacks: Record<ProxyAttackName, Attack> = Object.fromEntries(
  Object.keys(costliestProxyBodies).map((path) => [`costliest proxy ${path}`, flooding(path)]),
);
