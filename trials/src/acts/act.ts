/**
 * Acts: requests that succeed, each with what must be there before and with how its effect is seen. The harnesses that kill, race or
 * bend do so with these; what an endpoint does is said once, in the endpoint matrix.
 */
import assert from "node:assert/strict";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import {
  type ActivityPath,
  type Envelope,
  envelope,
  type Fixture,
  fingerprintOf,
  type Json,
} from "@keystead/e2e/matrix/fixture.ts";
import { type Look, look } from "@keystead/e2e/matrix/look.ts";
import type { Stage } from "@keystead/e2e/matrix/stage.ts";
import type { Person } from "@keystead/e2e/world.ts";
import type { AnyActivity } from "@keystead/server/endpoints/define_activity.ts";
import { activities, activityForms } from "@keystead/server/generated/activities.ts";

export type Act = {
  name: string;
  /** Which of a stage's organizations it plays in. */
  at: keyof Stage;
  /** The organization is gone afterwards: the next act needs another stage. */
  endsPlace?: true;
  /** It has a code exchanged at an OAuth 2.0 provider, which can be done once. */
  exchangesCode?: true;
  /** Its result is sealed: the server writes it to its row a moment after the answer. */
  isSealed: boolean;
  /** Makes what must be there before, and says what to send. */
  begin(fixture: Fixture): Promise<Deed>;
};

/** One act about to be done. */
export type Deed = {
  /** Of an activity, or of the auth proxy. */
  path: string;
  caller: Person;
  /** Sent through the auth proxy, without a stamp. */
  byProxy?: ByProxy;
  /** Whoever sends it again sends the same bytes. */
  body: string;
  /** A header and its value, instead of the stamp that the caller's key would make. */
  stamp?: readonly [name: string, value: string];
  /**
   * What it may be answered instead, where a process was killed that had what cannot be had again. Nothing was done then, and the same
   * bytes are refused from then on.
   */
  mayBeRefused?: RegExp;
  /** Fails unless this is the right answer, and its effect is there once. The answer is the activity itself, but of the auth proxy. */
  check(seen: { activity: Json; answer: Json }): Promise<void>;
  /** Puts back what the next act in this place would stumble over. */
  tidy?(): Promise<void>;
};

export type ByProxy = {
  configId: string;
  /** The activity that a flat answer stands for. */
  activityOf(answer: Json): Promise<Json>;
  /** An act that came later may have closed the proxy or narrowed it, and with it the way to the answer. */
  reopen(): Promise<unknown>;
};

/** An endpoint's own act, done by a root user at once. */
export function ownAct(path: ActivityPath, entry: ActivityEntry): Act {
  return {
    name: path,
    at: entry.runsIn ?? "parent",
    ...(entry.endsPlace && { endsPlace: true }),
    isSealed: isSealed(path),
    async begin(fixture) {
      const parameters = await entry.good(fixture);
      const before = await look(fixture);
      const body = bodyOf(path, fixture, parameters);
      return {
        path,
        caller: entry.callerOf?.(parameters as never, fixture) ?? fixture.place.root,
        body: JSON.stringify(body),
        async check({ activity }) {
          assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
          await checkEffect(entry, fixture, body, activity, before);
          if (entry.endsPlace !== true) await checkOnce(fixture, body);
        },
      };
    },
  };
}

export function isSealed(path: ActivityPath): boolean {
  return (activities[path] as AnyActivity).sealed === true;
}

export function bodyOf(path: ActivityPath, { place }: Fixture, parameters: object): Envelope {
  return envelope(activities[path].type, place.organizationId, parameters);
}

/** That the result is what the endpoint says, and that everybody sees what was done and nothing else. */
export async function checkEffect(
  entry: ActivityEntry,
  fixture: Fixture,
  { type, parameters }: Envelope,
  activity: Json,
  before: Look,
): Promise<void> {
  const after = entry.endsPlace ? before : await look(fixture);
  const seen = { before, after, result: activity.result[activityForms.get(type)?.resultKey ?? ""] };
  assert.deepEqual(seen.result, entry.result(parameters, seen, fixture));
  await entry.shows(parameters, seen, fixture);
}

export async function checkUnchanged(fixture: Fixture, before: Look): Promise<void> {
  assert.deepEqual(await look(fixture), before);
}

/** Among the newest activities it is one. */
export async function checkOnce(fixture: Fixture, body: Envelope): Promise<void> {
  const { activities: newest } = await fixture.ask("list_activities", { paginationOptions: { limit: "20" } });
  const fingerprint = fingerprintOf(body);
  assert.equal(newest.filter((activity: Json) => activity.fingerprint === fingerprint).length, 1, "is there once");
}
