/** What requests are sent with: credentials that are good, over or gone, in each organization, all made over the wire. */
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { createKey, type KeyPair, schemeOf } from "../key_pairs.ts";
import type { Fixture, Json } from "../matrix/fixture.ts";
import { newRecovery } from "../matrix/mailed_keys.ts";
import { keyParams, userParams } from "../matrix/people.ts";
import { authenticatorParams, createPasskey, type Passkey, passkeyStamp } from "../passkeys.ts";
import { bytesOf, type Headers } from "../wire.ts";
import type { Person } from "../world.ts";

/** All that one user can send a request with. */
export type Owned = {
  key: KeyPair;
  passkey: Passkey;
  /** The key of a session from `stamp_login`. */
  sessionKey: KeyPair;
  /** The value of a read-only session. */
  readOnly: string;
};

export type Credentials = {
  good: Owned;
  /** Of a user who has been deleted since. */
  ofDeletedUser: Owned;
  /** Of a user who is still there. */
  deletedPasskey: Passkey;
  /** Of a session whose second is over. */
  expiredSessionKey: KeyPair;
  /** Of a user who has nothing to recover. */
  recoveryKey: KeyPair;
};

export async function makeCredentials(fixture: Fixture): Promise<Credentials> {
  const expiredSessionKey = createKey();
  const lifetime = { publicKey: expiredSessionKey.publicKey, expirationSeconds: "1" };
  await fixture.done("stamp_login", lifetime, fixture.place.deputy);
  const good = await newOwner(fixture);
  const gone = await newOwner(fixture);
  await fixture.done("delete_users", { userIds: [gone.userId] });
  const deletedPasskey = createPasskey();
  const { authenticatorIds } = await fixture.done("create_authenticators", {
    userId: good.userId,
    authenticators: [authenticatorParams(deletedPasskey)],
  });
  await fixture.done("delete_authenticators", { userId: good.userId, authenticatorIds });
  await untilOver(fixture, expiredSessionKey);
  const { p256: recoveryKey } = await newRecovery(fixture);
  return { good: good.owned, ofDeletedUser: gone.owned, deletedPasskey, expiredSessionKey, recoveryKey };
}

async function newOwner(fixture: Fixture): Promise<{ userId: string; owned: Owned }> {
  const [key, sessionKey, passkey] = [createKey(), createKey(), createPasskey()];
  const apiKeys = [{ ...keyParams(), publicKey: key.publicKey }];
  const users = [userParams({ apiKeys, authenticators: [authenticatorParams(passkey)] })];
  const [userId] = (await fixture.done("create_users", { users })).userIds;
  const person: Person = { ...fixture.place.member, userId, p256: key };
  await fixture.done("stamp_login", { publicKey: sessionKey.publicKey }, person);
  const { session } = await fixture.done("create_read_only_session", {}, person);
  return { userId, owned: { key, passkey, sessionKey, readOnly: session } };
}

/** A session ends by the server's clock. */
async function untilOver(fixture: Fixture, key: KeyPair): Promise<void> {
  const body = { organizationId: fixture.place.organizationId };
  for (const until = Date.now() + patienceMs; ; await pause(100)) {
    const { status } = await fixture.send({ kind: "query", path: "whoami", key, body });
    if (status === 401) return;
    assert.ok(Date.now() < until, "the session does not end");
  }
}

/** Headers for a body. */
export type Stamping = (body: Json) => Headers;

export const byKey =
  (key: KeyPair): Stamping =>
  (body) => [["X-Stamp", signStamp(key.privateKey, schemeOf[key.curve], bytesOf(body))]];

export const byPasskey =
  (passkey: Passkey): Stamping =>
  (body) => [["X-Stamp-Webauthn", passkeyStamp(passkey, bytesOf(body))]];

export const bySession =
  (value: string): Stamping =>
  () => [["X-Session", value]];

/** All of these on one request. */
export const together =
  (...all: Stamping[]): Stamping =>
  (body) =>
    all.flatMap((each) => [...each(body)]);
