/** The whole matrix for one activity: it is refused in every way it must be, before it is done, repeated and agreed on. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { patienceMs } from "../../../core/test/patience.ts";
import { activities, activityForms } from "../generated/endpoints.ts";
import { assertExplained, noSuchOrganization, policyRefusalBy } from "../refusals.ts";
import { type Answer, assertAccepted, assertRefused, bytesOf, type Refusal, stampFields } from "../wire.ts";
import type { Person } from "../world.ts";
import type { ActivityEntry, Kept } from "./entry.ts";
import {
  type ActivityPath,
  digestOf,
  type Envelope,
  envelope,
  type Fixture,
  fingerprintOf,
  type Json,
} from "./fixture.ts";
import { foreignIds, idsOfNothing } from "./foreign.ts";
import { assertOnlyKept, type Look, look } from "./look.ts";
import type { Place } from "./stage.ts";
import {
  fixed,
  refused,
  refuseMalformed,
  refuseRelatives,
  refuseStamps,
  refuseStrangers,
  type Trial,
} from "./trial.ts";
import { noVote } from "./votes.ts";

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** `agreed` is a second stage, where two root users must agree. */
export async function runActivity(
  t: TestContext,
  path: ActivityPath,
  entry: ActivityEntry,
  { first, agreed }: { first: Fixture; agreed: Fixture },
): Promise<void> {
  const trial = toTrial(path, entry, first);
  await t.test(`${path}: bad input`, async () => {
    const one = await fixed(trial);
    await assertOnlyKept(first, () => refuseMalformed(one));
    for (const at of ["parent", "sub"] as const) await refuseBadInput(trial, entry, at);
  });
  await t.test(`${path}: bad stamp`, async () => {
    const one = await fixed(trial);
    await assertOnlyKept(first, () => refuseStamps(one));
  });
  await t.test(`${path}: no permission`, () => testNoPermission(trial, entry));
  await t.test(`${path}: other organization`, async () => {
    const one = await fixed(trial);
    await assertOnlyKept(first, () => assertOnlyKept(first, () => refuseOthers(one, entry), undefined, first.sub));
    await refuseForeign(trial, entry);
  });
  await t.test(`${path}: success and replay`, () => testSuccess(trial, entry));
  await t.test(`${path}: two of two`, () => twoOfTwo(entry)(toTrial(path, entry, agreed), entry));
  for (const [type, good] of Object.entries(entry.versions ?? {})) {
    await t.test(`${path}: ${type}`, () => testVersion(trial, entry, type, good));
  }
  for (const [name, run] of Object.entries(entry.also ?? {})) {
    await t.test(`${path}: ${name}`, () => run(first));
  }
}

function toTrial(path: ActivityPath, entry: ActivityEntry, fixture: Fixture): Trial {
  return {
    fixture,
    kind: "submit",
    path,
    caller: fixture.place.root,
    body: async () => newBody(path, fixture, await entry.good(fixture)),
    required: entry.required,
    callerOf: entry.callerOf && (({ parameters }) => entry.callerOf?.(parameters, fixture) ?? fixture.place.root),
  };
}

function newBody(path: string, { place }: Fixture, parameters: object, at: Place = place): Envelope {
  return envelope(activities[path as ActivityPath].type, at.organizationId, parameters);
}

type Attempt = { name: string; body: Envelope; refusal: Refusal; kept?: Kept; caller?: Person | undefined };

/** Refuses them one after the other; those that say so are kept, with the refusal as their failure, and nothing else is. */
async function refuseAll(trial: Trial, attempts: readonly Attempt[], caller: Person, place: Place): Promise<void> {
  const kept: ReturnType<typeof keptAs>[] = [];
  const attempt = async () => {
    for (const { name, body, refusal, kept: status, caller: own = caller } of attempts) {
      const answer = await refused(trial, name, { body, key: own.p256 }, refusal);
      if (status !== undefined) kept.push(keptAs(body, status, answer));
    }
  };
  await assertOnlyKept(trial.fixture, attempt, () => kept, place);
}

export function keptAs(body: Envelope, status: Kept, { json: { code, message, details } }: Answer) {
  // Why a policy refused is not a failure: recorded answers have none there.
  const failure = status === "FAILED" ? { code, message, details } : undefined;
  return { fingerprint: fingerprintOf(body), status: `ACTIVITY_STATUS_${status}`, failure };
}

