/** The same request more than once at a time, wherever it is sent. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createKey } from "../fixtures.ts";
import { ethereum } from "../matrix/keys.ts";
import type { Answer } from "../wire.ts";
import { defineRace } from "./race.ts";
import {
  type ActivityPath,
  apiKeyOf,
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

/** What may be sent fifty times: in every way that an activity can end. */
const kinds: Record<string, { status: number; make(stage: Stage, place: Place): Stamped }> = {
  tag: {
    status: 200,
    make: (stage, place) => of(stage, place, "create_user_tag", { userTagName: unique(), userIds: [place.a.userId] }),
  },
  user: {
    status: 200,
    make: (stage, place) => {
      const credentials = { apiKeys: [apiKeyOf(createKey())], authenticators: [], oauthProviders: [], userTags: [] };
      return of(stage, place, "create_users", { users: [{ userName: "Once", ...credentials }] });
    },
  },
  wallet: {
    status: 200,
    make: (stage, place) => of(stage, place, "create_wallet", { walletName: unique(), accounts: [ethereum] }),
  },
  signature: {
    status: 200,
    make: (stage, place) =>
      of(stage, place, "sign_raw_payload", {
        signWith: place.organization.wallet.address,
        payload: randomBytes(32).toString("hex"),
        encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
        hashFunction: "HASH_FUNCTION_NO_OP",
      }),
  },
  failure: {
    status: 404,
    make: (stage, place) => of(stage, place, "delete_user_tags", { userTagIds: [crypto.randomUUID()] }),
  },
  refusal: {
    status: 403,
    make: (stage, place) =>
      stage.stamped(place.organization, place.member, "create_user_tag", { userTagName: unique(), userIds: [] }),
  },
  "sub-organization": { status: 200, make: (stage) => stage.founding({ threshold: 1 }, [createKey()]) },
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

/** Where bodies are sent: many of them share one organization, as they would in the field. */
export type Place = { organization: Organization; pair: Organization; a: Person; member: Person };

export async function newPlace(stage: Stage): Promise<Place> {
  const organization = await stage.found({ users: 2, threshold: 1, wallet: true });
  const pair = await stage.found({ users: 2, threshold: 2 });
  return { organization, pair, a: organization.people[0], member: await stage.member(organization) };
}

/** Sends one body this often at once, and throws unless all answers are one. */
export async function sendEqual(
  stage: Stage,
  place: Place,
  times: number,
): Promise<{ kind: string; fingerprint: string }> {
  const kind = stage.random.pick(Object.keys(kinds));
  const { status, make } = kinds[kind] as (typeof kinds)[string];
  const request = make(stage, place);
  const answers = await stage.sendAll(Array.from({ length: times }, () => request));
  const [first] = answers as [Answer];
  assert.equal(first.status, status, `${kind}: ${first.text}`);
  for (const answer of answers) assert.deepEqual([answer.status, answer.json], [first.status, first.json], kind);
  return { kind, fingerprint: fingerprintOf(request.body).slice("sha256:".length) };
}
