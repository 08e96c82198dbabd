/** update_user, update_user_name, update_user_email, update_user_phone_number, delete_users. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { invalid } from "../refusals.ts";
import { activityEntry, type BadInput, type ForeignInput } from "./entry.ts";
import { badName, noSuchTag, noSuchUser } from "./faults.ts";
import type { Json } from "./fixture.ts";
import { byId, newMailUser, newTag, newUser } from "./people.ts";

const foreignUser: ForeignInput<Json> = {
  name: "a user",
  bend: (good, { userId }) => ({ ...good, userId }),
  refusal: noSuchUser,
};

const badEmail: BadInput<Json> = {
  name: "no e-mail address",
  bend: (good) => ({ ...good, userEmail: "mail@localhost" }),
  refusal: invalid(
    "invalid email address: `mail@localhost`: the part after the @ must be a domain such as example.com",
    "INVALID_EMAIL",
  ),
  kept: "FAILED",
};

const badPhoneNumber: BadInput<Json> = {
  name: "no phone number",
  bend: (good) => ({ ...good, userPhoneNumber: "+0" }),
  refusal: invalid("invalid phone number: `+0` is not in E.164 form, like +15551234567"),
  kept: "FAILED",
};

const badUserName: BadInput<Json> = {
  name: "a name with a line break",
  bend: (good) => ({ ...good, userName: "a\nb" }),
  refusal: invalid(`invalid request body: field \`parameters.userName\` ${badName}`),
};

const lastCredential: BadInput<Json> = {
  name: "the last credential taken",
  bend: async (_, fixture) => ({ userId: await newMailUser(fixture), userEmail: "" }),
  refusal: ({ userId }) =>
    invalid(
      `user missing valid credential: ${userId}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
    ),
  kept: "FAILED",
};

const unverified: BadInput<Json> = {
  name: "a token that is none",
  bend: (good) => ({ ...good, verificationToken: "token" }),
  refusal: invalid("invalid verification token: not three parts"),
  kept: "FAILED",
};

/** The one user that changed, before and after, without its time. */
function changedUser(userId: string, before: { users: Json[] }, after: { users: Json[] }): [Json, Json] {
  const others = ({ users }: { users: Json[] }) => users.filter((user) => user.userId !== userId);
  assert.deepEqual(others(after), others(before));
  const { updatedAt: _, ...was } = byId(before.users, "userId", userId);
  const { updatedAt: __, ...is } = byId(after.users, "userId", userId);
  return [was, is];
}

type Update = {
  userId: string;
  userName: string;
  userEmail: string;
  userTagIds: string[];
  userPhoneNumber: string;
};

export const updateUser = activityEntry<Update>({
  good: async (fixture) => ({
    userId: await newUser(fixture, { userTags: [await newTag(fixture)] }),
    userName: `Renamed ${randomUUID()}`,
    userEmail: "renamed@example.com",
    userTagIds: [await newTag(fixture)],
    userPhoneNumber: "+15557654321",
  }),
  required: ["userId"],
  result: ({ userId }) => ({ userId }),
  shows({ userId, userTagIds: userTags, ...sent }, { before, after }) {
    const [was, is] = changedUser(userId, before, after);
    assert.deepEqual(is, { ...was, ...sent, userTags });
  },
  bad: [badEmail, badPhoneNumber, badUserName, lastCredential],
  foreign: [
    foreignUser,
    { name: "a tag", bend: (good, { userTagId }) => ({ ...good, userTagIds: [userTagId] }), refusal: noSuchTag },
  ],
  denied: ({ place: { member } }) => ({ userId: member.userId, userName: "Myself" }) as Update,
  also: {
    "what is left out stays, an empty text or list removes": async (fixture) => {
      const userId = await newUser(fixture, {
        userEmail: "mail@example.com",
        userPhoneNumber: "+15551234567",
        userTags: [await newTag(fixture)],
      });
      const { user } = await fixture.ask("get_user", { userId });
      await fixture.done("update_user", { userId, userName: "Only the name" });
      const renamed = (await fixture.ask("get_user", { userId })).user;
      assert.deepEqual(renamed, { ...user, userName: "Only the name", updatedAt: renamed.updatedAt });
      await fixture.done("update_user", { userId, userEmail: "", userPhoneNumber: "", userTagIds: [] });
      const { userEmail: _, userPhoneNumber: __, ...bare } = renamed;
      const left = (await fixture.ask("get_user", { userId })).user;
      assert.deepEqual(left, { ...bare, userTags: [], updatedAt: left.updatedAt });
    },
  },
});

