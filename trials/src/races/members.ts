/** Races over who belongs to an organization, and with which keys. */
import assert from "node:assert/strict";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import { defineRace } from "./race.ts";
import {
  apiKeyOf,
  assertRefusedAs,
  isDone,
  type Organization,
  outcomeOf,
  type Person,
  type Stage,
  type Stamped,
} from "./stage.ts";

const unknownKey = /could not find public key/;
const noPermission = /You don't have sufficient permissions/;

function tag(stage: Stage, organization: Organization, person: { key: KeyPair }, userTagName: string): Stamped {
  return stage.stamped(organization, person, "create_user_tag", { userTagName, userIds: [] });
}

export const lastRootUsers = defineRace({
  name: "removing the last root users: two who remove each other leave one who can act",
  setUp: (stage) => stage.found({ users: 2, threshold: 1 }),
  requests: (organization, stage) =>
    organization.people.flatMap((person, index) => {
      const other = organization.people[1 - index] as Person;
      const alone = { threshold: 1, userIds: [person.userId] };
      return [
        stage.stamped(organization, person, "update_root_quorum", alone),
        stage.stamped(organization, person, "delete_users", { userIds: [other.userId] }),
      ];
    }),
  async check(organization, answers, stage) {
    const winners = [0, 1].filter((index) => isDone(answers[index * 2]));
    assert.equal(winners.length, 1, answers.map(({ text }) => text).join("\n"));
    const winner = winners[0] as 0 | 1;
    const [own, deletion] = answers.slice(winner * 2);
    const [others, theirDeletion] = answers.slice((1 - winner) * 2);
    const [left, gone] = [organization.people[winner], organization.people[(1 - winner) as 0 | 1]];
    const { threshold, userIds } = await stage.quorum(organization, left);
    assert.deepEqual([isDone(own), threshold, userIds], [true, 1, [left.userId]]);
    // The loser asked while it was a root user, after that, or when it was gone.
    for (const refused of [others, theirDeletion]) {
      if (refused?.status === 403) assertRefusedAs(refused, 403, noPermission);
      else if (refused?.status === 400) assertRefusedAs(refused, 400, /quorum users missing/);
      else assertRefusedAs(refused, 401, unknownKey);
    }
    const { users } = await stage.ask(organization, left, "list_users");
    const there = users.map(({ userId }: Person) => userId);
    if (isDone(deletion)) assert.deepEqual(there, [left.userId]);
    else {
      assertRefusedAs(deletion, 400, /quorum users missing/);
      assert.deepEqual(there.sort(), [left.userId, gone.userId].sort());
    }
    assert.ok(isDone(await stage.send(tag(stage, organization, left, "can act"))));
    return `user ${winner + 1} is left${isDone(deletion) ? ", alone" : ""}`;
  },
});

export const twoQuorums = defineRace({
  name: "two updates of the root quorum: the later one stands whole",
  setUp: (stage) => stage.found({ users: 3, threshold: 1 }),
  requests: (organization, stage) => {
    const [a, b, c] = organization.people;
    return [
      stage.stamped(organization, a, "update_root_quorum", { threshold: 2, userIds: [a.userId, b.userId] }),
      stage.stamped(organization, c, "update_root_quorum", { threshold: 1, userIds: [b.userId, c.userId] }),
    ];
  },
  async check(organization, [first, second], stage) {
    const [a, b, c] = organization.people;
    const { threshold, userIds } = await stage.quorum(organization, b);
    const both = { threshold, userIds };
    // After the first, a member of neither is refused; after the second, the first's author is.
    assert.notEqual(isDone(first), isDone(second), `${first.text}\n${second.text}`);
    assertRefusedAs(isDone(first) ? second : first, 403, noPermission);
    assert.deepEqual(
      both,
      isDone(first) ? { threshold: 2, userIds: [a.userId, b.userId] } : { threshold: 1, userIds: [b.userId, c.userId] },
    );
    return isDone(first) ? "the first" : "the second";
  },
});

export const raisedThreshold = defineRace({
  name: "the threshold is raised while one acts alone: it runs before, and waits after",
  setUp: (stage) => stage.found({ users: 2, threshold: 1 }),
  requests: (organization, stage) => {
    const [a, b] = organization.people;
    return [
      tag(stage, organization, a, "alone"),
      stage.stamped(organization, b, "update_root_quorum", { threshold: 2, userIds: [a.userId, b.userId] }),
    ];
  },
  async check(organization, [act, raise], stage) {
    const [a] = organization.people;
    assert.ok(isDone(raise), raise.text);
    if (!isDone(act)) assert.equal(outcomeOf(act), "CONSENSUS_NEEDED");
    assert.deepEqual(await stage.tagNames(organization, a), isDone(act) ? ["alone"] : []);
    assert.equal((await stage.quorum(organization, a)).threshold, 2);
    return isDone(act) ? "acted first" : "raised first";
  },
});

