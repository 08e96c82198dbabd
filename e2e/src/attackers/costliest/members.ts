/** Users, their credentials and their tags. */
import { randomUUID } from "node:crypto";
import { loopbackIssuer } from "../../identity/loopback_issuer.ts";
import { type AuthenticatorParams, attestedParams } from "../../passkeys.ts";
import { type ActivityPath, type Lane, resultOf, type Tenant } from "../tenant.ts";
import { cycling, type Flood, flood, submitting } from "./flood.ts";
import { apiKey, crowd, users } from "./parts.ts";

/** Made before the flood begins, or the attacker would take the processor from those who are measured. Those that were deleted come again. */
function keptPasskeys({ roots }: Tenant, count: number): (lane: Lane) => readonly AuthenticatorParams[] {
  const kept = roots.map(() => Array.from({ length: count }, attestedParams));
  return ({ index }) => kept[index % kept.length] ?? [];
}

/** As many keys as a request makes, two hundred, and so many passkeys beside them: what costs most are curves. */
function usersWithPasskeys(count: number, more: Omit<Flood, "begin"> = {}): Flood {
  return {
    ...more,
    begin(tenant) {
      const passkeysOf = keptPasskeys(tenant, count);
      return cycling(async function* (lane) {
        const passkeys = passkeysOf(lane);
        const asked = users(20, 10).map((user, index) => ({
          ...user,
          apiKeys: user.apiKeys.map((key) => ({ ...key, apiKeyName: "Own" })),
          authenticators: passkeys.filter((_, at) => at % 20 === index),
        }));
        const { userIds } = resultOf(yield lane.submit("create_users", { users: asked }));
        yield lane.submit("delete_users", { userIds });
      });
    },
  };
}

const apiOnlyUsers = cycling(async function* (lane) {
  const apiOnlyUsers = users(20, 10).map(({ userName, userTags, apiKeys }) => ({
    userName,
    userTags,
    apiKeys: apiKeys.map(({ curveType: _, ...key }) => key),
  }));
  const { userIds } = resultOf(yield lane.submit("create_api_only_users", { apiOnlyUsers }));
  yield lane.submit("delete_users", { userIds });
});

/** An organization has a thousand users at most, and a request makes a hundred, so that there are eight connections. */
const hundredsOfUsers = cycling(async function* (lane) {
  const { userIds } = resultOf(yield lane.submit("create_users", { users: users(100, 1) }));
  yield lane.submit("delete_users", { userIds });
});

const tenApiKeys = cycling(async function* (lane) {
  const { userId } = lane.user;
  const asked = { userId, apiKeys: Array.from({ length: 10 }, () => apiKey()) };
  const { apiKeyIds } = resultOf(yield lane.submit("create_api_keys", asked));
  yield lane.submit("delete_api_keys", { userId, apiKeyIds });
});

const tenPasskeys: Flood = {
  begin(tenant) {
    const passkeysOf = keptPasskeys(tenant, 10);
    return cycling(async function* (lane) {
      const { userId } = lane.user;
      const asked = { userId, authenticators: passkeysOf(lane) };
      const { authenticatorIds } = resultOf(yield lane.submit("create_authenticators", asked));
      yield lane.submit("delete_authenticators", { userId, authenticatorIds });
    });
  },
};

/** Tokens as long as fit, of an issuer that the attacker runs. */
const tenIdentities = cycling(async function* (lane) {
  const { token } = await loopbackIssuer();
  const { userId } = lane.user;
  const oauthProviders = Array.from({ length: 10 }, () => ({
    providerName: "Own",
    oidcToken: token({ sub: randomUUID(), pad: "x".repeat(3_500) }),
  }));
  const { providerIds } = resultOf(yield lane.submit("create_oauth_providers", { userId, oauthProviders }));
  yield lane.submit("delete_oauth_providers", { userId, providerIds });
});

