/** The whole matrix for one query: who may ask, what is answered, what is refused, and that asking leaves nothing behind. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { unknownKey } from "../refusals.ts";
import { assertAccepted } from "../wire.ts";
import type { Person } from "../world.ts";
import type { ForeignIds, QueryEntry } from "./entry.ts";
import type { Fixture, Json } from "./fixture.ts";
import { foreignIds, idsOfNothing } from "./foreign.ts";
import { assertOnlyKept } from "./look.ts";
import type { Place } from "./stage.ts";
import { fixed, refused, refuseMalformed, refuseStamps, refuseStrangers, type Trial } from "./trial.ts";

export async function runQuery(t: TestContext, path: string, entry: QueryEntry, fixture: Fixture): Promise<void> {
  const { place, sub } = fixture;
  const trial: Trial = {
    fixture,
    kind: "query",
    path,
    caller: place.root,
    body: async () => bodyFor(place, await entry.good(fixture, place)),
    required: entry.required,
  };
  const one = await fixed(trial);
  await t.test(`${path}: bad input`, () => testBadInput(one, entry));
  await t.test(`${path}: bad stamp`, () => assertOnlyKept(fixture, () => refuseStamps(one)));
  await t.test(`${path}: every member may ask`, () => testSuccess(one, entry));
  await t.test(`${path}: other organization`, async () => {
    const theirs = bodyFor(sub, await entry.good(fixture, sub));
    await assertOnlyKept(fixture, () => testRelatives(one, entry, theirs));
    await testForeign(trial, entry);
  });
  await t.test(`${path}: replay`, () => testReplay(one, entry));
  for (const [name, run] of Object.entries(entry.also ?? {})) await t.test(`${path}: ${name}`, () => run(fixture));
}

function bodyFor({ organizationId }: Place, parameters: object) {
  return { organizationId, ...parameters };
}

async function testBadInput(trial: Trial, entry: QueryEntry): Promise<void> {
  const { fixture, caller } = trial;
  const { organizationId, ...good } = await trial.body();
  const attempts: { name: string; sent: object; refusal: Parameters<typeof refused>[3] }[] = [];
  for (const { name, bend, refusal } of entry.bad) {
    const sent = await bend(good, fixture);
    attempts.push({ name, sent, refusal: typeof refusal === "function" ? refusal(sent, fixture) : refusal });
  }
  await assertOnlyKept(fixture, async () => {
    await refuseMalformed(trial);
    for (const { name, sent, refusal } of attempts) {
      await refused(trial, name, { body: { organizationId, ...sent }, key: caller.p256 }, refusal);
    }
  });
}

async function testSuccess({ fixture, path, body }: Trial, entry: QueryEntry): Promise<void> {
  const { place } = fixture;
  const sent = await body();
  for (const caller of [place.root, place.deputy, place.member]) {
    for (const spelling of ["own", "published"] as const) {
      const answer = await fixture.send({ kind: "query", path, body: sent, key: caller.p256, spelling });
      assertAccepted(answer);
      if (spelling === "own") await entry.answer(sent, answer.json, fixture, caller);
    }
  }
  // Only one of its keys has expired.
  assertAccepted(await fixture.send({ kind: "query", path, body: sent, key: place.expired.ed25519 }));
  // Ids may be written in capitals.
  const shouted = { ...sent, organizationId: sent.organizationId.toUpperCase() };
  const answer = await fixture.send({ kind: "query", path, body: shouted, key: place.root.p256 });
  assertAccepted(answer);
  await entry.answer(sent, answer.json, fixture, place.root);
}

/** A parent's members read the sub-organization as its own do; in the other direction nothing is seen. */
async function testRelatives(trial: Trial, entry: QueryEntry, subBody: Json): Promise<void> {
  const { fixture, path } = trial;
  const { parent, sub } = fixture;
  await refuseStrangers(trial);
  const ask = async (caller: Person, body: Json) => {
    const answer = await fixture.send({ kind: "query", path, body, key: caller.p256 });
    assertAccepted(answer);
    return answer.json;
  };
  const upwards = await trial.body();
  if (entry.isAboutCaller) {
    for (const caller of [parent.member, sub.member]) {
      await entry.answer(subBody, await ask(caller, subBody), fixture, caller);
      await entry.answer(upwards, await ask(caller, upwards), fixture, caller);
    }
    return;
  }
  const own = await ask(sub.member, subBody);
  for (const caller of [parent.root, parent.member]) {
    const answer = await ask(caller, subBody);
    if (entry.isOfTheMoment) await entry.answer(subBody, answer, fixture, caller);
    else assert.deepEqual(answer, own);
  }
  for (const { p256: key } of [sub.root, sub.member]) {
    const refusal = entry.upwards?.(upwards, sub) ?? unknownKey(key, parent.organizationId);
    await refused(trial, "upwards", { body: upwards, key }, refusal);
  }
}

async function testForeign(trial: Trial, entry: QueryEntry): Promise<void> {
  const { fixture } = trial;
  const { place, sub, other } = fixture;
  if (entry.foreign.length === 0) return;
  const below = entry.findsBelow ? [] : [await foreignIds(fixture, sub)];
  const cases: [asked: Place, theirs: ForeignIds][] = [
    ...[idsOfNothing(), await foreignIds(fixture, other), ...below].map((theirs): [Place, ForeignIds] => [
      place,
      theirs,
    ]),
    [sub, await foreignIds(fixture, place)],
  ];
  for (const { name, bend, refusal } of entry.foreign) {
    for (const [asked, theirs] of cases) {
      const body = bodyFor(asked, bend(await entry.good(fixture, asked), theirs));
      await refused(trial, name, { body, key: asked.root.p256 }, refusal(theirs, asked));
    }
  }
}

async function testReplay({ fixture, caller, path, body }: Trial, entry: QueryEntry): Promise<void> {
  const sent = await body();
  await assertOnlyKept(fixture, async () => {
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => fixture.send({ kind: "query", path, body: sent, key: caller.p256 })),
    );
    for (const answer of answers) {
      if (entry.isOfTheMoment) await entry.answer(sent, answer.json, fixture, caller);
      else assert.deepEqual(answer.json, answers[0]?.json);
    }
  });
}
