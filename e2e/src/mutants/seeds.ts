/** Valid requests of every endpoint and every version of it, from the table of the matrix: what is entered there is mutated here. */
import { randomUUID } from "node:crypto";
import { activities } from "../generated/endpoints.ts";
import type { ActivityEntry, QueryEntry } from "../matrix/entry.ts";
import { type ActivityPath, envelope, type Fixture, type Json } from "../matrix/fixture.ts";
import { activityTable, queryTable, voteTable } from "../matrix/table.ts";
import { assertAccepted, bytesOf } from "../wire.ts";
import type { Seed } from "./draft.ts";

export type Endpoint = {
  kind: Seed["kind"];
  path: string;
  /** Where it must be asked, if not in either place. */
  runsIn?: "parent" | "sub";
  /** After it nothing is there any more. */
  endsPlace: boolean;
  /** Good bodies, each by whoever may send it. */
  prepare(fixture: Fixture): Promise<Pick<Seed, "value" | "callers">[]>;
};

/** What only a parent may do. */
const parentsOnly = ["create_sub_organization"];

export const endpoints: readonly Endpoint[] = [
  ...Object.entries(activityTable as Record<string, ActivityEntry>).map(([path, entry]) =>
    activityEndpoint(path, entry),
  ),
  ...Object.keys(voteTable).map(voteEndpoint),
  ...Object.entries(queryTable as Record<string, QueryEntry>).map(([path, entry]) => queryEndpoint(path, entry)),
];

function activityEndpoint(path: string, entry: ActivityEntry): Endpoint {
  const runsIn = parentsOnly.includes(path) ? "parent" : entry.runsIn;
  return {
    kind: "submit",
    path,
    ...(runsIn && { runsIn }),
    endsPlace: entry.endsPlace === true,
    async prepare(fixture) {
      const { organizationId, root, deputy } = fixture.place;
      const callers = entry.isOwnAct ? [root] : [root, deputy];
      const types = [
        [activities[path as ActivityPath].type, entry.good] as const,
        ...Object.entries(entry.versions ?? {}),
      ];
      const seeds: Pick<Seed, "value" | "callers">[] = [];
      for (const [type, good] of types) {
        seeds.push({ value: envelope(type, organizationId, await good(fixture)), callers });
      }
      return seeds;
    },
  };
}

/** A vote needs something to vote on, and somebody else who proposed it. */
function voteEndpoint(path: string): Endpoint {
  return {
    kind: "submit",
    path,
    endsPlace: false,
    async prepare(fixture) {
      const { organizationId, root, deputy } = fixture.place;
      const { quorum } = (await fixture.ask("get_organization_configs")).configs;
      if (quorum.threshold === 1) {
        await fixture.done("update_root_quorum", { threshold: 2, userIds: [root.userId, deputy.userId] });
      }
      const seeds: Pick<Seed, "value" | "callers">[] = [];
      for (let i = 0; i < 4; i++) {
        const proposed = await fixture.submit("create_user_tag", { userTagName: randomUUID(), userIds: [] });
        assertAccepted(proposed);
        const { fingerprint } = proposed.json.activity;
        const value = envelope(activities[path as ActivityPath].type, organizationId, { fingerprint });
        seeds.push({ value, callers: [deputy] });
      }
      return seeds;
    },
  };
}

function queryEndpoint(path: string, entry: QueryEntry): Endpoint {
  return {
    kind: "query",
    path,
    endsPlace: false,
    async prepare(fixture) {
      const { organizationId, root, deputy, member } = fixture.place;
      const value = { organizationId, ...(await entry.good(fixture, fixture.place)) };
      return [{ value, callers: [root, deputy, member] }];
    },
  };
}

/** Whole seeds for one endpoint in one place. */
export async function makeSeeds(endpoint: Endpoint, fixture: Fixture): Promise<Seed[]> {
  const { place, parent, sub, other } = fixture;
  const question = (organizationId: string) => Buffer.from(bytesOf({ organizationId, serial: randomUUID() }));
  const prepared = await endpoint.prepare(fixture);
  const others = [
    { body: question(place.organizationId), key: place.deputy.p256 },
    { body: question(place.organizationId), key: place.member.ed25519 },
    { body: question(sub.organizationId), key: sub.root.secp256k1 },
    { body: question(other.organizationId), key: other.root.p256 },
    ...prepared.map(({ value }: { value: Json }) => ({ body: Buffer.from(bytesOf(value)), key: place.root.p256 })),
  ];
  const { kind, path } = endpoint;
  return prepared.map(({ value, callers }) => ({
    kind,
    path,
    places: { parent, sub, other },
    place,
    callers,
    value,
    others,
  }));
}
