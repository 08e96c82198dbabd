/** Races over sessions: who is signed in, and until when. */
import assert from "node:assert/strict";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import { defineRace } from "./race.ts";
import { assertRefusedAs, isDone, type Organization, type Person, type Stage, type Stamped } from "./stage.ts";

const unknownKey = /could not find public key/;
const sessionsPerUser = 10;

/** Half of them name the parent, as clients do that know no other. */
function login(stage: Stage, organization: Organization, person: { key: KeyPair }, key: KeyPair, more = {}): Stamped {
  const named = stage.random.below(2) === 0 ? organization : stage.first.organizationId;
  const parameters = { publicKey: key.publicKey, expirationSeconds: "3600", ...more };
  return stage.stamped(named, person, "stamp_login", parameters);
}

/** The public keys of a user's sessions. */
async function sessionsOf(stage: Stage, organization: Organization, reader: Person, userId: string): Promise<string[]> {
  const { apiKeys } = await stage.ask(organization, reader, "get_api_keys", { userId });
  return apiKeys
    .filter(({ expirationSeconds }: { expirationSeconds?: string }) => expirationSeconds !== undefined)
    .map(({ credential }: { credential: KeyPair }) => credential.publicKey);
}

export const loginAgainstDelete = defineRace({
  name: "a user is deleted while it signs in: no session of it is left",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const member = await stage.member(organization);
    return { organization, member, keys: [createKey(), createKey()] };
  },
  requests: ({ organization, member, keys }, stage) => [
    stage.stamped(organization, organization.people[0], "delete_users", { userIds: [member.userId] }),
    ...keys.map((key) => login(stage, organization, member, key)),
  ],
  async check({ organization, member, keys }, [removal, ...logins], stage) {
    assert.ok(isDone(removal), removal.text);
    for (const each of logins) if (!isDone(each)) assertRefusedAs(each, 401, unknownKey);
    for (const key of [member.key, ...keys]) {
      const tag = { userTagName: "late", userIds: [] };
      const late = stage.stamped(organization, { key }, "create_user_tag", tag);
      assertRefusedAs(await stage.send(late), 401, unknownKey);
    }
    return `${logins.filter(isDone).length} signed in before`;
  },
});

export const invalidations = defineRace({
  name: "logins that end the others: the last of them is left, and whoever came behind it",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const old = [createKey(), createKey()];
    for (const { publicKey } of old) await stage.done(organization, root, "stamp_login", { publicKey });
    return { organization, root, old, keys: [createKey(), createKey(), createKey()] };
  },
  requests: ({ organization, root, keys }, stage) =>
    keys.map((key, index) => login(stage, organization, root, key, { invalidateExisting: index > 0 })),
  async check({ organization, root, old, keys }, answers, stage) {
    for (const answer of answers.slice(0, keys.length)) assert.ok(isDone(answer), answer.text);
    const there = await sessionsOf(stage, organization, root, root.userId);
    const [plain, ...ending] = keys.map(({ publicKey }) => publicKey);
    for (const { publicKey } of old) assert.ok(!there.includes(publicKey), "an old session is left");
    assert.equal(ending.filter((publicKey) => there.includes(publicKey)).length, 1, there.join("\n"));
    assert.equal(there.length, there.includes(plain ?? "") ? 2 : 1);
    return there.length === 2 ? "the plain one came last" : "it was ended";
  },
});

export const sessionEviction = defineRace({
  name: "an eleventh session: logins take the places of the oldest, and of no others",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const old = Array.from({ length: sessionsPerUser }, () => createKey());
    for (const { publicKey } of old) {
      await stage.done(organization, root, "stamp_login", { publicKey, expirationSeconds: "3600" });
    }
    return { organization, root, old, fresh: [createKey(), createKey(), createKey()] };
  },
  requests: ({ organization, root, old, fresh }, stage) => [
    stage.stamped(organization, { key: old[0] as KeyPair }, "create_user_tag", { userTagName: "first", userIds: [] }),
    ...fresh.map((key) => login(stage, organization, root, key)),
  ],
  async check({ organization, root, old, fresh }, [act, ...logins], stage) {
    for (const each of logins) assert.ok(isDone(each), each.text);
    const there = await sessionsOf(stage, organization, root, root.userId);
    const kept = [...old.slice(fresh.length), ...fresh].map(({ publicKey }) => publicKey);
    assert.deepEqual(there.sort(), kept.sort());
    if (!isDone(act)) assertRefusedAs(act, 401, unknownKey);
    return isDone(act) ? "the oldest acted first" : "the oldest was evicted first";
  },
});
