/**
 * Clients that use every activity there is, and remember what they were told. The matrix knows good parameters for each
 * endpoint, so whatever is added there is done here too.
 */
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { activities } from "@keystead/e2e/generated/endpoints.ts";
import { createKey, type KeyPair } from "@keystead/e2e/key_pairs.ts";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import {
  type ActivityPath,
  createFixture,
  envelope,
  type Fixture,
  fingerprintOf,
  type Json,
} from "@keystead/e2e/matrix/fixture.ts";
import { newUser } from "@keystead/e2e/matrix/people.ts";
import { createStages, type Stage } from "@keystead/e2e/matrix/stage.ts";
import { activityTable, voteTable } from "@keystead/e2e/matrix/table.ts";
import { authenticatorParams, createPasskey, passkeyStamp } from "@keystead/e2e/passkeys.ts";
import { type Answer, call, send } from "@keystead/e2e/wire.ts";
import { put } from "@keystead/server/state/entities.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import { furnish } from "../furnish/furnish.ts";

/** A request, and what became of it as far as its sender knows. Marks say how much the disk had written down by then. */
export type Exchange = {
  path: string;
  body: string;
  key: KeyPair;
  /** A header and its value, instead of the stamp that the key would make. */
  stamp?: readonly [name: string, value: string];
  sentAt: number;
  answer?: { status: number; json: Json; receivedAt: number };
};

export type Ledger = Exchange[];

/** In the first ones a single root user decides; in the last two have to agree. */
export type Theatre = { stages: Stage[]; council: Stage };

export const theatreLimits = {
  userTagsPerOrganization: 10_000,
  privateKeyTagsPerOrganization: 10_000,
  userTagsPerSubOrganization: 10_000,
};

/** Into a stopped deployment. */
export async function furnishTheatre(
  dataFolder: string,
  databaseUrl: string | undefined,
  count: number,
): Promise<Theatre> {
  const made: Theatre[] = [];
  await furnish(dataFolder, databaseUrl, async (furnisher) => {
    const newStage = createStages(furnisher);
    const stages: Stage[] = [];
    for (let i = 0; i < count; i++) stages.push(await newStage());
    const council = await newStage();
    const { organizationId, root, deputy } = council.parent;
    await furnisher.change(organizationId, [
      put("rootQuorum", { threshold: 2, userIds: [root.userId, deputy.userId] }),
    ]);
    made.push({ stages, council });
  });
  const [theatre] = made;
  if (theatre === undefined) throw new Error("nothing was furnished");
  return theatre;
}

/** What needs a message first waits for a process that the power cuts do not concern. */
const entries = (Object.entries(activityTable) as [ActivityPath, ActivityEntry][]).filter(
  ([, entry]) => entry.needsMessage !== true,
);

const signInBelow = "stamp_login by a passkey, naming the parent";

/** All that clients do sooner or later: every activity there is, votes, and what applications send to sign their users in. */
export const workPaths: readonly string[] = [...entries.map(([path]) => path), ...Object.keys(voteTable), signInBelow];

export type Running = { done: Map<string, number>; stop(): Promise<void> };

