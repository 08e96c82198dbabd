/** Races over sessions: who is signed in, and until when. */
import assert from "node:assert/strict";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import { createPasskey } from "@keystead/e2e/passkeys.ts";
import { defineRace } from "./race.ts";
import {
  assertDoneOrUnknown,
  assertLiveSessions,
  assertUnknown,
  listedSessions,
  login,
  readOnlySession,
  readWriteSession,
  type SignIn,
  sessionsIn,
  speaksFor,
} from "./sign_ins.ts";
import { assertRefusedAs, isDone, resultOf } from "./stage.ts";

const sessionsPerUser = 10;

const requestsOf = (signIns: readonly SignIn[]) => signIns.map(({ request }) => request);

export const loginAgainstDelete = defineRace({
  name: "a user is deleted while it signs in, by key and by passkey: no session of it is left",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const passkey = createPasskey();
    const member = await stage.member(organization, createKey(), passkey);
    const signIns = [
      login(stage, organization, member),
      readWriteSession(stage, organization, member),
      login(stage, organization, { passkey }),
    ];
    return { organization, member, passkey, signIns, readOnly: readOnlySession(stage, organization, member) };
  },
  requests: ({ organization, member, signIns, readOnly }, stage) => [
    stage.stamped(organization, organization.people[0], "delete_users", { userIds: [member.userId] }),
    readOnly,
    ...requestsOf(signIns),
  ],
  async check({ organization, member, passkey, signIns, readOnly }, [removal, reading, ...logins], stage) {
    assert.ok(isDone(removal), removal.text);
    for (const each of [reading, ...logins]) assertDoneOrUnknown(each);
    const { users } = await stage.ask(organization, organization.people[0], "list_users");
    assert.ok(!users.some(({ userId }: { userId: string }) => userId === member.userId), "the user is left");
    const sessions = sessionsIn(signIns, logins);
    for (const key of [member.key, ...sessions]) {
      assert.ok(!(await speaksFor(stage, organization, member, key)), "a deleted user's key is alive");
    }
    assertUnknown(await stage.query(organization, { passkey }, "whoami"));
    assertUnknown(await stage.send(login(stage, organization, { passkey }).request));
    if (isDone(reading)) {
      const { session } = resultOf(reading, readOnly);
      const late = await stage.query(organization, { session }, "whoami");
      assertRefusedAs(late, 401, /could not find the user of this read-only session/);
    }
    return `${sessions.length} signed in before`;
  },
});

export const loginAgainstPasskeyDelete = defineRace({
  name: "a passkey is deleted while it signs in: the sessions from before stay, and it signs nobody in after",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const passkey = createPasskey();
    const member = await stage.member(organization, createKey(), passkey);
    const { userId } = member;
    const { authenticators } = await stage.ask(organization, member, "get_authenticators", { userId });
    const authenticatorIds = authenticators.map(({ authenticatorId }: { authenticatorId: string }) => authenticatorId);
    const signIns = [
      login(stage, organization, { passkey }),
      readWriteSession(stage, organization, { passkey }),
      login(stage, organization, { passkey }),
    ];
    return { organization, member, passkey, authenticatorIds, signIns };
  },
  requests: ({ organization, member, authenticatorIds, signIns }, stage) => [
    stage.stamped(organization, organization.people[0], "delete_authenticators", {
      userId: member.userId,
      authenticatorIds,
    }),
    ...requestsOf(signIns),
  ],
  async check({ organization, member, passkey, signIns }, [removal, ...logins], stage) {
    assert.ok(isDone(removal), removal.text);
    for (const each of logins) assertDoneOrUnknown(each);
    // Whichever organization they name.
    for (let late = 0; late < 3; late++) {
      assertUnknown(await stage.send(login(stage, organization, { passkey }).request));
      assertUnknown(await stage.send(readWriteSession(stage, organization, { passkey }).request));
    }
    assertUnknown(await stage.query(organization, { passkey }, "whoami"));
    const sessions = sessionsIn(signIns, logins);
    await assertLiveSessions(stage, organization, member, sessions, sessions);
    return `${sessions.length} signed in before`;
  },
});

export const invalidations = defineRace({
  name: "logins that end the others: the last of them is left, and whoever came behind it",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const old = [createKey(), createKey()];
    for (const { publicKey } of old) await stage.done(organization, root, "stamp_login", { publicKey });
    const signIns = [false, true, true].map((invalidateExisting) =>
      login(stage, organization, root, { invalidateExisting }),
    );
    return { organization, root, old, signIns };
  },
  requests: ({ signIns }) => requestsOf(signIns),
  async check({ organization, root, old, signIns }, answers, stage) {
    for (const answer of answers.slice(0, signIns.length)) assert.ok(isDone(answer), answer.text);
    const sessions = sessionsIn(signIns, answers);
    const there = await listedSessions(stage, organization, root.userId);
    const live = sessions.filter(({ publicKey }) => there.includes(publicKey));
    await assertLiveSessions(stage, organization, root, [...old, ...sessions], live);
    const [plain, ...ending] = sessions;
    assert.equal(ending.filter((key) => live.includes(key)).length, 1, there.join("\n"));
    return plain !== undefined && live.includes(plain) ? "the plain one came last" : "it was ended";
  },
});

