/** Every endpoint of the registry with one body in order, all on the same parent and sub-organization. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { activities, queries } from "../generated/endpoints.ts";
import type { ActivityEntry, QueryEntry } from "../matrix/entry.ts";
import { type ActivityPath, envelope, type Fixture, type Json, type Kind } from "../matrix/fixture.ts";
import type { Place } from "../matrix/stage.ts";
import { activityTable, queryTable, voteTable } from "../matrix/table.ts";
import { assertAccepted } from "../wire.ts";
import type { Person } from "../world.ts";

export type Endpoint = {
  kind: Kind;
  path: string;
  url: string;
  /** Where the body runs. */
  place: Place;
  body: Json;
  /** Whose stamp makes it run. */
  caller: Person;
  /** The same about the sub-organization, and about the parent. */
  below: Json;
  above: Json;
  /** Another one about the parent, where equal bytes would be the same act. */
  aboveAgain: Json;
};

/** The same two organizations, each as the place where an endpoint runs. */
export type Fixtures = { parent: Fixture; sub: Fixture };

/** Those with a body that depends on nothing else come first; votes need an activity that waits, and change the quorum for it. */
export async function prepareEndpoints(fixtures: Fixtures): Promise<Endpoint[]> {
  const prepared: Endpoint[] = [];
  for (const [path, entry] of Object.entries(activityTable) as [ActivityPath, ActivityEntry][]) {
    const fixture = fixtures[entry.runsIn ?? "parent"];
    const again = entry.isSignIn === true ? await entry.good(fixture) : undefined;
    const good = await entry.good(fixture);
    const caller = entry.callerOf?.(good, fixture) ?? fixture.place.root;
    prepared.push({ ...toActivity(path, fixture, good, again), caller });
  }
  for (const [path, entry] of Object.entries(queryTable) as [keyof typeof queries, QueryEntry][]) {
    prepared.push(await toQuery(path, entry, fixtures));
  }
  const { sub } = fixtures;
  const { root, deputy } = sub.place;
  await sub.done("update_root_quorum", { threshold: 2, userIds: [root.userId, deputy.userId] });
  for (const path of Object.keys(voteTable) as (keyof typeof voteTable)[]) {
    const fingerprint = await proposeIn(sub);
    prepared.push({ ...toActivity(path, sub, { fingerprint }), caller: deputy });
  }
  const registered = [...Object.keys(activities), ...Object.keys(queries)];
  assert.deepEqual(prepared.map(({ path }) => path).sort(), registered.sort(), "every endpoint of the registry");
  return prepared;
}

function toActivity(
  path: ActivityPath,
  { place, parent, sub }: Fixture,
  parameters: object,
  again: object = parameters,
): Endpoint {
  const { type, url } = activities[path];
  const body = envelope(type, place.organizationId, parameters);
  const at = ({ organizationId }: Place) => ({ ...body, organizationId });
  const aboveAgain = envelope(type, parent.organizationId, again);
  return { kind: "submit", path, url, place, body, caller: place.root, below: at(sub), above: at(parent), aboveAgain };
}

async function toQuery(path: keyof typeof queries, entry: QueryEntry, fixtures: Fixtures): Promise<Endpoint> {
  const bodyIn = async (fixture: Fixture) => {
    const parameters = await entry.good(fixture, fixture.place);
    return { organizationId: fixture.place.organizationId, ...parameters };
  };
  const { place } = fixtures.parent;
  const body = await bodyIn(fixtures.parent);
  const below = await bodyIn(fixtures.sub);
  const [above, aboveAgain] = [body, body];
  return { kind: "query", path, url: queries[path].url, place, body, caller: place.root, below, above, aboveAgain };
}

/** The fingerprint of an activity that waits for its second approval. */
async function proposeIn(fixture: Fixture): Promise<string> {
  const answer = await fixture.submit("create_user_tag", { userTagName: randomUUID(), userIds: [] });
  assertAccepted(answer);
  assert.equal(answer.json.activity.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  return answer.json.activity.fingerprint;
}
