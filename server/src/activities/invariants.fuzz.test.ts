/**
 * Whatever sequence of activities runs in an organization, and whatever of it is refused: the root quorum can act, nobody
 * carries a tag that is not there, no key has two owners, and no limit is passed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { finish } from "@keystead/core/work.ts";
import fc from "fast-check";
import { samples } from "../../../core/test/samples.ts";
import { activityContext, nowMs } from "../../test/activity_context.ts";
import { after, apiKey, keyParams, organization, person } from "../../test/members.ts";
import type { ActivityOutcome } from "../endpoints/define_activity.ts";
import { withLimits } from "../endpoints/limits.ts";
import { featureNames } from "../fields/features.ts";
import { activities } from "../generated/activities.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { checkQuorum } from "../rules/quorum.ts";
import type { Pages } from "../state/pages.ts";

const limits = {
  usersPerOrganization: 5,
  userTagsPerOrganization: 3,
  longLivedApiKeysPerUser: 2,
  expiringApiKeysPerUser: 2,
};

/** Things are named by their place in the organization of the moment, counted round; the last place is nobody's. */
const nowhere = 20;
const place = fc.nat({ max: nowhere });
const places = fc.array(place, { maxLength: 3 });
const key = fc.tuple(fc.nat({ max: 12 }), fc.constantFrom(null, "1", "100"));
const keys = fc.array(key, { minLength: 1, maxLength: 3 });
const contacts = fc.record(
  { userEmail: fc.constantFrom("ann@example.com", ""), userPhoneNumber: fc.constantFrom("+15551234567", "") },
  { requiredKeys: [] },
);
const loginFeatures = featureNames.filter((name) => name.endsWith("_AUTH"));

type Step = { path: keyof typeof activities; params(pages: Pages): unknown };

const keysOf = (chosen: readonly [number, string | null][]) =>
  chosen.map(([n, expirationSeconds]) => keyParams(n, { expirationSeconds }));
const idAt = (ids: readonly string[], index: number) =>
  index === nowhere ? "nobody" : (ids[index % ids.length] ?? "nobody");
const userAt = ({ members }: Pages, index: number) => idAt([...members.users.keys()], index);
const usersAt = (pages: Pages, indexes: readonly number[]) => indexes.map((index) => userAt(pages, index));
const tagsAt = ({ members }: Pages, indexes: readonly number[]) =>
  indexes.map((index) => idAt([...members.userTags.keys()], index));

function keyIdsAt(pages: Pages, user: number, indexes: readonly number[]): string[] {
  const owned = pages.members.users.get(userAt(pages, user))?.apiKeys ?? [];
  const ids = owned.map(({ apiKeyId }) => apiKeyId);
  return indexes.map((index) => idAt(ids, index));
}