export const lastKeys = defineRace({
  name: "a root user who deletes each of two keys with the other keeps one",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const second = createKey();
    const added = { userId: root.userId, apiKeys: [apiKeyOf(second)] };
    const { apiKeyIds } = await stage.done(organization, root, "create_api_keys", added);
    const { apiKeys } = await stage.ask(organization, root, "get_api_keys", { userId: root.userId });
    const ids = [
      apiKeys.find(({ apiKeyId }: { apiKeyId: string }) => apiKeyId !== apiKeyIds[0]).apiKeyId,
      apiKeyIds[0],
    ];
    return { organization, root, keys: [root.key, second] as const, ids: ids as [string, string] };
  },
  requests: ({ organization, root, keys, ids }, stage) => [
    stage.stamped(organization, { key: keys[1] }, "delete_api_keys", { userId: root.userId, apiKeyIds: [ids[0]] }),
    stage.stamped(organization, { key: keys[0] }, "delete_api_keys", { userId: root.userId, apiKeyIds: [ids[1]] }),
  ],
  async check({ organization, root, keys, ids }, [first, second], stage) {
    assert.notEqual(isDone(first), isDone(second), `${first.text}\n${second.text}`);
    assertRefusedAs(isDone(first) ? second : first, 401, unknownKey);
    const left = isDone(first) ? 1 : 0;
    const reader = { userId: root.userId, key: keys[left] };
    const { apiKeys } = await stage.ask(organization, reader, "get_api_keys", { userId: root.userId });
    assert.deepEqual(
      apiKeys.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId),
      [ids[left]],
    );
    return `key ${left + 1} is left`;
  },
});

export const deletedKey = defineRace({
  name: "a key is deleted while it stamps: it acts before, and never after",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const key = createKey();
    const added = { userId: root.userId, apiKeys: [apiKeyOf(key)] };
    const { apiKeyIds } = await stage.done(organization, root, "create_api_keys", added);
    return { organization, root, key, apiKeyIds };
  },
  requests: ({ organization, root, key, apiKeyIds }, stage) => [
    stage.stamped(organization, root, "delete_api_keys", { userId: root.userId, apiKeyIds }),
    tag(stage, organization, { key }, "one"),
    tag(stage, organization, { key }, "two"),
  ],
  async check({ organization, root, key }, [removal, ...acts], stage) {
    assert.ok(isDone(removal), removal.text);
    for (const act of acts) if (!isDone(act)) assertRefusedAs(act, 401, unknownKey);
    const done = ["one", "two"].filter((_, index) => isDone(acts[index]));
    assert.deepEqual(await stage.tagNames(organization, root), done.sort());
    assertRefusedAs(await stage.send(tag(stage, organization, { key }, "three")), 401, unknownKey);
    return `${done.length} acts before`;
  },
});

const expiringKeys = 10;

export const eviction = defineRace({
  name: "expiring-key eviction: newer keys take the places of the oldest, and of no others",
  async setUp(stage) {
    const organization = await stage.found({ users: 2, threshold: 1 });
    const [root] = organization.people;
    const old = Array.from({ length: expiringKeys }, () => createKey());
    const apiKeys = old.map((key) => apiKeyOf(key, "3600"));
    await stage.done(organization, root, "create_api_keys", { userId: root.userId, apiKeys });
    return { organization, root, old: old as [KeyPair], fresh: [createKey(), createKey(), createKey()] };
  },
  requests: ({ organization, root, old, fresh }, stage) => [
    tag(stage, organization, { key: old[0] }, "by the oldest"),
    ...fresh.map((key, index) => {
      const caller = organization.people[index % 2] as Person;
      const added = { userId: root.userId, apiKeys: [apiKeyOf(key, "3600")] };
      return stage.stamped(organization, caller, "create_api_keys", added);
    }),
  ],
  async check({ organization, root, old, fresh }, [act, ...added], stage) {
    for (const answer of added) assert.ok(isDone(answer), answer.text);
    const { apiKeys } = await stage.ask(organization, root, "get_api_keys", { userId: root.userId });
    const there = apiKeys.map((shown: { credential: KeyPair }) => shown.credential.publicKey);
    const kept = [root.key, ...old.slice(fresh.length), ...fresh].map(({ publicKey }) => publicKey);
    assert.deepEqual(there.sort(), kept.sort());
    if (!isDone(act)) assertRefusedAs(act, 401, unknownKey);
    assert.deepEqual(await stage.tagNames(organization, root), isDone(act) ? ["by the oldest"] : []);
    assertRefusedAs(await stage.send(tag(stage, organization, { key: old[0] }, "late")), 401, unknownKey);
    return isDone(act) ? "the oldest acted first" : "the oldest was evicted first";
  },
});

