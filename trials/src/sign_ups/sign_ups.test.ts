/**
 * Many people sign up at once through the auth proxy, each with a passkey and a wallet: one server on SQLite, three on one PostgreSQL. All
 * of them are decided on the parent, and none may move it, or they would stand in one line. A sample here; 10,000 on each database with
 * `npm run figures`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { dialects } from "@keystead/e2e/databases.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import { closeStore, openStore, type StoreSource } from "@keystead/server/store/store.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { serverCpu } from "../codes/login_cost.ts";
import { inTurn } from "../in_turn.ts";
import { type Deployment, startDeployment } from "../races/deployment.ts";
import { byPasskey, callProxy, unlimitedProxy } from "./proxy_requests.ts";
import { signUpCostText } from "./sign_up_cost.ts";

const signUps = samples.signUps;
const clients = samples.signUpClients;
/** Before it is measured: caches, compiled code, connections. */
const warmUp = Math.min(signUps, 100);

type SignedUp = { organizationId: string; userId: string; wallet: { walletId: string; addresses: [string] } };

async function signUpAll(deployment: Deployment, count: number): Promise<SignedUp[]> {
  const answers: SignedUp[] = [];
  await inTurn(clients, count, async (index) => {
    const body = (await byPasskey())(`User ${index}`);
    const answer = await callProxy(deployment, "signup_v2", body, index);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    answers.push(answer.body as SignedUp);
  });
  return answers;
}

for (const dialect of dialects) {
  test(`${signUps} sign-ups with a wallet on ${dialect}: none is lost, and the parent stays as it is`, {
    timeout: testTimeoutMs,
    skip: process.platform !== "linux" && "needs /proc",
  }, async (t) => {
    const deployment = await startDeployment(t, dialect, { serversOnPostgres: 3, env: unlimitedProxy });
    if (deployment === undefined) return;
    const { servers, source } = deployment;
    const early = await signUpAll(deployment, warmUp);
    // The hosts that started later listed their logs in the parent: those before them decided once on what they had read.
    const lostEarly = servers.length > 1 ? (await readStored(source)).lost : 0;
    const [cpuBefore, startedMs] = [await serverCpu(servers), Date.now()];
    const answers = await signUpAll(deployment, signUps);
    const seconds = (Date.now() - startedMs) / 1000;
    const cost = signUpCostText(cpuBefore, await serverCpu(servers), signUps);
    for (const { output } of servers) assert.doesNotMatch(output(), ownFault);
    await deployment.stop();

    const stored = await readStored(source);
    // Each further host has listed its log, and nothing else has changed it.
    assert.deepEqual(stored.parents, [servers.length], "the parent's version");
    assert.deepEqual(stored.organizations, [...early, ...answers].map(summary).sort());
    t.diagnostic(
      `${dialect}: ${signUps} sign-ups with a wallet at ${servers.length} servers, ${clients} at once, in ${seconds.toFixed(0)} s: all are ` +
        `there, and the parent's version is ${servers.length} as before; ${stored.lost - lostEarly} decisions lost by conflicts`,
    );
    t.diagnostic(cost);
    assert.equal(stored.lost - lostEarly, 0, "decisions that met a conflict");
  });
}

function summary({ organizationId, userId, wallet }: SignedUp): string {
  return [organizationId, userId, wallet.walletId, ...wallet.addresses].join(" ");
}

/** What a stopped deployment holds: versions of organizations without a parent, and of each other one what its sign-up was told. */
async function readStored(source: StoreSource) {
  const store = await openStore(source);
  try {
    const all = await store.db
      .selectFrom("organizations")
      .select(["organization_id", "parent_id", "version"])
      .execute();
    const users = await store.db.selectFrom("users").select(["organization_id", "user_id"]).execute();
    const wallets = await store.db.selectFrom("wallets").select(["organization_id", "wallet_id"]).execute();
    const accounts = await store.db.selectFrom("wallet_accounts").select(["organization_id", "address"]).execute();
    const parts = [
      users.map(({ organization_id, user_id }) => [organization_id, user_id] as const),
      wallets.map(({ organization_id, wallet_id }) => [organization_id, wallet_id] as const),
      accounts.map(({ organization_id, address }) => [organization_id, address] as const),
    ].map((rows) => Map.groupBy(rows, ([organizationId]) => organizationId));
    const below = all.filter(({ parent_id }) => parent_id !== null);
    // A signer numbers its decisions in order. A number that is missing was decided, and met a conflict at the commit.
    const leaves = await store.db.selectFrom("leaves").select(["boot", "number"]).execute();
    const boots = [...Map.groupBy(leaves, ({ boot }) => boot).values()];
    const lost = boots.map((own) => Math.max(...own.map(({ number }) => number)) - own.length);
    return {
      parents: all.filter(({ parent_id }) => parent_id === null).map(({ version }) => version),
      organizations: below
        .map(({ organization_id: id }) =>
          [id, ...parts.flatMap((rows) => (rows.get(id) ?? []).map(([, value]) => value))].join(" "),
        )
        .sort(),
      lost: lost.reduce((sum, each) => sum + each, 0),
    };
  } finally {
    await closeStore(store);
  }
}
