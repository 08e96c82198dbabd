/** Sign-ins that take part in races, and what must be true of their sessions in whichever order they came. */
import assert from "node:assert/strict";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { createKey, type KeyPair, keyFrom } from "@keystead/e2e/key_pairs.ts";
import type { Answer } from "@keystead/e2e/wire.ts";
import { decryptCredentialBundle, generateP256KeyPair } from "@turnkey/crypto";
import {
  isDone,
  type Organization,
  outcomeOf,
  type Person,
  resultOf,
  type Stage,
  type Stamped,
  type Stamper,
} from "./stage.ts";

/** One sign-in that is about to be sent, and the key that speaks for its user once it is answered. */
export type SignIn = { request: Stamped; keyOf(answer: Answer): KeyPair };

type Asked = { key?: KeyPair; invalidateExisting?: boolean };

/** Long enough for a race on a slow machine. */
const expirationSeconds = "3600";

/** Half of all sign-ins name the parent, as clients do that know no other. */
function named(stage: Stage, organization: Organization): Organization | string {
  return stage.random.below(2) === 0 ? organization : stage.first.organizationId;
}

/** `stamp_login`. */
export function login(stage: Stage, organization: Organization, stamper: Stamper, asked: Asked = {}): SignIn {
  const { key = createKey(), ...more } = asked;
  const parameters = { publicKey: key.publicKey, expirationSeconds, ...more };
  return {
    request: stage.stamped(named(stage, organization), stamper, "stamp_login", parameters),
    keyOf: () => key,
  };
}

/** Where bundles are encrypted to. */
const reader = generateP256KeyPair();

/** `create_read_write_session`: its key is in the answer, encrypted. */
export function readWriteSession(
  stage: Stage,
  organization: Organization,
  stamper: Stamper,
  more: Omit<Asked, "key"> = {},
): SignIn {
  const parameters = { targetPublicKey: reader.publicKeyUncompressed, expirationSeconds, ...more };
  const request = stage.stamped(named(stage, organization), stamper, "create_read_write_session", parameters);
  return {
    request,
    keyOf(answer) {
      const { credentialBundle } = resultOf(answer, request);
      return keyFrom("API_KEY_CURVE_P256", fromHex(decryptCredentialBundle(credentialBundle, reader.privateKey)));
    },
  };
}

/** `create_read_only_session`. */
export function readOnlySession(stage: Stage, organization: Organization, stamper: Stamper): Stamped {
  return stage.stamped(named(stage, organization), stamper, "create_read_only_session", {});
}

/** Those that were answered with a session. */
export function sessionsIn(signIns: readonly SignIn[], answers: readonly Answer[]): KeyPair[] {
  return signIns.flatMap(({ keyOf }, index) => {
    const answer = answers[index];
    return answer !== undefined && isDone(answer) ? [keyOf(answer)] : [];
  });
}

const unknown = /could not find public key|webauthn authenticator not found|credential ID could not be found/;

/** Refused, because nobody has this credential now. */
export function assertUnknown(answer: Answer | undefined): void {
  assert.ok(answer !== undefined && [401, 404].includes(answer.status), `not refused: ${answer?.text}`);
  assert.match(answer.json.message, unknown);
}

/** Done, or refused because nobody had this credential by then. */
export function assertDoneOrUnknown(answer: Answer): void {
  if (!isDone(answer)) assertUnknown(answer);
}

/** The public keys of a user's sessions, as its organization lists them. */
export async function listedSessions(stage: Stage, organization: Organization, userId: string): Promise<string[]> {
  const { apiKeys } = await stage.ask(organization, organization.people[0], "get_api_keys", { userId });
  return apiKeys
    .filter(({ expirationSeconds }: { expirationSeconds?: string }) => expirationSeconds !== undefined)
    .map(({ credential }: { credential: KeyPair }) => credential.publicKey)
    .sort();
}

/** Whether a key speaks for the user now. Gateway and signer must agree: one answers queries, the other decides submits. */
export async function speaksFor(
  stage: Stage,
  organization: Organization,
  { userId }: Pick<Person, "userId">,
  key: KeyPair,
): Promise<boolean> {
  const asked = await stage.query(organization, { key }, "whoami");
  const submitted = await stage.send(readOnlySession(stage, organization, { key }));
  if (asked.status === 200) {
    assert.equal(asked.json.userId, userId);
    assert.equal(outcomeOf(submitted), "COMPLETED", `it reads, and does not write: ${submitted.text}`);
    return true;
  }
  assertUnknown(asked);
  assertUnknown(submitted);
  return false;
}

/** Every session that was ever given either speaks for its user and is listed, or neither; these and no others do. */
export async function assertLiveSessions(
  stage: Stage,
  organization: Organization,
  user: Pick<Person, "userId">,
  given: readonly KeyPair[],
  live: readonly KeyPair[],
): Promise<void> {
  const listed = await listedSessions(stage, organization, user.userId);
  assert.deepEqual(listed, live.map(({ publicKey }) => publicKey).sort());
  for (const key of given) {
    assert.equal(
      await speaksFor(stage, organization, user, key),
      listed.includes(key.publicKey),
      `${key.publicKey} is ${listed.includes(key.publicKey) ? "" : "not "}listed, and speaks otherwise`,
    );
  }
}
