/**
 * Races over HTTP against whole servers: one on SQLite, three on one PostgreSQL. Each trial has an organization of its own, sends its
 * requests at the same moment to all servers, and looks at every answer and at the state afterwards. Then the servers stop, and
 * every organization's log is executed anew. A sample here; 500 trials of each race, and 1,000 bodies sent fifty times each, with
 * `npm run figures`. KEYSTEAD_SEED repeats a run's choices (not its timing); KEYSTEAD_RACES_ONLY is a pattern for the names of races
 * that alone shall run.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { closeStore, openStore } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { isFull, samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { replay } from "../history/replay.ts";
import { type Deployment, startDeployment } from "./deployment.ts";
import { newPlace, repeatedKinds, sendEqual } from "./repeats.ts";
import { limits } from "./rights.ts";
import { runTrials, tally } from "./run_trials.ts";
import { Stage } from "./stage.ts";
import { races as all } from "./table.ts";

const only = new RegExp(process.env.KEYSTEAD_RACES_ONLY ?? "");
const races = all.filter(({ name }) => only.test(name));

const trials = samples.raceTrials;
const bodies = samples.racedBodies;
const senders = samples.racedBodySenders;
const bodiesPerPlace = 50;
const serversOnPostgres = 3;

for (const dialect of dialects) {
  test(`races on ${dialect}`, { timeout: testTimeoutMs }, async (t) => {
    const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const env = { KEYSTEAD_LIMITS: JSON.stringify(limits) };
    const deployment = await startDeployment(t, dialect, { serversOnPostgres, env });
    if (deployment === undefined) return;
    const where = `${dialect}, ${deployment.servers.length} server${deployment.servers.length > 1 ? "s" : ""}`;

    for (const [index, race] of races.entries()) {
      await t.test(race.name, async (t) => {
        const stage = new Stage(deployment, seededRandom(seed + index));
        const { outcomes, anomalies } = await runTrials(stage, race, trials);
        t.diagnostic(`${where}: ${race.name}: ${trials} trials, ${anomalies.length} anomalies; ${tally(outcomes)}`);
        assert.deepEqual(anomalies, [], `KEYSTEAD_SEED=${seed}`);
        assert.equal(outcomes.length, trials);
        if (isFull && race.endsAlike === undefined) {
          assert.ok(new Set(outcomes).size > 1, `it always ended alike, and so was no race: ${tally(outcomes)}`);
        }
      });
    }

    const fingerprints = new Set<string>();
    await t.test(`${senders} equal bodies at once have one answer`, async (t) => {
      const stage = new Stage(deployment, seededRandom(seed + races.length));
      const kinds = repeatedKinds(stage);
      const sent: string[] = [];
      let place = await newPlace(stage);
      for (let body = 0; body < bodies; body++) {
        if (body % bodiesPerPlace === bodiesPerPlace - 1) place = await newPlace(stage);
        const kind = kinds[body % kinds.length] ?? "";
        fingerprints.add(await sendEqual(stage, place, kind, senders));
        sent.push(kind);
      }
      assert.equal(new Set(sent).size, Math.min(bodies, kinds.length), "every kind takes part");
      t.diagnostic(`${where}: ${bodies} bodies, each sent by ${senders} at once: one answer each; ${tally(sent)}`);
    });

    for (const { output } of deployment.servers) assert.doesNotMatch(output(), ownFault);
    await deployment.stop();

    await t.test("each of those bodies is one activity with one leaf", async (t) => {
      const stored = await countStored(deployment, [...fingerprints]);
      t.diagnostic(`${where}: ${bodies} bodies are ${stored.activities} activities with ${stored.leaves} leaves`);
      assert.deepEqual(stored, { activities: bodies, leaves: bodies });
    });

    await t.test("every organization's log, executed anew, leads to what the database holds", async (t) => {
      const { organizations, acts, unchecked, differences } = await replay({ ...deployment, limits });
      t.diagnostic(
        `${where}: ${acts} acts of ${organizations} organizations executed anew, ${differences.length} differences`,
      );
      assert.deepEqual({ differences, unchecked }, { differences: [], unchecked: [] }, `KEYSTEAD_SEED=${seed}`);
      assert.ok(organizations >= trials * (races.length - 2));
    });
  });
}

/** How many activities a stopped deployment has of these bodies, and how many leaves of those. */
async function countStored({ source }: Deployment, fingerprints: readonly string[]) {
  const store = await openStore(source);
  try {
    const rows = await store.db
      .selectFrom("activities")
      .select("activity_id")
      .where("fingerprint", "in", fingerprints)
      .execute();
    const ids = rows.map(({ activity_id }) => activity_id);
    const leaves = await store.db.selectFrom("leaves").select("number").where("activity_id", "in", ids).execute();
    return { activities: ids.length, leaves: leaves.length };
  } finally {
    await closeStore(store);
  }
}