export const oneKeyTwoUsers = defineRace({
  name: "one public key for two new users: one of them gets it",
  setUp: async (stage) => ({ organization: await stage.found({ users: 2, threshold: 1 }), key: createKey() }),
  requests: ({ organization, key }, stage) =>
    [0, 1].map((index) => {
      const credentials = { apiKeys: [apiKeyOf(key)], authenticators: [], oauthProviders: [], userTags: [] };
      const users = [{ userName: `Newcomer ${index}`, ...credentials }];
      return stage.stamped(organization, organization.people[index] as Person, "create_users", { users });
    }),
  async check({ organization, key }, answers, stage) {
    const winners = answers.filter(isDone);
    assert.equal(winners.length, 1, answers.map(({ text }) => text).join("\n"));
    const winner = answers.findIndex(isDone);
    assertRefusedAs(answers[1 - winner], 409, /already belongs to a user of this organization/);
    const me = await stage.ask(organization, { key }, "whoami");
    assert.equal(me.username, `Newcomer ${winner}`);
    assert.equal((await stage.ask(organization, organization.people[0], "list_users")).users.length, 3);
    return `newcomer ${winner}`;
  },
});

export const lostUpdates = defineRace({
  name: "five changes of one user at once: none is lost",
  async setUp(stage) {
    const organization = await stage.found({ users: 2, threshold: 1 });
    return { organization, user: await stage.member(organization), key: createKey() };
  },
  requests: ({ organization, user, key }, stage) => {
    const { userId } = user;
    const [a, b] = organization.people;
    return [
      stage.stamped(organization, a, "update_user_name", { userId, userName: "Renamed" }),
      stage.stamped(organization, b, "update_user_email", { userId, userEmail: "who@example.com" }),
      stage.stamped(organization, a, "update_user_phone_number", { userId, userPhoneNumber: "+15550100" }),
      stage.stamped(organization, b, "create_user_tag", { userTagName: "carried", userIds: [userId] }),
      stage.stamped(organization, a, "create_api_keys", { userId, apiKeys: [apiKeyOf(key)] }),
    ];
  },
  async check({ organization, user, key }, answers, stage) {
    for (const answer of answers) assert.ok(isDone(answer), answer.text);
    const shown = (await stage.ask(organization, organization.people[0], "get_user", { userId: user.userId })).user;
    const { userName, userEmail, userPhoneNumber, userTags, apiKeys } = shown;
    const keys = apiKeys.map(({ credential }: { credential: KeyPair }) => credential.publicKey);
    assert.deepEqual(
      { userName, userEmail, userPhoneNumber, tags: userTags.length, keys: keys.sort() },
      {
        userName: "Renamed",
        userEmail: "who@example.com",
        userPhoneNumber: "+15550100",
        tags: 1,
        keys: [user.key.publicKey, key.publicKey].sort(),
      },
    );
    return "all five";
  },
  endsAlike: "changes of different things lead to the same user in every order",
});

export const copiedKey = defineRace({
  name: "a key's first act against strangers who copy it: its owner's organization is found, and no other",
  async setUp(stage) {
    const owner = await stage.found({ users: 1, threshold: 1 });
    const [{ userId }] = owner.people;
    const person = { userId, key: createKey() };
    await stage.done(owner, owner.people[0], "create_api_keys", { userId, apiKeys: [apiKeyOf(person.key)] });
    const strangers = [await stage.found({ users: 1, threshold: 1 }), await stage.found({ users: 1, threshold: 1 })];
    return { owner, person, strangers };
  },
  requests: ({ owner, person, strangers }, stage) => [
    tag(stage, owner, person, "first"),
    stage.stamped(owner, owner.people[0], "update_user_name", { userId: person.userId, userName: "Renamed" }),
    ...strangers.map((stranger) => {
      const [{ userId }] = stranger.people;
      return stage.stamped(stranger, stranger.people[0], "create_api_keys", {
        userId,
        apiKeys: [apiKeyOf(person.key)],
      });
    }),
  ],
  async check({ owner, person }, answers, stage) {
    assert.ok(answers.every(isDone), answers.map(({ text }) => text).join("\n"));
    const me = await stage.ask({ ...owner, organizationId: stage.first.organizationId }, person, "whoami");
    assert.equal(me.organizationId, owner.organizationId);
    assert.equal(me.username, "Renamed", "the act that proved the key took nothing else back");
    return "the owner's";
  },
  endsAlike: "all four are done in any order, and the key is proven in one organization",
});