async function refuseBadInput(trial: Trial, entry: ActivityEntry, at: "parent" | "sub"): Promise<void> {
  const { fixture, path } = trial;
  const attempts: Attempt[] = [];
  for (const { name, bend, refusal, kept, at: where = entry.runsIn ?? "parent" } of entry.bad) {
    if (where !== at) continue;
    const good = await entry.good(fixture);
    const sent = await bend(good, fixture);
    const expected = typeof refusal === "function" ? refusal(sent, fixture) : refusal;
    const body = newBody(path, fixture, sent, fixture[at]);
    const caller = entry.callerOf?.(good, fixture);
    attempts.push({ name, body, refusal: expected, caller, ...(kept && { kept }) });
  }
  if (attempts.length > 0) await refuseAll(trial, attempts, fixture[at].root, fixture[at]);
}

/** A member is refused by policy, for good: whoever repeats the bytes hears the same. */
async function testNoPermission(trial: Trial, entry: ActivityEntry): Promise<void> {
  const { fixture, path } = trial;
  const { member, root, deputy } = fixture.place;
  const denied = [
    ...(entry.isOwnAct ? [] : [await entry.good(fixture)]),
    ...(entry.denied ? [entry.denied(fixture)] : []),
  ];
  const bodies = denied.map((parameters) => newBody(path, fixture, parameters));
  const refusal = policyRefusalBy((await look(fixture)).policies.map(({ policyId }) => policyId));
  const attempts = bodies.map((body): Attempt => ({ name: "a member", body, refusal, kept: "REJECTED" }));
  await refuseAll(trial, attempts, member, fixture.place);
  await assertOnlyKept(fixture, async () => {
    for (const body of bodies) {
      for (const { p256: key } of [member, root, deputy]) {
        await refused(trial, "what was refused already", { body, key }, refusal);
      }
    }
  });
  if (entry.own === undefined) return;
  await fixture.done(path as ActivityPath, await entry.own(fixture), member);
}

async function refuseOthers(trial: Trial, { isSignIn, openToParent }: ActivityEntry): Promise<void> {
  await refuseStrangers(trial);
  await refuseRelatives(trial, { isSignIn, openToParent });
}

/** Ids of other organizations are answered exactly like ids of nothing. */
async function refuseForeign(trial: Trial, entry: ActivityEntry): Promise<void> {
  const { fixture, path } = trial;
  const { place } = fixture;
  if (entry.foreign.length === 0) return;
  const relative = place === fixture.sub ? fixture.parent : fixture.sub;
  const attempts: Attempt[] = [];
  for (const theirs of [
    idsOfNothing(),
    await foreignIds(fixture, relative),
    await foreignIds(fixture, fixture.other),
  ]) {
    for (const { name, bend, refusal } of entry.foreign) {
      const body = newBody(path, fixture, bend(await entry.good(fixture), theirs));
      attempts.push({ name, body, refusal: refusal(theirs, place), kept: "FAILED" });
    }
  }
  await refuseAll(trial, attempts, place.root, place);
}

async function testSuccess(trial: Trial, entry: ActivityEntry): Promise<void> {
  const { fixture, path } = trial;
  const { deputy, member, root, expired } = fixture.place;
  const parameters = await entry.good(fixture);
  const body = newBody(path, fixture, parameters);
  const caller = trial.callerOf?.(body) ?? trial.caller;
  const before = await look(fixture);
  const answer = await fixture.send({ kind: "submit", path, body, key: caller.p256 });
  assertAccepted(answer);
  const after = entry.endsPlace ? before : await look(fixture);
  await checkDone(entry, fixture, answer, { body, voters: [caller], before, after });
  if (entry.endsPlace) return testEnded(trial, body, answer);

  await assertOnlyKept(fixture, async () => {
    for (const person of [root, root, deputy, member]) {
      const repeated = await fixture.send({ kind: "submit", path, body, key: person.p256 });
      assert.deepEqual(repeated.json, person === caller ? answer.json : asOthersSee(entry, body, answer.json));
    }
    const { id, fingerprint } = answer.json.activity;
    const { activity } = await fixture.ask("get_activity", { activityId: id });
    assert.deepEqual(activity, asQueriesShow(entry, body, answer.json).activity);
    const published = await fixture.send({ kind: "submit", path, body, key: root.p256, spelling: "published" });
    assert.equal(published.json.activity.id, id);
    assert.equal(published.json.activity.fingerprint, fingerprint);
    // Even what is done already is shown only to whom it concerns.
    await refuseKnownBody(trial, body, expired);
  });
}

