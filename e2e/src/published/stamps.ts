/** Keys of every curve, made by `createApiKeys` and used through the published clients. */
import assert from "node:assert/strict";
import { ECDH } from "node:crypto";
import type { TestContext } from "node:test";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { type StampScheme, stampSchemes } from "@keystead/core/crypto/stamp.ts";
import { ApiKeyStamper } from "@turnkey/api-key-stamper";
import { TurnkeyClient } from "@turnkey/http";
import { TurnkeyApiClient } from "@turnkey/sdk-server";
import { createKey, type KeyPair } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import {
  apiKeyOf,
  apiKeyPair,
  asPerson,
  at,
  createMember,
  foundOrganization,
  type Person,
  refusalOf,
} from "./clients.ts";

/** It signs by WebCrypto, by node:crypto or in pure JavaScript, depending on where it runs. */
const runtimes = ["node", "browser", "purejs"] as const;

/** The published API-key stamper knows P-256 alone; the clients take any other that has its shape. */
function ownStamper({ privateKey }: KeyPair, scheme: StampScheme) {
  return {
    stamp: async (payload: string) => ({
      stampHeaderName: "X-Stamp",
      stampHeaderValue: signStamp(privateKey, scheme, new TextEncoder().encode(payload)),
    }),
  };
}

export async function stamps(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { organizationId } = owner;

  for (const runtimeOverride of runtimes) {
    await t.test(
      `the published stamper's ${runtimeOverride} runtime, with and without a slash after the base URL`,
      async () => {
        const stamper = new ApiKeyStamper({ ...apiKeyPair(owner.key), runtimeOverride });
        for (const baseUrl of [server.url, `${server.url}/`]) {
          const { userId } = await new TurnkeyClient({ baseUrl }, stamper).getWhoami({ organizationId });
          assert.equal(userId, owner.userId);
          const sdk = new TurnkeyApiClient({ apiBaseUrl: baseUrl, organizationId, stamper });
          const { activity } = await sdk.createUserTag({
            userTagName: `${runtimeOverride} at ${baseUrl}`,
            userIds: [],
          });
          assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
        }
      },
    );
  }

  for (const [scheme, { curve }] of Object.entries(stampSchemes) as [StampScheme, { curve: KeyPair["curve"] }][]) {
    await t.test(`a key made by createApiKeys stamps with ${scheme}`, async () => {
      const member = await createMember(server, owner, `Member with ${scheme}`);
      const key = createKey(curve);
      const { apiKeyIds } = await member.sdk.createApiKeys({ userId: member.userId, apiKeys: [apiKeyOf(key, "New")] });
      assert.equal(apiKeyIds.length, 1);

      const stamper = ownStamper(key, scheme);
      const http = new TurnkeyClient({ baseUrl: server.url }, stamper);
      const sdk = new TurnkeyApiClient({ apiBaseUrl: server.url, organizationId, stamper });
      for (const client of [http, sdk]) {
        assert.equal((await client.getWhoami({ organizationId })).userId, member.userId);
      }
      // A submit, too: the signer verifies where the gateway does for a query.
      const [old] = (await sdk.getApiKeys({ userId: member.userId })).apiKeys.filter(
        ({ apiKeyName }) => apiKeyName === "Key",
      );
      const { activity } = await sdk.deleteApiKeys({ userId: member.userId, apiKeyIds: [old?.apiKeyId ?? ""] });
      assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
      const vote = at(activity.votes, 0);
      assert.deepEqual([vote.scheme, vote.publicKey], [scheme, key.publicKey]);
      assert.equal((await refusalOf(member.sdk.getWhoami())).code, 16);

      const { apiKey } = await sdk.getApiKey({ apiKeyId: at(apiKeyIds, 0) });
      assert.deepEqual(apiKey.credential, {
        publicKey: key.publicKey,
        type: curve.replace("API_KEY_CURVE", "CREDENTIAL_TYPE_API_KEY"),
      });
    });
  }

  await t.test("a key registered uncompressed or in capitals is the key that stamps compressed", async () => {
    const spellings = [
      (publicKey: string) => publicKey.toUpperCase(),
      (publicKey: string) => String(ECDH.convertKey(publicKey, "prime256v1", "hex", "hex", "uncompressed")),
    ];
    const member = await createMember(server, owner, "Speller");
    const { userId } = member;
    for (const spell of spellings) {
      const key = createKey();
      await member.sdk.createApiKeys({ userId, apiKeys: [{ ...apiKeyOf(key), publicKey: spell(key.publicKey) }] });
      assert.equal((await asPerson(server, { ...member, key }).sdk.getWhoami()).userId, userId);
    }
  });

  await t.test("a request stamped by the client and sent by another is the same request", async () => {
    for (const signed of [await owner.http.stampGetWhoami({ organizationId }), await owner.sdk.stampGetWhoami({})]) {
      assert.ok(signed !== undefined);
      const { url, body, stamp } = signed;
      const headers = { [stamp.stampHeaderName]: stamp.stampHeaderValue };
      const answer = await fetch(url, { method: "POST", headers, body });
      assert.equal(((await answer.json()) as { userId: string }).userId, owner.userId);
    }
  });
}
