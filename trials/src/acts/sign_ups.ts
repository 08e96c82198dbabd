/** Sign-ups through the auth proxy: a sub-organization with a wallet, for somebody who has nothing but a contact, a passkey or an identity. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { signSignUp } from "@keystead/e2e/client_signature.ts";
import { loopbackIssuer } from "@keystead/e2e/identity/loopback_issuer.ts";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import { messageTo } from "@keystead/e2e/mailbox.ts";
import type { Fixture, Json } from "@keystead/e2e/matrix/fixture.ts";
import { ethereum, solana } from "@keystead/e2e/matrix/keys.ts";
import { look } from "@keystead/e2e/matrix/look.ts";
import { authenticatorParams, createPasskey } from "@keystead/e2e/passkeys.ts";
import { type Answer, bytesOf, send } from "@keystead/e2e/wire.ts";
import { activities } from "@keystead/server/generated/activities.ts";
import type { Act } from "./act.ts";
import { untilAnswered } from "./patience.ts";

type Draft = {
  body: Json;
  /** A key that the new user has, if it has any. */
  key?: KeyPair;
};

/** Sends a request to the proxy until it is answered. */
type AskProxy = (path: string, body: object) => Promise<Json>;

const none = { apiKeys: [], authenticators: [], oauthProviders: [] };

const drafts = {
  async contact(askProxy: AskProxy): Promise<Draft> {
    const contact = `${randomUUID()}@example.com`;
    const holder = createKey();
    const { otpId } = await askProxy("otp_init", { otpType: "OTP_TYPE_EMAIL", contact });
    const { code } = await messageTo(contact);
    const { verificationToken } = await askProxy("otp_verify", { otpId, otpCode: code, publicKey: holder.publicKey });
    const clientSignature = signSignUp(holder, verificationToken, { ...none, email: contact });
    return { body: { ...none, userEmail: contact, verificationToken, clientSignature } };
  },
  async passkey(): Promise<Draft> {
    return { body: { ...none, authenticators: [authenticatorParams(createPasskey())] } };
  },
  async identity(): Promise<Draft> {
    const key = createKey();
    const { token } = await loopbackIssuer();
    const apiKeys = [{ apiKeyName: "Key", publicKey: key.publicKey, curveType: key.curve }];
    const oidcToken = token({ sub: randomUUID() }, key.publicKey);
    return { body: { ...none, apiKeys, oauthProviders: [{ providerName: "Issuer", oidcToken }] }, key };
  },
} satisfies Record<string, (askProxy: AskProxy) => Promise<Draft>>;

export function proxyHeaders(configId: string) {
  return [
    ["Content-Type", "application/json"],
    ["X-Auth-Proxy-Config-ID", configId],
  ] as const;
}

/** The configuration of the stage's parent, whatever an act before has made of it. */
async function openProxy({ done }: Fixture): Promise<string> {
  await done("enable_auth_proxy", {});
  const allowedAuthMethods = ["email", "sms", "passkey", "wallet", "oauth"];
  return (await done("update_auth_proxy_config", { allowedAuthMethods, allowedOrigins: [] })).configId;
}

function askingProxy({ url }: Fixture, configId: string): AskProxy {
  const waits = { cutOff: 0, refused: 0, unavailable: 0 };
  return async (path, body) => {
    const message = { path: `/v1/${path}`, headers: proxyHeaders(configId), body: bytesOf(body) };
    const answer: Answer = await untilAnswered(() => send(url, message), waits, path);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
}

export function signUpBy(what: keyof typeof drafts): Act {
  return {
    name: `sign-up by ${what}`,
    at: "parent",
    isSealed: false,
    async begin(fixture) {
      const configId = await openProxy(fixture);
      const { body, key } = await drafts[what](askingProxy(fixture, configId));
      const wallet = { walletName: "Wallet", accounts: [ethereum, solana] };
      const before = await look(fixture);
      return {
        path: "signup_v2",
        caller: fixture.place.root,
        byProxy: { configId, activityOf: (answer) => activityOf(fixture, answer), reopen: () => openProxy(fixture) },
        body: JSON.stringify({ ...body, wallet }),
        async check({ answer }) {
          const subOrganizationIds = [...before.subOrganizationIds, answer.organizationId].sort();
          assert.deepEqual(await look(fixture), { ...before, subOrganizationIds });
          await checkNewOrganization(fixture, answer, key);
        },
      };
    },
  };
}

/** The parent's one activity that has made this sub-organization. */
async function activityOf({ ask }: Fixture, { organizationId }: Json): Promise<Json> {
  const { activities: newest } = await ask("list_activities", { paginationOptions: { limit: "20" } });
  const made = newest.filter(
    ({ result }: Json) => result[activities.create_sub_organization.resultKey]?.subOrganizationId === organizationId,
  );
  assert.equal(made.length, 1, `${made.length} activities have made ${organizationId}`);
  return made[0];
}

/** One user and one wallet, as the answer says. */
async function checkNewOrganization(
  fixture: Fixture,
  { organizationId, userId, wallet }: Json,
  key: KeyPair | undefined,
): Promise<void> {
  const at = { ...fixture.place, organizationId };
  const ask = (path: string) => fixture.ask(path, {}, fixture.place.root, at);
  const ids = (list: Json[], name: string) => list.map((each) => each[name]);
  assert.deepEqual(ids((await ask("list_users")).users, "userId"), [userId]);
  assert.deepEqual(ids((await ask("list_wallets")).wallets, "walletId"), [wallet.walletId]);
  assert.deepEqual(ids((await ask("list_wallet_accounts")).accounts, "address"), wallet.addresses);
  if (key === undefined) return;
  const me = await fixture.ask("whoami", {}, { ...fixture.place.root, p256: key }, at);
  assert.equal(me.userId, userId);
}
