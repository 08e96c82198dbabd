/** What the clients do about identities at another issuer, which is in their own process and outlives every server. */
import { randomUUID } from "node:crypto";
import { loopbackIssuer } from "@keystead/e2e/identity/loopback_issuer.ts";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import { anyPerson, remember, some, type Write } from "./known.ts";

const { token } = await loopbackIssuer();

/** Longer than any history lasts. */
const expirationSeconds = "86400";

export const identityWrites = {
  create_oauth_providers: {
    weight: 4,
    choose(picture, random) {
      const { userId } = anyPerson(picture, random);
      // At times an identity that somebody has already.
      const known = random.next() < 0.15 ? some(picture.providers, random) : undefined;
      const subject = known?.subject ?? randomUUID();
      return {
        parameters: { userId, oauthProviders: [{ providerName: "Issuer", oidcToken: token({ sub: subject }) }] },
        after: ({ providerIds }) => remember(picture.providers, { userId, providerId: providerIds[0], subject }),
      };
    },
  },
  delete_oauth_providers: {
    weight: 3,
    choose(picture, random) {
      const found = some(picture.providers, random);
      return found && { parameters: { userId: found.userId, providerIds: [found.providerId] } };
    },
  },
  oauth_login: {
    weight: 6,
    choose(picture, random) {
      // At times an identity that nobody has, or had.
      const found = random.next() < 0.1 ? undefined : some(picture.providers, random);
      const key = createKey();
      const { publicKey } = key;
      const oidcToken = token({ sub: found?.subject ?? randomUUID() }, publicKey);
      const ending = random.next() < 0.2 ? { invalidateExisting: true } : {};
      return {
        parameters: { oidcToken, publicKey, expirationSeconds, ...ending },
        after() {
          const owner = [...picture.roots, ...picture.members].find(({ userId }) => userId === found?.userId);
          if (owner !== undefined) remember(owner.sessions, key);
        },
      };
    },
  },
} satisfies Record<string, Write>;
