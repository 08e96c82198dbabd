/** Mutants of one endpoint, on a stage of its own: made, judged, sent, and held to what the judge said. */
import assert from "node:assert/strict";
import { parseLogStatement } from "@keystead/core/log/statement.ts";
import { parseNote } from "@keystead/core/tlog/note.ts";
import { patienceMs } from "../../../core/test/patience.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { activityForms } from "../generated/endpoints.ts";
import { createFixture, type Fixture, type Json } from "../matrix/fixture.ts";
import type { Place, Stage } from "../matrix/stage.ts";
import { isLate } from "../wire.ts";
import type { Person } from "../world.ts";
import { isLetIn, isUnbuilt } from "./answers.ts";
import { type Mutant, makeDraft } from "./draft.ts";
import { judgeBytes, type Member, memberKey, type Passed, type Register, type Verdict } from "./judge.ts";
import { createLedger, type Ledger } from "./ledger.ts";
import { filling } from "./mutators/body.ts";
import { mutators } from "./mutators.ts";
import type { Exchange, RawClient } from "./raw_client.ts";
import { type Endpoint, endpoints, makeSeeds } from "./seeds.ts";

export type Counts = {
  sent: number;
  /** Whose bytes are others than those of the valid request they were made from. */
  bent: number;
  /** The bytes of a valid request, handed over otherwise than at once; the rest are as valid as they were made. */
  handed: number;
  letIn: number;
  refused: number;
  /** Nobody stayed to hear an answer. */
  unheard: number;
  activities: number;
  /** How often each mutator had its way, and how often what came of it was let in. */
  byMutator: Map<string, { sent: number; letIn: number }>;
};

export function newCounts(): Counts {
  return { sent: 0, bent: 0, handed: 0, letIn: 0, refused: 0, unheard: 0, activities: 0, byMutator: new Map() };
}

export type Case = { endpoint: Endpoint; stage: Stage; at: "parent" | "sub"; seed: number; bent: number };

export async function runCase(url: string, client: RawClient, one: Case, counts: Counts): Promise<void> {
  const { endpoint, stage, at, seed } = one;
  const place = stage[endpoint.runsIn ?? at];
  const ledger = createLedger();
  const fixture = createFixture(url, ledger.traffic, stage, place);
  const seeds = await makeSeeds(endpoint, fixture);
  await ledger.open(fixture);
  const random = seededRandom(seed);
  const register = registerOf(stage);
  const references = createReferences(fixture, endpoint);
  for (let number = 0, bent = 0; bent < one.bent; number++) {
    const chosen = Array.from({ length: random.pick([0, 1, 1, 1, 2, 2, 3]) }, () => random.pick(mutators));
    const mutant = makeDraft(random.pick(seeds), chosen, random);
    const { draft, applied } = mutant;
    if (mutant.isBent) bent++;
    const said = () =>
      `${endpoint.path} in the ${at}, seed ${seed}, mutant ${number} [${applied.map(({ name }) => name)}]`;
    try {
      await sendOne(client, mutant, register, ledger, references, endpoint, counts);
    } catch (error) {
      const sent = Buffer.concat(draft.delivery.pieces).toString("latin1").slice(0, 4_000);
      throw new Error(`${said()}: ${error instanceof Error ? error.message : error}\n${JSON.stringify(sent)}`, {
        cause: error,
      });
    }
  }
  assert.deepEqual(client.surprises(), []);
  if (endpoint.endsPlace) return;
  const { activities } = await ledger.close(fixture);
  counts.activities += activities;
}

