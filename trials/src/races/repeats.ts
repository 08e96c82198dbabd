/** The same request more than once at a time, wherever it is sent. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createKey } from "@keystead/e2e/key_pairs.ts";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import { createFixture, type Fixture } from "@keystead/e2e/matrix/fixture.ts";
import { ethereum } from "@keystead/e2e/matrix/keys.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import { createTraffic } from "@keystead/e2e/swagger/traffic.ts";
import type { Answer } from "@keystead/e2e/wire.ts";
import { shuffled } from "../../../core/test/seeded_random.ts";
import { defineRace } from "./race.ts";
import {
  type ActivityPath,
  assertRefusedAs,
  fingerprintOf,
  type Organization,
  outcomeOf,
  type Person,
  type Stage,
  type Stamped,
} from "./stage.ts";

export const idempotencyKey = defineRace({
  name: "one Idempotency-Key over bodies of different times at all servers: one activity, one answer",
  setUp: (stage) => stage.found({ users: 2, threshold: 1 }),
  requests: (organization, stage) => {
    const [a] = organization.people;
    const headers = [["Idempotency-Key", randomBytes(8).toString("hex")]] as const;
    const parameters = { walletName: "Once", accounts: [ethereum] };
    return Array.from({ length: 6 }, () => stage.stamped(organization, a, "create_wallet", parameters, headers));
  },
  async check(organization, answers, stage, requests) {
    const [a] = organization.people;
    for (const answer of answers) {
      assert.equal(outcomeOf(answer), "COMPLETED", answer.text);
      assert.deepEqual(answer.json, answers[0]?.json);
    }
    assert.equal((await stage.ask(organization, a, "list_wallets")).wallets.length, 1);
    assert.equal(await stage.kept(organization, a, requests), 1);
    const { fingerprint } = answers[0]?.json.activity ?? {};
    const winner = requests.findIndex(({ body }) => fingerprint === fingerprintOf(body));
    assert.notEqual(winner, -1);
    return `body ${winner}`;
  },
});

export const keyForTwo = defineRace({
  name: "one Idempotency-Key over two different requests: one is done, the other is told",
  setUp: (stage) => stage.found({ users: 1, threshold: 1 }),
  requests: (organization, stage) => {
    const [a] = organization.people;
    const headers = [["Idempotency-Key", randomBytes(8).toString("hex")]] as const;
    return ["one", "two"].map((userTagName) =>
      stage.stamped(organization, a, "create_user_tag", { userTagName, userIds: [] }, headers),
    );
  },
  async check(organization, answers, stage) {
    const winner = answers.findIndex((answer) => outcomeOf(answer) === "COMPLETED");
    assert.notEqual(winner, -1, answers.map(({ text }) => text).join("\n"));
    assertRefusedAs(answers[1 - winner], 409, /was used within 24 hours for a different request/);
    const names = await stage.tagNames(organization, organization.people[0]);
    assert.deepEqual(names, [["one", "two"][winner]]);
    return `the ${winner === 0 ? "first" : "second"}`;
  },
});

type Repeated = { status: number; make(stage: Stage, place: Place): Stamped | Promise<Stamped> };

/**
 * Nobody issues tokens to organizations of these races: logins with one token at once are in `otp_login.gateway.test.ts`, identities in
 * `oauth_providers.gateway.test.ts`. A provider's code is exchanged once by the courier of each host, so that all hosts but one hear that
 * it is used up. A recovery ends the key that it was stamped with, so that nobody can send it again. Profiles, auth proxies and IP
 * allowlists are made in the first organization, which must stay as it was born for the log to be executed anew.
 */
const left = [
  ...["create_session_profile", "otp_login", "recover_user", "oauth2_authenticate"],
  ...["create_oauth_providers", "delete_oauth_providers", "oauth", "oauth_login"],
  ...["disable_auth_proxy", "enable_auth_proxy", "update_auth_proxy_config"],
  ...["remove_ip_allowlist", "set_ip_allowlist"],
];
const noTokens = { contact: "", holder: createKey(), token: "", unboundToken: "" };