/** Whoever belonged to it may ask once more what came of this body; nothing else is there any more. */
async function testEnded(trial: Trial, body: Envelope, answer: Answer): Promise<void> {
  const { fixture, path } = trial;
  const { place, parent } = fixture;
  for (const { p256: key } of [place.root, place.deputy, place.member]) {
    const repeated = await fixture.send({ kind: "submit", path, body, key });
    assert.deepEqual(repeated.json, answer.json);
    await refused(trial, "in what is gone", { body: await trial.body(), key }, noSuchOrganization);
  }
  await refused(trial, "by the parent", { body: await trial.body(), key: parent.root.p256 }, noSuchOrganization);
}

async function refuseKnownBody(trial: Trial, body: Envelope, expired: Person): Promise<void> {
  const { fixture, path } = trial;
  for (const { p256: key } of [fixture.other.root, expired]) {
    const answer = await fixture.send({ kind: "submit", path, body, key });
    assert.equal(answer.status, 401, answer.text);
  }
}

type Done = { body: Envelope; voters: readonly Person[]; before: Look; after: Look };

async function checkDone(
  entry: ActivityEntry,
  fixture: Fixture,
  { json }: Answer,
  { body, voters, before, after }: Done,
) {
  const { parameters, type } = body;
  const seen = { before, after, result: json.activity.result[activityForms.get(type)?.resultKey ?? ""] };
  const result = entry.result(parameters, seen, fixture);
  checkActivity(json, { body, voters, result, place: fixture.place });
  await entry.shows(parameters, seen, fixture);
}

type Expected = { body: Envelope; voters: readonly Person[]; result: object; place: Place; status?: string };

/** Everything a client can read of an activity that was submitted by the first voter and approved by the others. */
function checkActivity({ activity, ...nothing }: Json, { body, voters, result, place, status }: Expected): void {
  const form = activityForms.get(body.type);
  assert.ok(form);
  const isDone = status === undefined;
  const { id, createdAt, updatedAt, votes, ...rest } = activity;
  assert.deepEqual(nothing, {});
  assert.match(id, uuidV7);
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < patienceMs, createdAt);
  assert.ok(Date.parse(updatedAt) >= Date.parse(createdAt));
  assert.deepEqual(rest, {
    organizationId: place.organizationId,
    status: status ?? "ACTIVITY_STATUS_COMPLETED",
    type: body.type,
    intent: { [form.intentKey]: body.parameters },
    result: isDone ? { [form.resultKey]: result } : {},
    fingerprint: fingerprintOf(body),
    canApprove: false,
    canReject: !isDone,
    appProofs: [],
  });
  assert.deepEqual(
    votes.map(({ id: voteId, user, createdAt: _, ...vote }: Json) => {
      assert.match(voteId, uuidV4);
      return { ...vote, userName: user.userName };
    }),
    voters.map(({ userId, userName, p256 }) => ({
      userId,
      userName,
      activityId: id,
      selection: "VOTE_SELECTION_APPROVED",
      message: JSON.stringify(body),
      ...stampFields(p256, bytesOf(body)),
    })),
  );
}

/** Where there are policies, whoever has no vote hears what each of them came to. */
function explainedNoVote(policies: readonly Json[]): Refusal {
  return {
    ...noVote,
    details([why]) {
      assert.equal(why.message, "no policy that this activity waits for is about this user and this credential");
      assertExplained(
        why,
        policies.map(({ policyId }) => policyId),
      );
    },
  };
}

/** What is worth something to its bearer is shown to nobody else, and nor is the stamp that would bring it again. */
function asOthersSee({ bearerField }: ActivityEntry, { type }: Envelope, json: Json): Json {
  if (bearerField === undefined) return json;
  const { resultKey = "" } = activityForms.get(type) ?? {};
  const result = { [resultKey]: { ...json.activity.result[resultKey], [bearerField]: "" } };
  const votes = json.activity.votes.map((vote: Json) => ({ ...vote, signature: "" }));
  return { activity: { ...json.activity, result, votes } };
}

/** Until what a body brought is worth nothing, queries show neither it nor what was stamped. */
function asQueriesShow(entry: ActivityEntry, body: Envelope, json: Json): Json {
  if (entry.bearerParams === undefined) return json;
  const { activity } = asOthersSee(entry, body, json);
  const parameters = withDigests(body.parameters, entry.bearerParams);
  const { intentKey = "" } = activityForms.get(body.type) ?? {};
  const votes = activity.votes.map(({ message: _, ...vote }: Json) => vote);
  return { activity: { ...activity, intent: { [intentKey]: parameters }, votes } };
}