export const updateUserName = activityEntry<{ userId: string; userName: string }>({
  good: async (fixture) => ({ userId: await newUser(fixture), userName: `Renamed ${randomUUID()}` }),
  required: ["userId", "userName"],
  result: ({ userId }) => ({ userId }),
  shows({ userId, userName }, { before, after }) {
    const [was, is] = changedUser(userId, before, after);
    assert.deepEqual(is, { ...was, userName });
  },
  bad: [badUserName],
  foreign: [foreignUser],
  denied: ({ place: { member } }) => ({ userId: member.userId, userName: "Myself" }),
});

export const updateUserEmail = activityEntry<{ userId: string; userEmail: string }>({
  good: async (fixture) => ({ userId: await newUser(fixture), userEmail: "new@example.com" }),
  required: ["userId", "userEmail"],
  result: ({ userId }) => ({ userId }),
  shows({ userId, userEmail }, { before, after }) {
    const [was, is] = changedUser(userId, before, after);
    assert.deepEqual(is, { ...was, userEmail });
  },
  bad: [badEmail, lastCredential, unverified],
  foreign: [foreignUser],
  denied: ({ place: { member } }) => ({ userId: member.userId, userEmail: "me@example.com" }),
  also: {
    "an empty text removes it": async (fixture) => {
      const userId = await newUser(fixture, { userEmail: "mail@example.com" });
      await fixture.done("update_user_email", { userId, userEmail: "" });
      assert.equal("userEmail" in (await fixture.ask("get_user", { userId })).user, false);
    },
  },
});

export const updateUserPhoneNumber = activityEntry<{ userId: string; userPhoneNumber: string }>({
  good: async (fixture) => ({ userId: await newUser(fixture), userPhoneNumber: "+15557654321" }),
  required: ["userId", "userPhoneNumber"],
  result: ({ userId }) => ({ userId }),
  shows({ userId, userPhoneNumber }, { before, after }) {
    const [was, is] = changedUser(userId, before, after);
    assert.deepEqual(is, { ...was, userPhoneNumber });
  },
  bad: [badPhoneNumber, unverified],
  foreign: [foreignUser],
  denied: ({ place: { member } }) => ({ userId: member.userId, userPhoneNumber: "+15557654321" }),
  also: {
    "an empty text removes it": async (fixture) => {
      const userId = await newUser(fixture, { userPhoneNumber: "+15551234567" });
      await fixture.done("update_user_phone_number", { userId, userPhoneNumber: "" });
      assert.equal("userPhoneNumber" in (await fixture.ask("get_user", { userId })).user, false);
    },
  },
});

export const deleteUsers = activityEntry<{ userIds: string[] }>({
  good: async (fixture) => ({ userIds: [await newUser(fixture), await newUser(fixture)] }),
  required: ["userIds"],
  result: ({ userIds }) => ({ userIds }),
  shows({ userIds }, { before, after }) {
    assert.deepEqual(
      after.users,
      before.users.filter(({ userId }) => !userIds.includes(userId)),
    );
  },
  bad: [
    {
      name: "nobody",
      bend: () => ({ userIds: [] }),
      refusal: invalid("invalid request body: field `parameters.userIds` must not have fewer than 1 items"),
    },
    {
      name: "a member of the root quorum",
      // The other one stays as well.
      bend: ({ userIds: [one] }, { place }) => ({ userIds: [one, place.deputy.userId] }),
      refusal: invalid(
        /^quorum users missing: user `[0-9a-f-]{36}` is in the root quorum; take it out with update_root_quorum first$/,
      ),
      kept: "FAILED",
    },
  ],
  foreign: [
    {
      name: "a user",
      bend: ({ userIds: [one] }, { userId }) => ({ userIds: [one, userId] }),
      refusal: noSuchUser,
    },
  ],
  denied: ({ place: { member } }) => ({ userIds: [member.userId] }),
});