async function sendOne(
  client: RawClient,
  { draft, applied, isBent }: Mutant,
  register: Register,
  ledger: Ledger,
  references: References,
  endpoint: Endpoint,
  counts: Counts,
): Promise<void> {
  const bytes = Buffer.concat(draft.delivery.pieces);
  const { verdicts, methods, rest } = judgeBytes(bytes, register);
  // Nobody waits for the rest of a request until the server has had enough: there is a test for that.
  const ending = rest === "unfinished" && draft.delivery.ending === "stay" ? "half-close" : draft.delivery.ending;
  const wanted = verdicts.length + (rest === "nothing" ? 0 : 1);
  // What is none may still be taken for one that asks for a head, where it stands first.
  const first = bytes.subarray(0, 5).toString("latin1") === "HEAD " ? "HEAD" : "";
  const isHead = (index: number) => (methods[index] ?? (index === 0 ? first : "")) === "HEAD";
  const exchange = await exchangeInTime(() => client.exchange({ ...draft.delivery, ending }, wanted, isHead));
  checkHeard(exchange, wanted);
  counts.sent++;
  if (isBent) counts.bent++;
  else if (draft.delivery.pieces.length > 1 || draft.delivery.ending !== "stay") counts.handed++;
  let letIn = false;
  for (const [index, answer] of exchange.answers.entries()) {
    const verdict: Verdict = verdicts[index] ?? { passes: false, why: "no request" };
    const isRight = answer.status < 500 || isUnbuilt(answer, verdict.passes ? verdict.request.path : undefined);
    assert.ok(isRight, `answered ${answer.status} ${answer.body}`);
    if (answer.body !== "") assert.equal(answer.headers.get("content-type"), "application/json");
    const isIn = isLetIn(answer);
    letIn ||= isIn;
    if (isIn && !verdict.passes) assert.fail(`let in in spite of ${verdict.why}: ${answer.status} ${answer.body}`);
    if (!isIn && verdict.passes && !mayBeGone(endpoint, answer.body) && answer.status !== 429) {
      assert.fail(`refused without a reason: ${answer.status} ${answer.body}`);
    }
    if (!isIn || !verdict.passes) continue;
    const json = JSON.parse(answer.body);
    ledger.note(verdict.request, json);
    await checkEffect(verdict.request, answer.status, json, references);
  }
  // Those whose answers nobody heard may have been let in as well.
  for (const verdict of verdicts) if (verdict.passes) ledger.note(verdict.request, undefined);
  if (exchange.answers.length === 0) counts.unheard++;
  else counts[letIn ? "letIn" : "refused"]++;
  for (const { name } of applied) {
    const entry = counts.byMutator.get(name) ?? { sent: 0, letIn: 0 };
    counts.byMutator.set(name, { sent: entry.sent + 1, letIn: entry.letIn + (letIn ? 1 : 0) });
  }
}

/** Sent again, byte for byte, while a machine that is short of time answers that it is late. */
async function exchangeInTime(exchange: () => Promise<Exchange>): Promise<Exchange> {
  for (const until = Date.now() + patienceMs; ; ) {
    const heard = await exchange();
    const refusals = heard.answers.filter(({ status, body }) => status === 503 && body !== "");
    const isInTime = !refusals.some(({ status, body }) => isLate({ status, json: JSON.parse(body) }));
    if (isInTime || Date.now() > until) return heard;
  }
}

/** An answer for everything that was asked, or for as much as came before one that ends the connection. */
function checkHeard({ answers, ended, before }: Exchange, wanted: number): void {
  if (ended === "left") return;
  assert.notEqual(ended, "silent", `${answers.length} of ${wanted} answers, and then nothing`);
  if (answers.length >= wanted) return;
  const heard = `closed after ${answers.length} of ${wanted} answers, after ${JSON.stringify(before)}`;
  assert.equal(answers.at(-1)?.headers.get("connection"), "close", heard);
}

/** Whoever ends an organization is the last to be let in. */
function mayBeGone({ endsPlace }: Endpoint, body: string): boolean {
  return endsPlace && body.includes("no organization found with the given ID");
}

