/** create_user_tag, update_user_tag, delete_user_tags. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { exhausted, invalid } from "../refusals.ts";
import { assertRefused } from "../wire.ts";
import { activityEntry, type BadInput } from "./entry.ts";
import { badName, noSuchTag, noSuchUser } from "./faults.ts";
import type { Json } from "./fixture.ts";
import { limits } from "./limits.ts";
import { byId, newTag, newUser } from "./people.ts";

/** Who carries the tag. */
function carriers(users: readonly Json[], userTagId: string): string[] {
  return users.filter(({ userTags }) => userTags.includes(userTagId)).map(({ userId }) => userId);
}

function badNames(field: string): BadInput<Json>[] {
  return [
    {
      name: "an empty name",
      bend: (good) => ({ ...good, [field]: "" }),
      refusal: invalid(`invalid request body: field \`parameters.${field}\` must not have fewer than 1 characters`),
    },
    {
      name: "a name with a line break",
      bend: (good) => ({ ...good, [field]: "a\nb" }),
      refusal: invalid(`invalid request body: field \`parameters.${field}\` ${badName}`),
    },
    {
      name: "a name that exists, in other letters",
      bend: async (good, fixture) => {
        const userTagName = `taken ${randomUUID()}`;
        await fixture.done("create_user_tag", { userTagName, userIds: [] });
        return { ...good, [field]: userTagName.toUpperCase() };
      },
      refusal: (sent) => invalid(`user tag label must be unique: \`${sent[field].toLowerCase()}\` exists`),
      kept: "FAILED",
    },
  ];
}

export const createUserTag = activityEntry<{ userTagName: string; userIds: string[] }>({
  good: async (fixture) => ({
    userTagName: `Tag ${randomUUID()}`,
    userIds: [fixture.place.member.userId, await newUser(fixture)],
  }),
  required: ["userTagName", "userIds"],
  result: ({ userTagName, userIds }, { after }) => ({
    userTagId: byId(after.userTags, "tagName", userTagName)?.tagId,
    userIds,
  }),
  shows({ userTagName, userIds }, { before, after }) {
    const { tagId, createdAt, updatedAt, ...tag } = byId(after.userTags, "tagName", userTagName);
    assert.deepEqual(tag, { tagName: userTagName, tagType: "TAG_TYPE_USER" });
    assert.deepEqual(createdAt, updatedAt);
    assert.equal(after.userTags.length, before.userTags.length + 1);
    assert.deepEqual(carriers(after.users, tagId).sort(), userIds.toSorted());
  },
  bad: badNames("userTagName"),
  foreign: [
    {
      name: "a user",
      bend: (good, { userId }) => ({ ...good, userIds: [...good.userIds, userId] }),
      refusal: noSuchUser,
    },
  ],
  also: {
    "the last that fits, and one more": async (fixture) => {
      const limit = limits.userTagsPerOrganization;
      const { userTags } = await fixture.ask("list_user_tags");
      for (let count = userTags.length; count < limit; count++) await newTag(fixture);
      const answer = await fixture.submit("create_user_tag", { userTagName: randomUUID(), userIds: [] });
      assertRefused(answer, exhausted(new RegExp(`^organization has reached its limit of ${limit} user tags; `)));
    },
  },
});

type TagUpdate = { userTagId: string; newUserTagName: string; addUserIds: string[]; removeUserIds: string[] };

export const updateUserTag = activityEntry<TagUpdate>({
  good: async (fixture) => {
    const [staying, leaving, coming] = [await newUser(fixture), await newUser(fixture), await newUser(fixture)];
    return {
      userTagId: await newTag(fixture, [staying, leaving]),
      newUserTagName: `Renamed ${randomUUID()}`,
      addUserIds: [coming],
      removeUserIds: [leaving],
    };
  },
  required: ["userTagId", "addUserIds", "removeUserIds"],
  result: ({ userTagId }) => ({ userTagId }),
  shows({ userTagId, newUserTagName, addUserIds, removeUserIds }, { before, after }) {
    assert.equal(byId(after.userTags, "tagId", userTagId).tagName, newUserTagName);
    const were = carriers(before.users, userTagId);
    const wanted = [...were.filter((userId) => !removeUserIds.includes(userId)), ...addUserIds];
    assert.deepEqual(carriers(after.users, userTagId).sort(), wanted.sort());
  },
  bad: badNames("newUserTagName"),
  foreign: [
    { name: "a tag", bend: (good, { userTagId }) => ({ ...good, userTagId }), refusal: noSuchTag },
    { name: "a user added", bend: (good, { userId }) => ({ ...good, addUserIds: [userId] }), refusal: noSuchUser },
    { name: "a user removed", bend: (good, { userId }) => ({ ...good, removeUserIds: [userId] }), refusal: noSuchUser },
  ],
  also: {
    "without a new name it keeps its own": async (fixture) => {
      const userTagId = await newTag(fixture);
      const tagName = async () => byId((await fixture.ask("list_user_tags")).userTags, "tagId", userTagId).tagName;
      const before = await tagName();
      await fixture.done("update_user_tag", {
        userTagId,
        addUserIds: [fixture.place.member.userId],
        removeUserIds: [],
      });
      assert.equal(await tagName(), before);
    },
    "its own name in other letters is no other tag's": async (fixture) => {
      const userTagName = `Mine ${randomUUID()}`;
      const { userTagId } = await fixture.done("create_user_tag", { userTagName, userIds: [] });
      const newUserTagName = userTagName.toUpperCase();
      await fixture.done("update_user_tag", { userTagId, newUserTagName, addUserIds: [], removeUserIds: [] });
    },
  },
});

export const deleteUserTags = activityEntry<{ userTagIds: string[] }>({
  good: async (fixture) => ({
    userTagIds: [
      await newTag(fixture, [fixture.place.member.userId]),
      await newTag(fixture, [await newUser(fixture)]),
      await newTag(fixture),
    ],
  }),
  required: ["userTagIds"],
  result({ userTagIds }, { before, result }) {
    const carried = before.users.filter(({ userTags }) => userTagIds.some((tagId) => userTags.includes(tagId)));
    // In no particular order.
    assert.deepEqual(result.userIds.toSorted(), carried.map(({ userId }) => userId).sort());
    return { userTagIds, userIds: result.userIds };
  },
  shows({ userTagIds }, { before, after }) {
    assert.deepEqual(
      after.userTags,
      before.userTags.filter(({ tagId }) => !userTagIds.includes(tagId)),
    );
    for (const tagId of userTagIds) assert.deepEqual(carriers(after.users, tagId), []);
  },
  bad: [
    {
      name: "none",
      bend: () => ({ userTagIds: [] }),
      refusal: invalid("invalid request body: field `parameters.userTagIds` must not have fewer than 1 items"),
    },
  ],
  foreign: [
    {
      name: "a tag",
      bend: ({ userTagIds: [one] }, { userTagId }) => ({ userTagIds: [one, userTagId] }),
      refusal: noSuchTag,
    },
  ],
});