/** Each tag is everybody's: one request changes a thousand users. */
const tagsOfAll = (count: number): Flood => ({
  async begin(tenant) {
    const userIds = await crowd(tenant);
    return cycling(async function* (lane) {
      const userTagIds: string[] = [];
      for (let made = 0; made < count; made++) {
        const asked = { userTagName: randomUUID(), userIds };
        userTagIds.push(resultOf(yield lane.submit("create_user_tag", asked)).userTagId);
      }
      yield lane.submit("delete_user_tags", { userTagIds });
    });
  },
});

const tagOfAll: Flood = {
  async begin(tenant) {
    const userIds = await crowd(tenant);
    const tags: string[] = [];
    for (const _ of tenant.roots) {
      const asked = { userTagName: randomUUID(), userIds: [] };
      tags.push((await tenant.act("create_user_tag", asked)).result.userTagId);
    }
    return submitting("update_user_tag", ({ index }, turn) => {
      const isAdded = turn % 2 === 0;
      return {
        ...{ userTagId: tags[index], newUserTagName: randomUUID() },
        ...{ addUserIds: isAdded ? userIds : [], removeUserIds: isAdded ? [] : userIds },
      };
    });
  },
};

/** All the tags that a sub-organization may have, and none, in turn. */
const allTags: Flood = {
  async begin(tenant) {
    await crowd(tenant);
    const tags = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const asked = { userTagName: randomUUID(), userIds: [] };
        return (await tenant.act("create_user_tag", asked)).result.userTagId as string;
      }),
    );
    const named = Array.from({ length: 1_000 }, (_, index) => tags[index % tags.length]);
    return submitting("update_user", ({ user }, turn) => ({
      ...{ userId: user.userId, userName: randomUUID(), userTagIds: turn % 2 === 0 ? named : [] },
    }));
  },
};

/** The page of all users is written anew for each. */
function amongMany(path: ActivityPath, change: (lane: Lane, turn: number) => object): Flood {
  return {
    async begin(tenant) {
      await crowd(tenant);
      return submitting(path, (lane, turn) => ({ userId: lane.user.userId, ...change(lane, turn) }));
    },
  };
}

const quorumOfAll: Flood = {
  async begin(tenant) {
    const userIds = await crowd(tenant);
    const roots = tenant.roots.map(({ userId }) => userId);
    return submitting("update_root_quorum", (_, turn) => ({
      ...{ threshold: 1, userIds: turn % 2 === 0 ? userIds : roots },
    }));
  },
};

export const memberFloods = {
  create_users: usersWithPasskeys(37),
  create_api_only_users: flood(apiOnlyUsers),
  delete_users: flood(hundredsOfUsers, { connections: 8 }),
  create_api_keys: flood(
    submitting("create_api_keys", ({ user: { userId } }) => ({
      ...{ userId, apiKeys: Array.from({ length: 10 }, () => apiKey()) },
    })),
  ),
  delete_api_keys: flood(tenApiKeys),
  create_authenticators: tenPasskeys,
  delete_authenticators: tenPasskeys,
  create_oauth_providers: flood(tenIdentities),
  delete_oauth_providers: flood(tenIdentities),
  create_user_tag: tagsOfAll(1),
  delete_user_tags: tagsOfAll(3),
  update_user_tag: tagOfAll,
  update_user: allTags,
  update_user_email: amongMany("update_user_email", (_, turn) => ({
    userEmail: `${turn}-${randomUUID()}@example.com`,
  })),
  update_user_name: amongMany("update_user_name", () => ({ userName: randomUUID().padEnd(255, "é") })),
  update_user_phone_number: amongMany("update_user_phone_number", ({ index }, turn) => ({
    ...{ userPhoneNumber: `+1555${String(index * 1_000 + (turn % 1_000)).padStart(7, "0")}` },
  })),
  update_root_quorum: quorumOfAll,
} satisfies Partial<Record<ActivityPath, Flood>>;

export const largeMemberFloods = {
  "large create_users": usersWithPasskeys(200, { isLarge: true }),
} satisfies Record<string, Flood>;