async function checkEffect(request: Passed, status: number, json: Json, references: References): Promise<void> {
  const { kind, caller, organizationId, value, fingerprint } = request;
  if (kind === "query") {
    const reference = await references.ask(request);
    if (reference !== undefined)
      assert.deepEqual(lasting({ status, json }), lasting(reference), "not what the same question is answered");
    return;
  }
  if (caller.organizationId !== organizationId) {
    assert.equal(json.errorCode, "ORGANIZATION_MISMATCH", `a relative's people did something: ${JSON.stringify(json)}`);
  }
  if (status !== 200) return;
  const { activity } = json;
  assert.equal(activity.organizationId, organizationId);
  const parameters = value.parameters as Json;
  const form = activityForms.get(String(value.type));
  if (form?.votes === true) {
    assert.equal(activity.fingerprint, parameters.fingerprint);
    return;
  }
  assert.equal(activity.fingerprint, fingerprint, "the activity of other bytes");
  assert.equal(activity.type, value.type);
  assert.deepEqual(Object.keys(activity.intent), [form?.intentKey]);
  assertPartOf(activity.intent[form?.intentKey ?? ""], parameters);
}

/** Everything that is shown was sent. Keys that nobody knows are sent, and not shown. */
function assertPartOf(shown: Json, sent: Json): void {
  if (typeof shown !== "object" || shown === null) {
    assert.ok(Object.is(shown, sent) || (shown === 0 && sent === 0), `${JSON.stringify(shown)} was not sent`);
    return;
  }
  if (Array.isArray(shown)) assert.equal(shown.length, sent.length, "a longer or shorter list than was sent");
  for (const [key, value] of Object.entries(shown)) assertPartOf(value, sent[key]);
}

/** A statement about the log says when it was made and how long the whole log was: others make it longer meanwhile. */
function lasting({ status, json }: { status: number; json: Json }): { status: number; json: Json } {
  if (typeof json.statement !== "string") return { status, json };
  const { size: _size, timeMs: _timeMs, ...said } = parseLogStatement(parseNote(json.statement).text);
  return { status, json: { ...json, statement: said } };
}

type References = { ask(request: Passed): Promise<{ status: number; json: Json } | undefined> };

/** What a question is answered when its caller asks it plainly. Asked once for each caller and meaning. */
function createReferences({ place, parent, sub, other, send }: Fixture, { path }: Endpoint): References {
  const people = new Map<string, Person>();
  for (const each of [place, parent, sub, other]) {
    for (const person of [each.root, each.deputy, each.member, each.expired]) people.set(person.userId, person);
  }
  const known = new Map<string, Promise<{ status: number; json: Json }>>();
  return {
    async ask({ path: asked, caller, value, isPublished }) {
      const person = people.get(caller.userId);
      if (person === undefined || asked !== path) return undefined;
      const spelling = isPublished ? "published" : "own";
      // 1e3 is written again as 1000: what fills a body to the last byte would not fit any more, and asks for nothing.
      const { [filling]: _, ...body } = value;
      const name = `${caller.userId} ${spelling} ${JSON.stringify(body)}`;
      const answer =
        known.get(name) ??
        send({ kind: "query", path, body, key: person.ed25519, spelling }).then(({ status, json }) => ({
          status,
          json,
        }));
      known.set(name, answer);
      return answer;
    },
  };
}

function registerOf({ parent, sub, other }: Stage): Register {
  return {
    organizations: new Map([parent, sub, other].map((place) => [place.organizationId, knownOrganization(place)])),
    endpoints: new Set(endpoints.map(({ kind, path }) => `${kind}/${path}`)),
  };
}

function knownOrganization({ organizationId, parentId, root, deputy, member, expired }: Place) {
  const members = new Map<string, Member>();
  for (const person of [root, deputy, member, expired]) {
    const { userId, p256, secp256k1, ed25519 } = person;
    const add = (key: string, isExpired = false) => members.set(key, { organizationId, userId, isExpired });
    add(memberKey("P-256", p256.publicKey), person === expired);
    add(memberKey("secp256k1", secp256k1.publicKey));
    add(memberKey("Ed25519", ed25519.publicKey));
  }
  return { parentId, members };
}
