/**
 * Every endpoint, on a real server, once for each database: success, bad input, bad stamp, no permission, other organization,
 * replay. Everything that goes over the wire is held against the published document on the way.
 */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Dialect } from "../databases.ts";
import { queries } from "../generated/endpoints.ts";
import { ownFault } from "../keystead_server.ts";
import { findSwagger } from "../swagger/document.ts";
import { createTraffic } from "../swagger/traffic.ts";
import { startFurnished } from "../world.ts";
import type { ActivityEntry } from "./entry.ts";
import { type ActivityPath, createFixture } from "./fixture.ts";
import { limits } from "./limits.ts";
import { runActivity } from "./run_activity.ts";
import { runQuery } from "./run_query.ts";
import { runVote } from "./run_vote.ts";
import { createStages, type Stage } from "./stage.ts";
import { activityTable, queryTable, voteTable } from "./table.ts";

const entries = Object.entries(activityTable) as [ActivityPath, ActivityEntry][];
const voteEntries = Object.entries(voteTable) as [keyof typeof voteTable, (typeof voteTable)[keyof typeof voteTable]][];

/** Raise it with the table: a case that silently sends nothing must not pass for success. */
const minimum = { requests: 38_000, answers: 36_000, refusals: 4_700 };

/** Every endpoint's row on one server with this database. */
export async function runMatrix(t: TestContext, dialect: Dialect): Promise<void> {
  const traffic = createTraffic();
  const started = await startFurnished(
    t,
    dialect,
    async (furnisher) => {
      const newStage = createStages(furnisher);
      const stages: Stage[] = [];
      for (let i = 0; i < 2 * entries.length + voteEntries.length + Object.keys(queries).length; i++) {
        stages.push(await newStage());
      }
      return stages;
    },
    { KEYSTEAD_LIMITS: JSON.stringify(limits) },
  );
  if (started === undefined) return;
  const { server, furniture: stages } = started;
  const nextScene = (at: "parent" | "sub" = "parent") => {
    const stage = stages.shift();
    assert.ok(stage);
    return createFixture(server.url, traffic, stage, stage[at]);
  };

  for (const [path, entry] of entries) {
    await runActivity(t, path, entry, { first: nextScene(entry.runsIn), agreed: nextScene(entry.runsIn) });
  }
  for (const [path, entry] of voteEntries) await runVote(t, path, entry, nextScene());
  for (const [path, entry] of Object.entries(queryTable)) await runQuery(t, path, entry, nextScene());

  await t.test("all of it is as published", (t) => {
    if (findSwagger(t) === undefined) return;
    const { requests, answers, refusals } = traffic.counts;
    t.diagnostic(`${dialect}: ${requests} requests, ${answers} answers and ${refusals} refusals are as published`);
    assert.ok(requests >= minimum.requests && answers >= minimum.answers && refusals >= minimum.refusals);
  });
  await t.test("none of this was an error inside", () => {
    assert.doesNotMatch(server.output(), ownFault);
  });
}
