/** Requests through the auth proxy of a deployment, and what people sign up with. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { signSignUp } from "@keystead/e2e/client_signature.ts";
import { loopbackIssuer } from "@keystead/e2e/identity/loopback_issuer.ts";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { messageTo } from "@keystead/e2e/mailbox.ts";
import { ethereum } from "@keystead/e2e/matrix/keys.ts";
import { authenticatorParams, createPasskey } from "@keystead/e2e/passkeys.ts";
import type { Deployment } from "../races/deployment.ts";

export type ProxyAnswer = { status: number; body: Record<string, unknown> };

/** Of a server that lets one address do as much as these trials do. */
export const unlimitedProxy = {
  KEYSTEAD_PROXY_BUDGETS: '{"signUps": 1000000, "codes": 1000000, "signIns": 1000000}',
} as const;

export const wallet = { walletName: "Main", accounts: [ethereum] };

const none = { apiKeys: [], authenticators: [], oauthProviders: [] };

/** On a slow machine a server may say that it is busy. Then a client sends the same bytes again, which are the same request. */
export async function callProxy(
  deployment: Deployment,
  path: string,
  body: string,
  /** Which of the servers is asked, counted around. */
  place = 0,
): Promise<ProxyAnswer> {
  for (;;) {
    const answer = await callOnce(deployment, path, body, place);
    if (answer.status !== 503) return answer;
  }
}

async function callOnce(
  { urls, bootstrap }: Deployment,
  path: string,
  body: string,
  place: number,
): Promise<ProxyAnswer> {
  const answer = await fetch(`${urls[place % urls.length]}/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "X-Auth-Proxy-Config-ID": bootstrap.authProxyConfigId },
    body,
  });
  return { status: answer.status, body: (await answer.json()) as ProxyAnswer["body"] };
}

/** Makes bodies of sign-ups that differ in their names, and are one person's. */
export type SignUps = (name: string) => string;

const signUp = (body: object): string => JSON.stringify({ ...none, ...body, wallet });

/** A contact that somebody has just proved. */
export async function byContact(deployment: Deployment): Promise<SignUps> {
  const contact = `${randomUUID()}@example.com`;
  const holder = createKey();
  const ask = async (path: string, body: object) => {
    const answer = await callProxy(deployment, path, JSON.stringify(body));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as Record<string, string>;
  };
  const { otpId } = await ask("otp_init", { otpType: "OTP_TYPE_EMAIL", contact });
  const { code } = await messageTo(contact);
  const verified = await ask("otp_verify", { otpId, otpCode: code, publicKey: holder.publicKey });
  const verificationToken = verified.verificationToken ?? "";
  const clientSignature = signSignUp(holder, verificationToken, { ...none, email: contact });
  return (organizationName) => signUp({ userEmail: contact, organizationName, verificationToken, clientSignature });
}

export async function byPasskey(): Promise<SignUps> {
  const authenticators = [authenticatorParams(createPasskey())];
  return (userName) => signUp({ authenticators, userName });
}

const apiKeyOf = ({ publicKey, curve }: ReturnType<typeof createKey>) => ({
  apiKeyName: "Key",
  publicKey,
  curveType: curve,
});

/** A key that nobody has shown to have: it counts for the minute in which somebody may have clicked twice. */
export async function byKey(): Promise<SignUps> {
  const apiKeys = [apiKeyOf(createKey())];
  return (userName) => signUp({ apiKeys, userName });
}

/** One identity at an issuer; each sign-up with a token and a key of its own, as from several windows. */
export async function byIdentity(): Promise<SignUps> {
  const { token } = await loopbackIssuer();
  const sub = randomUUID();
  return (userName) => {
    const key = createKey();
    const oauthProviders = [{ providerName: "Issuer", oidcToken: token({ sub }, key.publicKey) }];
    return signUp({ apiKeys: [apiKeyOf(key)], oauthProviders, userName });
  };
}
