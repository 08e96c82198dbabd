/** Sign-ins by passkeys that name the parent, as web applications send them: they run in the sub-organization, and once. */
import assert from "node:assert/strict";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { createKey, type KeyPair, keyFrom } from "@keystead/e2e/key_pairs.ts";
import { envelope, type Fixture, fingerprintOf, type Json } from "@keystead/e2e/matrix/fixture.ts";
import { newUser } from "@keystead/e2e/matrix/people.ts";
import { authenticatorParams, createPasskey, passkeyStamp } from "@keystead/e2e/passkeys.ts";
import { activities } from "@keystead/server/generated/activities.ts";
import { decryptCredentialBundle, generateP256KeyPair } from "@turnkey/crypto";
import { type Act, checkOnce, isSealed } from "./act.ts";

const reader = generateP256KeyPair();

type SignInPath = "stamp_login" | "create_read_write_session";

/** What is sent, and the key that the answer stands for. */
type Draft = { parameters: object; keyOf(result: Json): KeyPair };

const drafts: Record<SignInPath, () => Draft> = {
  stamp_login() {
    const key = createKey();
    return { parameters: { publicKey: key.publicKey, expirationSeconds: "3600" }, keyOf: () => key };
  },
  create_read_write_session: () => ({
    parameters: { targetPublicKey: reader.publicKeyUncompressed, expirationSeconds: "3600" },
    keyOf: ({ credentialBundle }) =>
      keyFrom("API_KEY_CURVE_P256", fromHex(decryptCredentialBundle(credentialBundle, reader.privateKey))),
  }),
};

export function signInBelow(path: SignInPath): Act {
  return {
    name: `${path} by a passkey, naming the parent`,
    at: "sub",
    isSealed: isSealed(path),
    async begin(fixture) {
      const passkey = createPasskey();
      const userId = await newUser(fixture, { authenticators: [authenticatorParams(passkey)] });
      const { parameters, keyOf } = drafts[path]();
      const sent = envelope(activities[path].type, fixture.parent.organizationId, parameters);
      const body = JSON.stringify(sent);
      return {
        path,
        caller: fixture.place.root,
        body,
        stamp: ["X-Stamp-Webauthn", passkeyStamp(passkey, body)],
        async check({ activity }) {
          assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
          assert.equal(activity.organizationId, fixture.place.organizationId);
          const key = keyOf(activity.result[activities[path].resultKey]);
          await checkSession(fixture, userId, key);
          await checkOnce(fixture, sent);
          await checkNotAbove(fixture, fingerprintOf(sent));
        },
      };
    },
  };
}

/** The user's only session is this one, and it speaks for the user. */
async function checkSession(fixture: Fixture, userId: string, key: KeyPair): Promise<void> {
  const { apiKeys } = await fixture.ask("get_api_keys", { userId });
  const sessions = apiKeys.filter(({ expirationSeconds }: Json) => expirationSeconds !== undefined);
  assert.deepEqual(
    sessions.map(({ credential }: Json) => credential.publicKey),
    [key.publicKey],
  );
  const me = await fixture.ask("whoami", {}, { ...fixture.place.root, p256: key });
  assert.equal(me.userId, userId);
}

/** The parent's own activities do not have it. */
export async function checkNotAbove({ parent, ask }: Fixture, fingerprint: string): Promise<void> {
  const { activities: newest } = await ask(
    "list_activities",
    { paginationOptions: { limit: "20" } },
    parent.root,
    parent,
  );
  assert.ok(!newest.some((activity: Json) => activity.fingerprint === fingerprint), "it ran in the parent too");
}