const none = { authenticators: [], oauthProviders: [] };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(keys, contacts, places).map(([apiKeys, contact, tags]) => ({
    path: "create_users" as const,
    params: (pages: Pages) => ({
      users: [{ userName: "x", ...contact, ...none, apiKeys: keysOf(apiKeys), userTags: tagsAt(pages, tags) }],
    }),
  })),
  places.map((users) => ({
    path: "delete_users" as const,
    params: (pages: Pages) => ({ userIds: usersAt(pages, users) }),
  })),
  fc.tuple(place, keys).map(([user, apiKeys]) => ({
    path: "create_api_keys" as const,
    params: (pages: Pages) => ({ userId: userAt(pages, user), apiKeys: keysOf(apiKeys) }),
  })),
  fc.tuple(place, places).map(([user, doomed]) => ({
    path: "delete_api_keys" as const,
    params: (pages: Pages) => ({ userId: userAt(pages, user), apiKeyIds: keyIdsAt(pages, user, doomed) }),
  })),
  fc.tuple(fc.integer({ min: -1, max: 4 }), places).map(([threshold, users]) => ({
    path: "update_root_quorum" as const,
    params: (pages: Pages) => ({ threshold, userIds: usersAt(pages, users) }),
  })),
  fc.tuple(place, contacts, places).map(([user, contact, tags]) => ({
    path: "update_user" as const,
    params: (pages: Pages) => ({ userId: userAt(pages, user), ...contact, userTagIds: tagsAt(pages, tags) }),
  })),
  fc.tuple(place, contacts).map(([user, { userEmail = "" }]) => ({
    path: "update_user_email" as const,
    params: (pages: Pages) => ({ userId: userAt(pages, user), userEmail }),
  })),
  fc.tuple(place, contacts).map(([user, { userPhoneNumber = "" }]) => ({
    path: "update_user_phone_number" as const,
    params: (pages: Pages) => ({ userId: userAt(pages, user), userPhoneNumber }),
  })),
  fc.tuple(fc.nat({ max: 4 }), places).map(([n, users]) => ({
    path: "create_user_tag" as const,
    params: (pages: Pages) => ({ userTagName: `tag ${n}`, userIds: usersAt(pages, users) }),
  })),
  fc.tuple(place, places, places).map(([tag, add, remove]) => ({
    path: "update_user_tag" as const,
    params: (pages: Pages) => ({
      userTagId: tagsAt(pages, [tag])[0],
      addUserIds: usersAt(pages, add),
      removeUserIds: usersAt(pages, remove),
    }),
  })),
  places.map((tags) => ({
    path: "delete_user_tags" as const,
    params: (pages: Pages) => ({ userTagIds: tagsAt(pages, tags) }),
  })),
  fc.constantFrom(...loginFeatures).chain((name) =>
    fc.constantFrom("set_organization_feature" as const, "remove_organization_feature" as const).map((path) => ({
      path,
      params: () => ({ name, value: "" }),
    })),
  ),
);

function checkInvariants({ members, settings }: Pages): void {
  checkQuorum(members.rootQuorum, members.users, settings);
  assert.ok(members.users.size <= limits.usersPerOrganization);
  assert.ok(members.userTags.size <= limits.userTagsPerOrganization);
  const publicKeys = new Set<string>();
  for (const user of members.users.values()) {
    for (const tagId of user.userTags) assert.ok(members.userTags.has(tagId), `${user.userId} carries ${tagId}`);
    assert.equal(new Set(user.userTags).size, user.userTags.length);
    const expiring = user.apiKeys.filter(({ expiresAtMs }) => expiresAtMs !== undefined).length;
    assert.ok(expiring <= limits.expiringApiKeysPerUser);
    assert.ok(user.apiKeys.length - expiring <= limits.longLivedApiKeysPerUser);
    for (const { publicKey } of user.apiKeys) {
      assert.ok(!publicKeys.has(publicKey), "a key with two owners");
      publicKeys.add(publicKey);
    }
  }
}

test("no sequence of activities breaks an organization, and every refusal leaves it as it was", (t) => {
  const counts = { done: 0, refused: 0 };
  const start = organization({ users: [person("ann", { apiKeys: [apiKey(0)] })] });
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 40, size: "max" }), (steps) => {
      let pages = start;
      let ids = 0;
      steps.forEach(({ path, params: paramsOf }, index) => {
        const activity = activities[path];
        const params = paramsOf(pages);
        if (activityValidators[activity.type]?.(params) !== true) return;
        // A second between any two: keys that last one second are over for the next step.
        const context = activityContext({
          limits: withLimits(limits),
          nowMs: nowMs + index * 1_000,
          newId: () => `id ${ids++}`,
        });
        try {
          const started = activity.run(activity.state(pages, params as never) as never, params as never, context);
          pages = after(pages, "next" in started ? finish<ActivityOutcome<unknown>>(started) : started);
          counts.done += 1;
        } catch (fault) {
          const { code } = fault as { code?: string };
          assert.ok(code !== undefined && code !== "internal", String(fault));
          counts.refused += 1;
        }
        checkInvariants(pages);
      });
    }),
    { numRuns: samples.activitySequences },
  );
  t.diagnostic(`${samples.activitySequences} sequences: ${counts.done} activities done, ${counts.refused} refused`);
  assert.ok(counts.done > 1_000 && counts.refused > 1_000, `${counts.done} done, ${counts.refused} refused`);
});
