/**
 * kill -9 of the gateway, the signer or both at random moments under load. An oracle in a process of its own sends the
 * requests and knows only the answers; afterwards the database is read and held against them. A sample here,
 * 100 kills on each database with `npm run figures`. KEYSTEAD_SEED repeats a run's choices (not its timing).
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { administer, dialects, testSource } from "@keystead/e2e/databases.ts";
import { type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { killIfThere } from "@keystead/e2e/process_tree.ts";
import { patienceMs, testTimeoutMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { type Random, seededRandom } from "../../../core/test/seeded_random.ts";
import { checkDatabase } from "./check_database.ts";
import { freePort } from "./free_port.ts";
import type { FromOracle, OracleOrders, OracleReport, ToOracle } from "./ledger.ts";
import { ready } from "./readiness.ts";

const kills = samples.crashKills;

for (const dialect of dialects) {
  const title = `${kills} kills under load on ${dialect}: nothing acknowledged is lost, nothing is half-applied`;
  const skip = process.platform !== "linux" && "needs /proc";
  test(title, { skip, timeout: testTimeoutMs }, async (t) => {
    const source = await testSource(t, dialect);
    if (source === undefined) return;
    const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const dataFolder = freshDataFolder(t);
    const server = await startKeystead({
      dataFolder,
      port: await freePort(),
      ...(source.kind === "postgres" && { databaseUrl: source.url }),
      // The pause grows with each kill; a hundred of them would wait for most of the time.
      // Tags whose creation was never answered stay, a few with each kill.
      env: { KEYSTEAD_RESTART_PAUSE_MS: "200", KEYSTEAD_LIMITS: '{"userTagsPerOrganization": 5000}' },
    });
    t.after(() => server.stop());
    const { organizationId, userId, apiPublicKey, apiPrivateKey } = server.bootstrap;
    const oracle = new Oracle(t, {
      url: server.url,
      organizationId,
      userId,
      apiPublicKey,
      apiPrivateKey,
      seed,
      clients: 6,
      maxAbandoned: 20,
    });
    const startedMs = Date.now();
    const cut = source.kind === "postgres" ? () => cutConnections(source.url) : undefined;
    const killed = await killRepeatedly(server, oracle, seededRandom(seed), cut);
    const report = await oracle.finish();
    await ready(server);
    await server.stop();

    const check = await checkDatabase(
      {
        source: source.kind === "sqlite" ? { kind: "sqlite", folder: join(dataFolder, "database") } : source,
        memoryFolder: join(dataFolder, "signer"),
        rootKey: readRootKey(dataFolder),
      },
      organizationId,
      report,
    );
    t.diagnostic(
      `${dialect}, seed ${seed}: ${killed.total} kills (gateway ${killed.gateway}, signer ${killed.signer}, both ${killed.both}; ` +
        `database connections cut ${killed.cuts} times) ` +
        `in ${Math.round((Date.now() - startedMs) / 1000)} s; ${report.acknowledged.length} acknowledged, ${report.repeated} repeated, ` +
        `${report.cutOff} answers cut off, ${report.refused} connections refused, ${report.unavailable} times 503, ` +
        `${report.abandoned.length} abandoned (${check.abandonedComplete} complete, the others absent)`,
    );
    t.diagnostic(
      `${dialect}: lost ${check.lost.length}, half-applied ${check.halfApplied.length}, ` +
        `executed twice ${check.executedTwice.length}, other violations ${report.violations.length}`,
    );
    assert.deepEqual(report.violations, [], "an answer that must not be");
    assert.deepEqual(check.lost, [], "acknowledged activities that are lost");
    assert.deepEqual(check.halfApplied, [], "half-applied activities");
    assert.deepEqual(check.executedTwice, [], "activities executed twice");
    assert.equal(killed.total, kills);
    assert.ok(report.acknowledged.length > kills * 10, `only ${report.acknowledged.length} acknowledged: no load`);
  });
}

function readRootKey(dataFolder: string): Uint8Array {
  return readFileSync(join(dataFolder, "root.key"));
}

class Oracle {
  readonly #process: ChildProcess;
  readonly #listeners = new Set<(message: FromOracle) => void>();
  acknowledged = 0;
  violations = 0;

  constructor(t: TestContext, orders: OracleOrders) {
    this.#process = spawn(process.execPath, [join(import.meta.dirname, "oracle.ts")], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    t.after(() => this.#process.kill("SIGKILL"));
    if (this.#process.stdout === null) throw new Error("the oracle has no output");
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as FromOracle;
      if (message.kind === "progress") {
        this.acknowledged = message.acknowledged;
        this.violations = message.violations;
      }
      for (const listener of this.#listeners) listener(message);
    });
    this.#say({ kind: "orders", orders });
  }

  #say(message: ToOracle): void {
    this.#process.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #hear<K extends FromOracle["kind"]>(kind: K): Promise<Extract<FromOracle, { kind: K }>> {
    return new Promise((resolve, reject) => {
      const listener = (message: FromOracle) => {
        if (message.kind !== kind) return;
        this.#listeners.delete(listener);
        this.#process.off("exit", ended);
        resolve(message as Extract<FromOracle, { kind: K }>);
      };
      const ended = (code: number | null) => reject(new Error(`the oracle ended with ${code}`));
      this.#listeners.add(listener);
      this.#process.once("exit", ended);
    });
  }

  /** Waits until this many more activities are acknowledged. */
  async moreAcknowledged(count: number): Promise<void> {
    const wanted = this.acknowledged + count;
    const until = Date.now() + patienceMs;
    while (this.acknowledged < wanted) {
      if (Date.now() > until) throw new Error(`the service did not come back within ${patienceMs} ms`);
      await this.#hear("progress");
    }
  }

  async checkpoint(): Promise<void> {
    const checked = this.#hear("checked");
    this.#say({ kind: "checkpoint" });
    await checked;
  }

  async finish(): Promise<OracleReport> {
    const report = this.#hear("report");
    this.#say({ kind: "finish" });
    return (await report).report;
  }
}

