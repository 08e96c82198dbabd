/** What the clients do about sign-in: sessions, passkeys and where these may be used. */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { createKey, keyFrom } from "@keystead/e2e/key_pairs.ts";
import { authenticatorParams, createPasskey } from "@keystead/e2e/passkeys.ts";
import { decryptCredentialBundle, generateP256KeyPair } from "@turnkey/crypto";
import type { Random } from "../../../core/test/seeded_random.ts";
import { anyPerson, anyUser, remember, some, type Write } from "./known.ts";
import { passkeyOrigin } from "./origins.ts";

/** Longer than any history lasts. */
const expirationSeconds = "86400";

const target = generateP256KeyPair();

const originsFeature = "FEATURE_NAME_WEBAUTHN_ORIGINS";

/** Mostly passkeys may be used; at times a list forgets where they are. */
function someOrigins(random: Random): string[] {
  const other = "https://other.example.com";
  return random.pick([[], [passkeyOrigin], [passkeyOrigin, other], [other]]);
}

const someEnding = (random: Random) => (random.next() < 0.2 ? { invalidateExisting: true } : {});

export const signInWrites = {
  stamp_login: {
    weight: 7,
    choose(picture, random, caller) {
      // At times one of the caller's sessions is renewed, and at times a key is asked for that somebody has.
      const dice = random.next();
      const known = dice < 0.2 ? some(caller.sessions, random) : undefined;
      const taken = dice > 0.95 ? anyPerson(picture, random).keys[0] : undefined;
      const key = known ?? taken ?? createKey();
      return {
        parameters: { publicKey: key.publicKey, expirationSeconds, ...someEnding(random) },
        after() {
          if (known === undefined) remember(caller.sessions, key);
        },
      };
    },
  },
  create_read_write_session: {
    weight: 4,
    choose(picture, random, caller) {
      // At times for somebody else, which nobody gets.
      const userId = random.next() < 0.15 ? anyUser(picture, random) : undefined;
      const parameters = { targetPublicKey: target.publicKeyUncompressed, expirationSeconds, ...someEnding(random) };
      return {
        parameters: { ...parameters, ...(userId !== undefined && { userId }) },
        after({ credentialBundle, apiKeyId }) {
          const privateKey = fromHex(decryptCredentialBundle(credentialBundle, target.privateKey));
          remember(caller.sessions, keyFrom("API_KEY_CURVE_P256", privateKey));
          remember(picture.apiKeys, { userId: caller.userId, apiKeyId });
        },
      };
    },
  },
  create_read_only_session: {
    weight: 4,
    choose: (_, __, caller) => ({
      parameters: {},
      after({ session, sessionExpiry }) {
        // It is over an hour after it was made, and no history wants to know when exactly.
        const untilMs = Number(sessionExpiry) * 1000 - 1_800_000;
        remember(caller.readers, { userId: caller.userId, session, untilMs });
      },
    }),
  },
  create_authenticators: {
    weight: 5,
    choose(picture, random) {
      const person = anyPerson(picture, random);
      // At times a passkey that somebody has already.
      const known = random.next() < 0.1 ? some(person.passkeys, random) : undefined;
      const passkey = known ?? createPasskey();
      return {
        parameters: { userId: person.userId, authenticators: [authenticatorParams(passkey)] },
        after({ authenticatorIds }) {
          remember(person.passkeys, passkey);
          remember(picture.authenticators, { userId: person.userId, authenticatorId: authenticatorIds[0] });
        },
      };
    },
  },
  delete_authenticators: {
    weight: 4,
    choose(picture, random) {
      const found = some(picture.authenticators, random);
      return found && { parameters: { userId: found.userId, authenticatorIds: [found.authenticatorId] } };
    },
  },
  update_allowed_origins: {
    weight: 3,
    choose: (_, random) => ({ parameters: { allowedOrigins: someOrigins(random) } }),
  },
  set_organization_feature: {
    weight: 1,
    choose: (_, random) => ({ parameters: { name: originsFeature, value: someOrigins(random).join(",") } }),
  },
  remove_organization_feature: {
    weight: 1,
    choose: () => ({ parameters: { name: originsFeature } }),
  },
} satisfies Record<string, Write>;