/** Every other activity in the table of endpoints, in an organization of its own. Votes are no activities, and race in `votes.ts`. */
const taken = Object.entries(activityTable).filter(([path]) => !left.includes(path));
const endpoints = Object.fromEntries(
  taken.map(([path, entry]): [string, Repeated] => [
    path,
    { status: 200, make: (stage) => ownRequest(stage, path as ActivityPath, entry) },
  ]),
);

async function ownRequest(stage: Stage, path: ActivityPath, entry: ActivityEntry): Promise<Stamped> {
  const fixture = await newScene(stage, path === "create_sub_organization" ? "parent" : "sub");
  const { organizationId, root } = fixture.place;
  const parameters = await entry.good(fixture);
  const { p256 } = entry.callerOf?.(parameters as never, fixture) ?? root;
  return stage.stamped(organizationId, { key: p256 }, path, parameters);
}

const traffic = createTraffic();

/** A new organization as the table of endpoints wants it, and the first one above it, where others are founded. */
async function newScene(stage: Stage, at: "parent" | "sub"): Promise<Fixture> {
  const organization = await stage.found({ users: 2, threshold: 1 });
  const { organizationId, people } = organization;
  const member = await stage.member(organization);
  const sub = {
    organizationId,
    organizationName: "Stage",
    verified: noTokens,
    parentId: stage.first.organizationId,
    root: playedBy(people[0], organizationId),
    deputy: playedBy(people[1], organizationId),
    member: playedBy(member, organizationId),
    expired: playedBy(member, organizationId),
  };
  const founder = playedBy(stage.first.root, stage.first.organizationId);
  const parent = {
    organizationId: stage.first.organizationId,
    organizationName: "",
    verified: noTokens,
    root: founder,
    deputy: founder,
    member: founder,
    expired: founder,
  };
  const places = { parent, sub, other: sub };
  return createFixture(stage.anyUrl(), traffic, places, places[at]);
}

/** They have one key, which is enough to be asked for something. */
function playedBy({ userId, key }: Person, organizationId: string): Fixture["place"]["root"] {
  return { organizationId, userId, userName: "", p256: key, secp256k1: key, ed25519: key, apiKeyIds: [] };
}

/** Every other way in which an activity can end, in one organization. */
const endings: Record<string, Repeated> = {
  failure: {
    status: 404,
    make: (stage, place) => of(stage, place, "delete_user_tags", { userTagIds: [crypto.randomUUID()] }),
  },
  refusal: {
    status: 403,
    make: (stage, place) =>
      stage.stamped(place.organization, place.member, "create_user_tag", { userTagName: unique(), userIds: [] }),
  },
  waiting: {
    status: 200,
    make: (stage, { pair }) => {
      const parameters = { userTagName: unique(), userIds: [] };
      return stage.stamped(pair, pair.people[0], "create_user_tag", parameters);
    },
  },
};

const unique = () => `Once ${crypto.randomUUID()}`;

function of(stage: Stage, { organization, a }: Place, path: ActivityPath, parameters: object): Stamped {
  return stage.stamped(organization, a, path, parameters);
}

const kinds: Record<string, Repeated> = { ...endpoints, ...endings };

/** What may be sent fifty times, in an order of the stage's. */
export function repeatedKinds({ random }: Stage): string[] {
  return shuffled(Object.keys(kinds), random);
}

/** Where bodies are sent: many of them share one organization, as they would in the field. */
export type Place = { organization: Organization; pair: Organization; a: Person; member: Person };

export async function newPlace(stage: Stage): Promise<Place> {
  const organization = await stage.found({ users: 2, threshold: 1, wallet: true });
  const pair = await stage.found({ users: 2, threshold: 2 });
  return { organization, pair, a: organization.people[0], member: await stage.member(organization) };
}

/** Sends one body of this kind so often at once, and throws unless all answers are one. Returns its fingerprint. */
export async function sendEqual(stage: Stage, place: Place, kind: string, times: number): Promise<string> {
  const { status, make } = kinds[kind] as Repeated;
  const request = await make(stage, place);
  const answers = await stage.sendAll(Array.from({ length: times }, () => request));
  const [first] = answers as [Answer];
  assert.equal(first.status, status, `${kind}: ${first.text}`);
  for (const answer of answers) assert.deepEqual([answer.status, answer.json], [first.status, first.json], kind);
  return fingerprintOf(request.body).slice("sha256:".length);
}
