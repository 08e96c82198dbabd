/** One endpoint on trial: what every endpoint must refuse alike, whatever it does. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createKey } from "../key_pairs.ts";
import {
  expiredKey,
  noSuchOrganization,
  organizationMismatch,
  unknownKey,
  unstamped,
  unverified,
} from "../refusals.ts";
import { type Answer, assertRefused, bytesOf, type Refusal, stampFields, stampOf } from "../wire.ts";
import type { Person } from "../world.ts";
import type { Fixture, Json, Kind, Sent } from "./fixture.ts";
import { malformedBodies } from "./malformed.ts";

export type Trial = {
  fixture: Fixture;
  kind: Kind;
  path: string;
  caller: Person;
  /** Whose stamp a body in order needs, where that differs. */
  callerOf?: ((body: Json) => Person) | undefined;
  /** A body in order, with this time and in this organization. */
  body(): Promise<Json>;
  /** What may not be left out, besides the envelope. */
  required: readonly string[];
};

/** The same with one body for every attempt, made now: what making it leaves behind is no attempt's doing. */
export async function fixed(trial: Trial): Promise<Trial> {
  const body = await trial.body();
  const { callerOf = () => trial.caller } = trial;
  return { ...trial, caller: callerOf(body), body: async () => body };
}

let turn = 0;

/** Sends what must be refused, in either spelling by turns. */
export async function refused(
  { fixture, kind, path }: Trial,
  name: string,
  sent: Pick<Sent, "body" | "key" | "stamp" | "isMalformed">,
  refusal: Refusal,
): Promise<Answer> {
  const spelling = turn++ % 2 === 0 ? "own" : "published";
  const answer = await fixture.send({ kind, path, ...sent, spelling });
  assert.doesNotThrow(
    () => assertRefused(answer, refusal, spelling),
    `${path}, ${name}: expected ${JSON.stringify({ ...refusal, message: String(refusal.message) })}, got ${answer.text}`,
  );
  return answer;
}

/** Bodies that are not as the endpoint's schema says. None of them may leave anything behind. */
export async function refuseMalformed(trial: Trial): Promise<void> {
  const { fixture, caller, kind, path } = trial;
  const good = await trial.body();
  for (const { name, body, refusal, isFaulty } of malformedBodies(kind, path, good, trial.required)) {
    await refused(trial, name, { body, key: caller.p256 }, refusal);
    if (isFaulty !== undefined) {
      assert.equal(
        fixture.traffic.faults(`/public/v1/${kind}/${path}`, body),
        isFaulty,
        `the document, ${path}, ${name}`,
      );
    }
  }
  const nowhere = { ...good, organizationId: randomUUID() };
  await refused(trial, "an organization that is not there", { body: nowhere, key: caller.p256 }, noSuchOrganization);
  // Who may not ask learns nothing about how to ask.
  const stranger = createKey();
  const { organizationId, parentId } = fixture.place;
  const anything = { organizationId, parameters: 7 };
  await refused(
    trial,
    "a stranger's malformed body",
    { body: anything, key: stranger, isMalformed: true },
    unknownKey(stranger, organizationId, parentId),
  );
}

/** Stamps that are missing, of other bytes, of nobody or of an expired key. */
export async function refuseStamps(trial: Trial): Promise<void> {
  const { fixture, caller, kind } = trial;
  const { organizationId, parentId, expired } = fixture.place;
  const body = await trial.body();
  const tampered = `${JSON.stringify(body)} `;
  const stamp = stampOf(stampFields(caller.p256, bytesOf(body)));
  const stranger = createKey();
  await refused(trial, "no stamp", { body }, unstamped[kind]);
  await refused(trial, "a body changed after it was stamped", { body: tampered, key: caller.p256, stamp }, unverified);
  const otherKey = stampOf({ ...stampFields(stranger, bytesOf(body)), publicKey: caller.p256.publicKey });
  await refused(trial, "another key's signature", { body, key: caller.p256, stamp: otherKey }, unverified);
  await refused(trial, "an unknown key", { body, key: stranger }, unknownKey(stranger, organizationId, parentId));
  await refused(trial, "an expired key", { body, key: expired.p256 }, expiredKey(expired.p256));
}

/** Members of organizations that have no say here. A parent's members are the runners' business: they may read. */
export async function refuseStrangers(trial: Trial): Promise<void> {
  const { place, other } = trial.fixture;
  const body = await trial.body();
  for (const stranger of [other.root, other.member]) {
    const refusal = unknownKey(stranger.p256, place.organizationId, place.parentId);
    await refused(trial, "a stranger", { body, key: stranger.p256 }, refusal);
  }
}

/** Writes across the line between parent and sub-organization, in both directions. */
export async function refuseRelatives(
  trial: Trial,
  { isSignIn, openToParent }: { isSignIn?: true | undefined; openToParent?: true | undefined } = {},
): Promise<void> {
  const { fixture } = trial;
  const { parent, sub } = fixture;
  const body = await trial.body();
  for (const { p256: key } of openToParent ? [] : [parent.root, parent.member]) {
    const downwards = { ...body, organizationId: sub.organizationId };
    const mismatch = organizationMismatch(sub.organizationId, parent.organizationId);
    await refused(trial, "a parent's member", { body: downwards, key }, mismatch);
  }
  if (isSignIn) return;
  const upwards = { ...body, organizationId: parent.organizationId };
  const unknown = unknownKey(sub.root.p256, parent.organizationId);
  await refused(trial, "a sub-organization's root user in the parent", { body: upwards, key: sub.root.p256 }, unknown);
}
