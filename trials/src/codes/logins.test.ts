/**
 * Users of many sub-organizations sign in by code at once, through one parent, from three servers on one PostgreSQL. All of them need the
 * parent: its key stamps, its users and policies allow. None may move it, or they would stand in one line. A sample here; 10,000 logins
 * with `npm run figures`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openSession } from "@keystead/e2e/databases.ts";
import { ownFault } from "@keystead/e2e/keystead_server.ts";
import type pg from "pg";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { inTurn } from "../in_turn.ts";
import { startDeployment } from "../races/deployment.ts";
import { Stage } from "../races/stage.ts";
import { costText, serverCpu } from "./login_cost.ts";
import { MailboxReader } from "./mailbox_reader.ts";
import { assertSignedIn, type Child, createChild, signIn } from "./sign_in.ts";

const logins = samples.codeLogins;
const clients = samples.codeLoginClients;
const serversOnPostgres = 3;

test("code logins through one parent leave it as it is, and none meets a conflict", {
  timeout: testTimeoutMs,
  skip: process.platform !== "linux" && "needs /proc",
}, async (t) => {
  const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`KEYSTEAD_SEED=${seed}`);
  const deployment = await startDeployment(t, "postgres", { serversOnPostgres });
  if (deployment === undefined || deployment.source.kind !== "postgres") return;
  const { servers, source } = deployment;
  const stage = new Stage(deployment, seededRandom(seed));
  const mailbox = new MailboxReader(servers);

  const children: Child[] = [];
  // One login for each: of a second one at another server the decision may be lost by a conflict of the child, which would hide the parent's.
  await inTurn(clients, logins, async () => void children.push(await createChild(stage)));
  // The first codes start the couriers, which is no part of a login.
  const early: Child[] = [];
  for (let number = 0; number < 2 * serversOnPostgres; number++) early.push(await createChild(stage));
  await Promise.all(early.map((child) => signIn(stage, mailbox, child)));
  const parentId = stage.first.organizationId;
  const before = { parent: await versionOf(source.url, parentId), leaves: await leavesOf(source.url) };
  const [cpuBefore, startedMs, messagesBefore] = [await serverCpu(servers), Date.now(), mailbox.size];

  await inTurn(clients, logins, (index) => signIn(stage, mailbox, children[index] as Child));

  const seconds = (Date.now() - startedMs) / 1000;
  const cost = costText(cpuBefore, await serverCpu(servers), logins);
  for (const child of children) await assertSignedIn(stage, child);
  assert.equal(mailbox.size - messagesBefore, logins, "one message for each");
  assert.equal(await versionOf(source.url, parentId), before.parent, "the parent's version");
  const { committed, lost } = newLeaves(before.leaves, await leavesOf(source.url));
  t.diagnostic(
    `${logins} code logins in as many sub-organizations through one parent from ${servers.length} servers, ${clients} at once, in ` +
      `${seconds.toFixed(0)} s: the parent's version is ${before.parent} as before; ${committed} decisions committed, ${lost} lost by conflicts`,
  );
  t.diagnostic(cost);
  assert.equal(committed, 3 * logins);
  assert.equal(lost, 0, "decisions that met a conflict");
  for (const { output } of servers) assert.doesNotMatch(output(), ownFault);
});

async function ask<Row extends pg.QueryResultRow>(url: string, text: string, values: string[] = []): Promise<Row[]> {
  const session = await openSession(url);
  try {
    return (await session.query<Row>(text, values)).rows;
  } finally {
    await session.end();
  }
}

async function versionOf(url: string, organizationId: string): Promise<number> {
  const text = "select version from organizations where organization_id = $1";
  const [row] = await ask<{ version: string }>(url, text, [organizationId]);
  return Number(row?.version);
}

/** Of each start of a signer: how many leaves are committed, and the greatest of their numbers. */
type Leaves = Map<string, { count: number; last: number }>;

async function leavesOf(url: string): Promise<Leaves> {
  const text = "select boot, count(*) as count, max(number) as last from leaves group by boot";
  const rows = await ask<{ boot: string; count: string; last: string }>(url, text);
  return new Map(rows.map(({ boot, count, last }) => [boot, { count: Number(count), last: Number(last) }]));
}

/** A signer numbers its decisions in order. A number that is missing was decided, met a conflict at the commit and was decided anew. */
function newLeaves(before: Leaves, after: Leaves): { committed: number; lost: number } {
  let [committed, given] = [0, 0];
  for (const [boot, { count, last }] of after) {
    const known = before.get(boot) ?? { count: 0, last: 0 };
    committed += count - known.count;
    given += last - known.last;
  }
  return { committed, lost: given - committed };
}
