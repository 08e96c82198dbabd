/** The first start makes keys, files, tables and the first organization. Cut short anywhere, it is simply repeated. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { dialects, testSource } from "@keystead/e2e/databases.ts";
import { repository, startKeystead } from "@keystead/e2e/keystead_server.ts";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { patienceMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";

const rounds = samples.firstStarts;
/** What a first start leaves behind, in this order. A kill comes at a random moment after one of them appeared. */
const stages = ["signer/memory", "database", "bootstrap.json", "root.key"] as const;

for (const dialect of dialects) {
  const skip = process.platform !== "linux" && "needs /proc";
  test(`${rounds} first starts on ${dialect}, each killed at a random moment, work when repeated`, {
    skip,
  }, async (t) => {
    const seed = Number(process.env.KEYSTEAD_SEED ?? Math.floor(Math.random() * 2 ** 31));
    t.diagnostic(`KEYSTEAD_SEED=${seed}`);
    const random = seededRandom(seed);
    const reached: string[] = [];
    let tooLate = 0;
    for (let round = 0; reached.length < rounds; round++) {
      assert.ok(tooLate <= rounds, `${tooLate} starts were ready before they could be killed`);
      const source = await testSource(t, dialect);
      if (source === undefined) return;
      const folder = {
        dataFolder: freshDataFolder(t),
        ...(source.kind === "postgres" && { databaseUrl: source.url }),
      };
      // Most of what could go wrong lies behind the first: tables, birth, commit, release.
      const stage = random.pick(round % 2 === 0 ? stages.slice(0, 1) : stages);
      const stopped = await startAndKill(folder, stage, random.below(stage === "signer/memory" ? 300 : 50));
      // One that was ready is no first start that was cut short. It is looked at all the same.
      if (stopped === undefined) tooLate += 1;
      else reached.push(stopped);
      const before = readBootstrap(folder.dataFolder);
      const server = await startKeystead(folder);
      try {
        const { organizationId, userId, apiPublicKey, apiPrivateKey } = server.bootstrap;
        if (before !== undefined)
          assert.deepEqual([before.organizationId, before.apiPublicKey], [organizationId, apiPublicKey]);
        const client = createClient({
          baseUrl: server.url,
          organizationId,
          stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
        });
        assert.equal((await client.whoami()).userId, userId);
        assert.equal(
          (await client.createUserTag({ userTagName: "first", userIds: [] })).activity.status,
          "ACTIVITY_STATUS_COMPLETED",
        );
      } finally {
        await server.stop();
      }
    }
    const besides = tooLate === 0 ? "" : `; besides, ${tooLate} killed when they were ready`;
    t.diagnostic(
      `${dialect}: ${reached.length} first starts killed; they had come to: ${reached.join(", ")}${besides}`,
    );
  });
}

/** Kills the launcher, whose children end with it, and says how far the start had come; undefined when it was over. */
async function startAndKill(
  { dataFolder, databaseUrl }: { dataFolder: string; databaseUrl?: string },
  stage: (typeof stages)[number],
  afterMs: number,
): Promise<string | undefined> {
  const launcher = spawn(process.execPath, [join(repository, "server/main.mjs")], {
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      KEYSTEAD_DATA: dataFolder,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  launcher.stdout.on("data", (chunk) => {
    said += chunk;
  });
  const until = Date.now() + patienceMs;
  while (!existsSync(join(dataFolder, stage))) {
    assert.ok(Date.now() < until, `no ${stage} came: ${said}`);
    await pause(2);
  }
  await pause(afterMs);
  assert.ok(launcher.kill("SIGKILL"), `the start had ended by itself: ${said}`);
  // Not before its output has ended, too: what it said last tells whether it was ready.
  await once(launcher, "close");
  return said.includes("ready at")
    ? undefined
    : (stages.find((name) => existsSync(join(dataFolder, name))) ?? "nothing");
}

function readBootstrap(dataFolder: string): { organizationId: string; apiPublicKey: string } | undefined {
  const path = join(dataFolder, "bootstrap.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}
