/**
 * A user who floods its organization against the quorum that removes it, as the other races are run: over HTTP, one server on SQLite,
 * three on one PostgreSQL, and every organization's log executed anew in the end. A sample here; 500 trials with `npm run figures`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { replay } from "../history/replay.ts";
import { startDeployment } from "./deployment.ts";
import { assertUsualLimits, floodedQuorum, floodLimits } from "./floods.ts";
import { runTrials, tally } from "./run_trials.ts";
import { Stage } from "./stage.ts";

const trials = samples.raceTrials;
const serversOnPostgres = 3;

for (const dialect of dialects) {
  test(`floods on ${dialect}`, { timeout: testTimeoutMs }, async (t) => {
    const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const env = { KEYSTEAD_LIMITS: JSON.stringify(floodLimits) };
    const deployment = await startDeployment(t, dialect, { serversOnPostgres, env });
    if (deployment === undefined) return;
    const where = `${dialect}, ${deployment.servers.length} server${deployment.servers.length > 1 ? "s" : ""}`;

    await t.test(floodedQuorum.name, async (t) => {
      const { outcomes, anomalies } = await runTrials(new Stage(deployment, seededRandom(seed)), floodedQuorum, trials);
      t.diagnostic(
        `${where}: ${floodedQuorum.name}: ${trials} trials, ${anomalies.length} anomalies; ${tally(outcomes)}`,
      );
      assert.deepEqual(anomalies, [], `KEYSTEAD_SEED=${seed}`);
      assert.equal(outcomes.length, trials);
    });

    for (const { output } of deployment.servers) assert.doesNotMatch(output(), ownFault);
    await deployment.stop();

    await t.test("every organization's log, executed anew, leads to what the database holds", async (t) => {
      const { organizations, acts, unchecked, differences } = await replay({ ...deployment, limits: floodLimits });
      t.diagnostic(
        `${where}: ${acts} acts of ${organizations} organizations executed anew, ${differences.length} differences`,
      );
      assert.deepEqual({ differences, unchecked }, { differences: [], unchecked: [] }, `KEYSTEAD_SEED=${seed}`);
      assert.ok(organizations >= trials);
    });
  });
}

test("under the usual limits a flood of proposals is stopped at 200, and the quorum removes who sent it at its first try", async (t) => {
  const deployment = await startDeployment(t, "sqlite", { serversOnPostgres: 1 });
  assert.ok(deployment !== undefined);
  await assertUsualLimits(new Stage(deployment, seededRandom(1)));
});
