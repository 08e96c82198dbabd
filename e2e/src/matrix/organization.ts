/** update_root_quorum, set_organization_feature, remove_organization_feature, update_organization_name. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { invalid } from "../refusals.ts";
import { activityEntry } from "./entry.ts";
import { badName } from "./faults.ts";
import { expiringKey, newMailUser, newUser } from "./people.ts";

const usersMissing = invalid(
  /^quorum users missing: (name at least one user|this organization has no user `[0-9a-f-]{36}`; create the user first, or name another)$/,
);

export const updateRootQuorum = activityEntry<{ threshold: number; userIds: string[] }>({
  good: async (fixture) => ({
    threshold: 1,
    userIds: [fixture.place.root.userId, fixture.place.deputy.userId, await newUser(fixture)],
  }),
  required: ["threshold", "userIds"],
  result: () => ({}),
  shows(sent, { before, after }) {
    assert.deepEqual(after, { ...before, quorum: sent });
  },
  bad: [
    ...[0, -1].map((threshold) => ({
      name: `a threshold of ${threshold}`,
      bend: (good: object) => ({ ...good, threshold }),
      refusal: invalid("quorum threshold must be non-zero integer: how many of its users must approve, at least 1"),
      kept: "FAILED" as const,
    })),
    {
      name: "half a threshold",
      bend: (good) => ({ ...good, threshold: 1.5 }),
      refusal: invalid("invalid request body: field `parameters.threshold` must be integer"),
    },
    {
      name: "a threshold beyond 32 bits",
      bend: (good) => ({ ...good, threshold: 2 ** 31 }),
      refusal: invalid("invalid request body: field `parameters.threshold` must be <= 2147483647"),
    },
    {
      name: "more approvals than there are users",
      bend: (good) => ({ ...good, threshold: 4 }),
      refusal: invalid("quorum threshold 4 is larger than its 3 user(s); name more users, or ask for fewer approvals"),
      kept: "FAILED",
    },
    { name: "nobody", bend: (good) => ({ ...good, userIds: [] }), refusal: usersMissing, kept: "FAILED" },
    {
      name: "a user whose only key will expire",
      bend: async (good, fixture) => {
        return { ...good, userIds: [...good.userIds, await newUser(fixture, { apiKeys: [expiringKey()] })] };
      },
      refusal: ({ userIds }) =>
        invalid(
          new RegExp(
            `^user missing valid credential: ${userIds.at(-1)} \\(\`[^\`]+\`\\); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does$`,
          ),
        ),
      kept: "FAILED",
    },
  ],
  foreign: [
    { name: "a user", bend: (good, { userId }) => ({ ...good, userIds: [userId] }), refusal: () => usersMissing },
  ],
  denied: ({ place: { member } }) => ({ threshold: 1, userIds: [member.userId] }),
});

/** By the order of a table nobody promises. */
function sorted<T extends { name: string }>(features: readonly T[]): T[] {
  return features.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

const unknownFeature = {
  name: "a feature that is none",
  bend: (good: object) => ({ ...good, name: "FEATURE_NAME_NOTHING" }),
  refusal: invalid(/^invalid request body: field `parameters\.name` must be /),
};

/** Where the passkeys of `passkeys.ts` are used. */
const origin = "https://app.example.com";
const originsFeature = "FEATURE_NAME_WEBAUTHN_ORIGINS";

export const updateAllowedOrigins = activityEntry<{ allowedOrigins: string[] }>({
  // That of the passkeys too: other cases in the same organization go on using theirs.
  good: () => ({ allowedOrigins: [`https://a${randomUUID()}.example.com`, "http://localhost:3000", origin] }),
  required: ["allowedOrigins"],
  result: () => ({}),
  shows({ allowedOrigins }, { before, after }) {
    const others = before.features.filter((feature) => feature.name !== originsFeature);
    const value = allowedOrigins.join(",");
    assert.deepEqual(sorted(after.features), sorted([...others, { name: originsFeature, value }]));
    assert.deepEqual({ ...after, features: [] }, { ...before, features: [] });
  },
  bad: [
    {
      name: "no origin",
      bend: () => ({ allowedOrigins: ["app.example.com"] }),
      refusal: invalid(/^`app.example.com` is not an origin: write it as browsers do/),
      kept: "FAILED",
    },
    {
      name: "too many",
      bend: () => ({ allowedOrigins: Array.from({ length: 101 }, (_, index) => `https://a${index}.example`) }),
      refusal: invalid("invalid request body: field `parameters.allowedOrigins` must not have more than 100 items"),
    },
  ],
  foreign: [],
  also: {
    "an empty list is a list, and `*` stands for none": async (fixture) => {
      const shown = async (allowedOrigins: string[]) => {
        await fixture.done("update_allowed_origins", { allowedOrigins });
        const { configs } = await fixture.ask("get_organization_configs");
        return configs.features.find(({ name }: Record<string, string>) => name === originsFeature);
      };
      assert.deepEqual(await shown([]), { name: originsFeature });
      assert.deepEqual(await shown(["*"]), { name: originsFeature, value: "*" });
      const { features } = await fixture.done("remove_organization_feature", { name: originsFeature });
      assert.ok(features.every(({ name }: Record<string, string>) => name !== originsFeature));
    },
  },
});

export const setOrganizationFeature = activityEntry<{ name: string; value: string }>({
  good: () => ({ name: "FEATURE_NAME_WEBHOOK", value: `https://example.com/${randomUUID()}` }),
  required: ["name"],
  result: (_, { after }) => ({ features: after.features }),
  shows({ name, value }, { before, after }) {
    const others = before.features.filter((feature) => feature.name !== name);
    assert.deepEqual(sorted(after.features), sorted([...others, { name, value }]));
    assert.deepEqual({ ...after, features: [] }, { ...before, features: [] });
  },
  bad: [
    unknownFeature,
    {
      name: "a value without end",
      bend: (good) => ({ ...good, value: "x".repeat(10_001) }),
      refusal: invalid("invalid request body: field `parameters.value` must not have more than 10000 characters"),
    },
  ],
  foreign: [],
  also: {
    "a value may be left out": async (fixture) => {
      const { features } = await fixture.done("set_organization_feature", { name: "FEATURE_NAME_SMS_AUTH" });
      assert.ok(features.some(({ name, value }: Record<string, string>) => name === "FEATURE_NAME_SMS_AUTH" && !value));
    },
  },
});

export const removeOrganizationFeature = activityEntry<{ name: string }>({
  good: async (fixture) => {
    await fixture.done("set_organization_feature", { name: "FEATURE_NAME_WEBHOOK", value: "https://example.com" });
    return { name: "FEATURE_NAME_WEBHOOK" };
  },
  required: ["name"],
  result: (_, { after }) => ({ features: after.features }),
  shows({ name }, { before, after }) {
    const others = before.features.filter((feature) => feature.name !== name);
    assert.deepEqual(after, { ...before, features: others });
    assert.equal(others.length, before.features.length - 1);
  },
  bad: [
    unknownFeature,
    {
      name: "the login that is somebody's only way in",
      bend: async (_, fixture) => {
        await newMailUser(fixture);
        return { name: "FEATURE_NAME_EMAIL_AUTH" };
      },
      refusal: invalid(
        /^user missing valid credential: [0-9a-f-]{36}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does$/,
      ),
      kept: "FAILED",
    },
  ],
  foreign: [],
  also: {
    "one that is off stays off": async (fixture) => {
      const { features } = (await fixture.ask("get_organization_configs")).configs;
      const left = await fixture.done("remove_organization_feature", { name: "FEATURE_NAME_EARN_CONFIG" });
      assert.deepEqual(left, { features });
    },
  },
});

export const updateOrganizationName = activityEntry<{ organizationName: string }>({
  good: () => ({ organizationName: `Renamed ${randomUUID()}` }),
  required: ["organizationName"],
  result: ({ organizationName }, _, { place }) => ({ organizationId: place.organizationId, organizationName }),
  shows({ organizationName }, { before, after }) {
    assert.deepEqual(after, { ...before, organizationName });
  },
  bad: [
    {
      name: "an empty name",
      bend: () => ({ organizationName: "" }),
      refusal: invalid(
        "invalid request body: field `parameters.organizationName` must not have fewer than 1 characters",
      ),
    },
    {
      name: "a name with a line break",
      bend: () => ({ organizationName: "a\nb" }),
      refusal: invalid(`invalid request body: field \`parameters.organizationName\` ${badName}`),
    },
    {
      name: "a name without end",
      bend: () => ({ organizationName: "x".repeat(256) }),
      refusal: invalid(
        "invalid request body: field `parameters.organizationName` must not have more than 255 characters",
      ),
    },
  ],
  foreign: [],
});