/** Wherever they are in it. */
function withDigests(value: unknown, names: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withDigests(item, names));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      names.includes(name) ? digestOf(String(inner)) : withDigests(inner, names),
    ]),
  );
}

function twoOfTwo({ isSignIn, callerOf, neverWaits }: ActivityEntry) {
  if (isSignIn === true || callerOf !== undefined) return testAlone;
  return neverWaits === true ? testRefusedAlone : testConsensus;
}

/** What makes no sense after others have had a day to approve it is refused at once. */
async function testRefusedAlone(trial: Trial, entry: ActivityEntry): Promise<void> {
  const { fixture, path, caller } = trial;
  const { userIds } = (await look(fixture)).quorum;
  const parameters = await entry.good(fixture);
  await fixture.done("update_root_quorum", { threshold: 2, userIds });
  const body = newBody(path, fixture, parameters);
  const refusal: Refusal = {
    status: 403,
    code: 7,
    errorCode: "REQUEST_NOT_AUTHORIZED",
    message: `request not authorized: it needs approvals of others, and ${body.type} cannot wait for them; allow it by a policy`,
  };
  await refuseAll(trial, [{ name: "alone", body, refusal, kept: "REJECTED" }], caller, fixture.place);
}

/** One's own session waits for no second root user. */
async function testAlone(trial: Trial, entry: ActivityEntry): Promise<void> {
  const { fixture, path } = trial;
  const { userIds } = (await look(fixture)).quorum;
  const parameters = await entry.good(fixture);
  await fixture.done("update_root_quorum", { threshold: 2, userIds });
  const body = newBody(path, fixture, parameters);
  const caller = trial.callerOf?.(body) ?? trial.caller;
  const before = await look(fixture);
  const answer = await fixture.send({ kind: "submit", path, body, key: caller.p256 });
  assertAccepted(answer);
  await checkDone(entry, fixture, answer, { body, voters: [caller], before, after: await look(fixture) });
}

/** Two of two: the second root user's stamp over the same bytes is the approval that lets it run, once. */
async function testConsensus(trial: Trial, entry: ActivityEntry): Promise<void> {
  const { fixture, path } = trial;
  const { root, deputy, member } = fixture.place;
  const { userIds } = (await look(fixture)).quorum;
  const parameters = await entry.good(fixture);
  await fixture.done("update_root_quorum", { threshold: 2, userIds });
  const body = newBody(path, fixture, parameters);
  const send = (key: Person) => fixture.send({ kind: "submit", path, body, key: key.p256 });
  const before = await look(fixture);
  const proposed = await send(root);
  assertAccepted(proposed);
  const status = "ACTIVITY_STATUS_CONSENSUS_NEEDED";
  checkActivity(proposed.json, { body, voters: [root], result: {}, place: fixture.place, status });
  assert.deepEqual((await send(root)).json, proposed.json);
  assertRefused(await send(member), before.policies.length === 0 ? noVote : explainedNoVote(before.policies));
  assert.deepEqual(await look(fixture), before);

  const approved = await send(deputy);
  assertAccepted(approved);
  const after = entry.endsPlace ? before : await look(fixture);
  await checkDone(entry, fixture, approved, { body, voters: [root, deputy], before, after });
  assert.equal(approved.json.activity.id, proposed.json.activity.id);
  if (entry.endsPlace) return testEnded(trial, body, approved);
  await assertOnlyKept(fixture, async () => {
    for (const voter of [root, deputy, member]) assert.deepEqual((await send(voter)).json, approved.json);
  });
}

/** An older type does the same and answers in its own keys. */
async function testVersion(
  { fixture, path }: Trial,
  entry: ActivityEntry,
  type: string,
  good: NonNullable<ActivityEntry["versions"]>[string],
) {
  const form = activityForms.get(type);
  assert.equal(form?.path, path);
  const { place } = fixture;
  const parameters = await good(fixture);
  const body = envelope(type, place.organizationId, parameters);
  const answer = await fixture.send({ kind: "submit", path, body, key: place.root.p256 });
  assertAccepted(answer);
  const result = answer.json.activity.result[form?.resultKey ?? ""];
  checkActivity(answer.json, { body, voters: [place.root], result, place });
  const again = await fixture.send({ kind: "submit", path, body, key: place.deputy.p256 });
  assert.deepEqual(again.json, asOthersSee(entry, body, answer.json));
}
