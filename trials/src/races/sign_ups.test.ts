/**
 * Sign-ups through the auth proxy at once, over HTTP: one server on SQLite, three on one PostgreSQL. One identity gets one
 * sub-organization; equal bytes get one answer; the parent stays as it was born. Then the log is executed anew. A sample here; 500 races
 * of 20 sign-ups each with `npm run figures`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { closeStore, openStore } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { replay } from "../history/replay.ts";
import {
  byContact,
  byIdentity,
  byKey,
  byPasskey,
  callProxy,
  type ProxyAnswer,
  type SignUps,
  unlimitedProxy,
} from "../sign_ups/proxy_requests.ts";
import { type Deployment, startDeployment } from "./deployment.ts";

const trials = samples.signUpRaces;
const senders = 20;

/** What the sign-ups of a race have in common. */
const shared: Record<string, (deployment: Deployment) => Promise<SignUps>> = {
  "one contact": byContact,
  "one passkey": byPasskey,
  "one public key": byKey,
  "one OIDC identity": byIdentity,
};

const equalBodies: Record<string, (deployment: Deployment) => Promise<SignUps>> = {
  "a contact": byContact,
  "a passkey": byPasskey,
  "an OIDC identity": byIdentity,
};

/** Each is sent at the same moment, spread over all servers. */
function race(deployment: Deployment, bodyOf: (index: number) => string): Promise<ProxyAnswer[]> {
  const bodies = Array.from({ length: senders }, (_, index) => bodyOf(index));
  return Promise.all(bodies.map((body, place) => callProxy(deployment, "signup_v2", body, place)));
}

/** One sub-organization, and the others hear that there is one. */
function assertOneWinner(answers: readonly ProxyAnswer[]): void {
  const statuses = answers.map(({ status }) => status).sort();
  const said = JSON.stringify(answers.map(({ status, body }) => [status, body.message]));
  assert.deepEqual(statuses, [200, ...Array.from({ length: senders - 1 }, () => 409)], said);
}

for (const dialect of dialects) {
  test(`sign-ups at once on ${dialect}`, { timeout: testTimeoutMs }, async (t) => {
    const deployment = await startDeployment(t, dialect, { serversOnPostgres: 3, env: unlimitedProxy });
    if (deployment === undefined) return;
    const startedMs = Date.now();
    let races = 0;

    for (const [what, prepare] of Object.entries(shared)) {
      await t.test(`${senders} sign-ups with ${what} make one sub-organization`, async () => {
        for (let trial = 0; trial < trials; trial++, races++) {
          const signUp = await prepare(deployment);
          assertOneWinner(await race(deployment, (index) => signUp(`race ${index}`)));
        }
      });
    }

    for (const [what, prepare] of Object.entries(equalBodies)) {
      await t.test(`${senders} equal bodies with ${what} get one answer`, async () => {
        for (let trial = 0; trial < trials; trial++, races++) {
          const body = (await prepare(deployment))("race");
          const answers = await race(deployment, () => body);
          assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), JSON.stringify(answers));
          assert.equal(new Set(answers.map((answer) => JSON.stringify(answer.body))).size, 1);
        }
      });
    }

    for (const { output } of deployment.servers) assert.doesNotMatch(output(), ownFault);
    t.diagnostic(
      `${dialect}, ${deployment.servers.length} servers: ${races} races of ${senders} sign-ups in ` +
        `${Math.round((Date.now() - startedMs) / 1000)} s; one sub-organization each`,
    );
    await deployment.stop();

    await t.test("the parent is as it was born, with one sub-organization for each race", async () => {
      const store = await openStore(deployment.source);
      const rows = await store.db.selectFrom("organizations").select(["parent_id", "version"]).execute();
      await closeStore(store);
      assert.deepEqual(
        rows.filter(({ parent_id }) => parent_id === null).map(({ version }) => version),
        // Each further host has listed its log.
        [deployment.servers.length],
      );
      assert.equal(rows.length - 1, races);
    });

    await t.test("the log, executed anew, leads to what the database holds", async () => {
      const { organizations, unchecked, differences } = await replay({ ...deployment, limits: {} });
      assert.deepEqual({ differences, unchecked }, { differences: [], unchecked: [] });
      assert.equal(organizations, races + 1, "with the first");
    });
  });
}