export const invalidationsByType = defineRace({
  name: "sign-ins of both types that end the others: each ends its own type alone",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const before = [login(stage, organization, root), readWriteSession(stage, organization, root)];
    const old: KeyPair[] = [];
    for (const { request, keyOf } of before) old.push(keyOf(await stage.send(request)));
    const ending = { invalidateExisting: true };
    const signIns = [
      login(stage, organization, root),
      login(stage, organization, root, ending),
      readWriteSession(stage, organization, root),
      readWriteSession(stage, organization, root, ending),
    ];
    return { organization, root, old, signIns };
  },
  requests: ({ signIns }) => requestsOf(signIns),
  async check({ organization, root, old, signIns }, answers, stage) {
    for (const answer of answers.slice(0, signIns.length)) assert.ok(isDone(answer), answer.text);
    const sessions = sessionsIn(signIns, answers);
    const there = await listedSessions(stage, organization, root.userId);
    const live = sessions.filter(({ publicKey }) => there.includes(publicKey));
    await assertLiveSessions(stage, organization, root, [...old, ...sessions], live);
    const isLive = (index: number) => live.includes(sessions[index] as KeyPair);
    assert.ok(isLive(1) && isLive(3), "who ended the others is there");
    return `${isLive(0) ? "a login" : "no login"} and ${isLive(2) ? "a read-write session" : "none"} behind them`;
  },
});

export const renewal = defineRace({
  name: "a session is renewed while a login ends the others: it ends before, or goes on after",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const key = createKey();
    await stage.done(organization, root, "stamp_login", { publicKey: key.publicKey, expirationSeconds: "60" });
    const signIns = [
      login(stage, organization, root, { key }),
      login(stage, organization, root, { invalidateExisting: true }),
    ];
    return { organization, root, signIns };
  },
  requests: ({ signIns }) => requestsOf(signIns),
  async check({ organization, root, signIns }, answers, stage) {
    for (const answer of answers.slice(0, signIns.length)) assert.ok(isDone(answer), answer.text);
    const [renewed, other] = sessionsIn(signIns, answers) as [KeyPair, KeyPair];
    const there = await listedSessions(stage, organization, root.userId);
    const goesOn = there.includes(renewed.publicKey);
    await assertLiveSessions(stage, organization, root, [renewed, other], goesOn ? [renewed, other] : [other]);
    return goesOn ? "it goes on" : "it was ended";
  },
});

export const oneSessionKey = defineRace({
  name: "two users sign in with one public key: it speaks for one of them",
  async setUp(stage) {
    const organization = await stage.found({ users: 2, threshold: 1 });
    const key = createKey();
    const people = organization.people.slice(0, 2);
    const signIns = people.map((person) => login(stage, organization, person, { key }));
    return { organization, people, key, signIns };
  },
  requests: ({ signIns }) => requestsOf(signIns),
  async check({ organization, people, key }, answers, stage) {
    const winner = answers.findIndex(isDone);
    const [owner, other] = [people[winner], people[1 - winner]];
    assert.ok(owner !== undefined && other !== undefined, answers.map(({ text }) => text).join("\n"));
    assertRefusedAs(answers[1 - winner], 409, /already belongs to a user of this organization/);
    await assertLiveSessions(stage, organization, owner, [key], [key]);
    assert.deepEqual(await listedSessions(stage, organization, other.userId), []);
    return `user ${winner + 1}`;
  },
});

export const sessionEviction = defineRace({
  name: "an eleventh session: sign-ins of both types take the places of the oldest, and of no others",
  async setUp(stage) {
    const organization = await stage.found({ users: 1, threshold: 1 });
    const [root] = organization.people;
    const old = Array.from({ length: sessionsPerUser }, () => createKey());
    for (const { publicKey } of old) {
      await stage.done(organization, root, "stamp_login", { publicKey, expirationSeconds: "3600" });
    }
    const signIns = [
      login(stage, organization, root),
      readWriteSession(stage, organization, root),
      login(stage, organization, root),
    ];
    return { organization, root, old, signIns };
  },
  requests: ({ organization, old, signIns }, stage) => [
    stage.stamped(organization, { key: old[0] as KeyPair }, "create_user_tag", { userTagName: "first", userIds: [] }),
    ...requestsOf(signIns),
  ],
  async check({ organization, root, old, signIns }, [act, ...logins], stage) {
    for (const each of logins) assert.ok(isDone(each), each.text);
    assertDoneOrUnknown(act);
    const sessions = sessionsIn(signIns, logins);
    const live = [...old.slice(sessions.length), ...sessions];
    assert.equal(live.length, sessionsPerUser);
    await assertLiveSessions(stage, organization, root, [...old, ...sessions], live);
    return isDone(act) ? "the oldest acted first" : "the oldest was evicted first";
  },
});