const targets = ["gateway", "signer", "both"] as const;

async function killRepeatedly(
  server: KeysteadServer,
  oracle: Oracle,
  random: Random,
  cut: (() => Promise<void>) | undefined,
) {
  const count = { gateway: 0, signer: 0, both: 0, total: 0, cuts: 0 };
  try {
    await oracle.moreAcknowledged(20);
    while (count.total < kills && oracle.violations === 0) {
      const target = random.pick(targets);
      // Mostly under load; at times while the one before is still being replaced.
      if (random.next() < 0.75) {
        await oracle.moreAcknowledged(10);
        await pause(random.below(300));
      } else await pause(random.below(1500));
      if (cut !== undefined && random.next() < 0.3) {
        await cut();
        count.cuts += 1;
        await pause(random.below(200));
      }
      await kill(server, target);
      count[target] += 1;
      count.total += 1;
      // The checkpoint's own requests run into the next kills.
      if (count.total % Math.max(5, Math.floor(kills / 4)) === 0) await oracle.checkpoint();
    }
    await oracle.moreAcknowledged(20);
    return count;
  } catch (error) {
    throw new Error(`after ${count.total} kills: ${error}\n${server.output().slice(-4000)}`, { cause: error });
  }
}

/** Only processes of this server's launcher, by their ids of this moment; a target that is not there yet is awaited. */
async function kill(server: KeysteadServer, target: (typeof targets)[number]): Promise<void> {
  for (;;) {
    const { gateway, signer } = await server.children();
    const wanted = target === "both" ? [gateway, signer] : [target === "gateway" ? gateway : signer];
    const pids = wanted.filter((pid) => pid !== undefined);
    if (pids.length === wanted.length && pids.filter(killIfThere).length === wanted.length) return;
    await pause(5);
  }
}

/** Ends every session the gateway has with the database, in the middle of whatever it does. */
function cutConnections(url: string): Promise<void> {
  return administer(
    url,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'keystead'`,
  );
}