/** Clients at work until they are stopped, or until nobody answers any more. */
export function runClients(
  url: string,
  { stages, council }: Theatre,
  ledger: Ledger,
  random: Random,
  journalLength: () => number,
): Running {
  const done = new Map<string, number>();
  let stopped = false;
  const count = (path: string) => done.set(path, (done.get(path) ?? 0) + 1);

  async function client(stage: Stage): Promise<void> {
    while (!stopped) {
      if (random.below(entries.length) === 0) {
        await attempt(() => signIn(stage));
        continue;
      }
      const [path, entry] = random.pick(entries);
      if (entry.endsPlace === true) {
        await attempt(() => foundAndEnd(stage, path, entry));
        continue;
      }
      const fixture = noted(createFixture(url, silent, stage, stage[entry.runsIn ?? "parent"]), ledger, journalLength);
      await attempt(async () => {
        const answer = await fixture.submit(path, await entry.good(fixture));
        if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${answer.text}`);
        count(path);
      });
    }
  }

  /** What ends its place would end the others' work there, so it has a place of its own. */
  async function foundAndEnd(stage: Stage, path: ActivityPath, entry: ActivityEntry): Promise<void> {
    const fixture = noted(createFixture(url, silent, stage, stage.parent), ledger, journalLength);
    const key = createKey();
    const apiKeys = [{ apiKeyName: "Key", publicKey: key.publicKey, curveType: key.curve }];
    const { subOrganizationId } = await fixture.done("create_sub_organization", {
      subOrganizationName: "Short-lived",
      rootUsers: [{ userName: "Ann", apiKeys, authenticators: [], oauthProviders: [] }],
      rootQuorumThreshold: 1,
    });
    const body = envelope(activities[path].type, subOrganizationId, await entry.good(fixture));
    const answer = await fixture.send({ kind: "submit", path, key, body });
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${answer.text}`);
    count(path);
  }

  /** It runs in the sub-organization, and nowhere else, also when it is sent again after the cut. */
  async function signIn(stage: Stage): Promise<void> {
    const { parent, sub } = stage;
    const fixture = noted(createFixture(url, silent, stage, sub), ledger, journalLength);
    const passkey = createPasskey();
    await newUser(fixture, { authenticators: [authenticatorParams(passkey)] });
    const parameters = { publicKey: createKey().publicKey, expirationSeconds: "3600" };
    const body = JSON.stringify(envelope("ACTIVITY_TYPE_STAMP_LOGIN", parent.organizationId, parameters));
    const stamp = ["X-Stamp-Webauthn", passkeyStamp(passkey, body)] as const;
    const exchange: Exchange = { path: "stamp_login", body, key: sub.root.p256, stamp, sentAt: journalLength() };
    ledger.push(exchange);
    const answer = await sendOnce(url, exchange);
    if (answer.status === 503) throw new TryAgain(answer.text);
    exchange.answer = { status: answer.status, json: answer.json, receivedAt: journalLength() };
    if (answer.json?.activity?.organizationId !== sub.organizationId) {
      throw new Error(`${signInBelow} was answered ${answer.status}: ${answer.text}`);
    }
    count(signInBelow);
  }

  /** The end of the power is no surprise, and on a busy machine an answer may be late. */
  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!stopped && !(error instanceof TryAgain)) throw error;
    }
  }

  /** Proposals that wait for a second voice, and get it, one way or the other. */
  async function councillors(stage: Stage): Promise<void> {
    const { parent } = stage;
    const fixture = noted(createFixture(url, silent, stage, parent), ledger, journalLength);
    while (!stopped) {
      const body = envelope("ACTIVITY_TYPE_CREATE_USER_TAG", parent.organizationId, {
        userTagName: `Tag ${random.below(2 ** 31)}`,
        userIds: [],
      });
      const [vote, type] = random.pick([
        ["approve_activity", "ACTIVITY_TYPE_APPROVE_ACTIVITY"],
        ["reject_activity", "ACTIVITY_TYPE_REJECT_ACTIVITY"],
      ] as const);
      await attempt(async () => {
        await fixture.send({ kind: "submit", path: "create_user_tag", key: parent.root.p256, body });
        const voteBody = envelope(type, parent.organizationId, { fingerprint: fingerprintOf(body) });
        const voted = await fixture.send({ kind: "submit", path: vote, key: parent.deputy.p256, body: voteBody });
        if (voted.status !== 200) throw new Error(`${vote} was answered ${voted.status}: ${voted.text}`);
        count(vote);
      });
      await pause(random.below(10));
    }
  }

  const running = Promise.all([...stages.map(client), councillors(council)]);
  // It is looked at when it is stopped.
  running.catch(() => undefined);
  return {
    done,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

const silent = {
  isChecked: false,
  counts: { requests: 0, answers: 0, refusals: 0 },
  note: () => undefined,
  faults: () => true,
};

/** A 503 settles nothing: the request may have been executed, or not. */
class TryAgain extends Error {}

/** The fixture, with every submission and its answer in the ledger. */
function noted(fixture: Fixture, ledger: Ledger, journalLength: () => number): Fixture {
  const { send } = fixture;
  fixture.send = async (sent) => {
    if (sent.kind !== "submit" || sent.key === undefined) return send(sent);
    const body = JSON.stringify(sent.body);
    const exchange: Exchange = { path: sent.path, body, key: sent.key, sentAt: journalLength() };
    ledger.push(exchange);
    const answer = await send({ ...sent, body });
    if (answer.status === 503) throw new TryAgain(answer.text);
    exchange.answer = { status: answer.status, json: answer.json, receivedAt: journalLength() };
    return answer;
  };
  return fixture;
}

/** What the same body is answered at once. */
export function sendOnce(url: string, { path: name, key, stamp, body }: Exchange): Promise<Answer> {
  const path = `/public/v1/submit/${name}`;
  if (stamp === undefined) return call(url, path, key, body);
  return send(url, { path, headers: [["Content-Type", "application/json"], stamp], body });
}

/** What the same body is answered, with some patience. */
export async function sendAgain(url: string, exchange: Exchange): Promise<Answer> {
  for (const until = Date.now() + patienceMs; ; await pause(100)) {
    const answer = await sendOnce(url, exchange);
    if (answer.status !== 503 || Date.now() > until) return answer;
  }
}

/** Words for how a repeated answer differs from the first; undefined when it does not. */
export function difference(first: { status: number; json: Json }, again: Answer): string | undefined {
  const now = { status: again.status, json: again.json };
  if (isDeepStrictEqual({ status: first.status, json: first.json }, now)) return undefined;
  if (isLaterForm(first.json?.activity, again.json?.activity)) return undefined;
  return `answered ${JSON.stringify(first.json)} at first, and now ${again.status} ${again.text}`;
}

const waiting = "ACTIVITY_STATUS_CONSENSUS_NEEDED";

/** What waited for a second voice may have got it since: then it is the same activity, further on. */
function isLaterForm(first: Json, now: Json): boolean {
  if (first?.status !== waiting || now === undefined) return false;
  return ["id", "fingerprint", "type", "intent", "createdAt"].every((name) =>
    isDeepStrictEqual(first[name], now[name]),
  );
}
