/** A database that was set back by a restore: the next log goes on from there, and what the old one had is told. */
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { type KeysteadServer, startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

test("after a restore the history goes on in the next log, replays, and says what the lost hour leaves unchecked", async (t) => {
  const dataFolder = freshDataFolder(t);
  const start = async () => {
    const server = await startKeystead({ dataFolder });
    t.after(() => server.stop());
    return server;
  };
  const act = async ({ bootstrap }: KeysteadServer, userTagName: string) => {
    const { baseUrl, organizationId, userId, apiPublicKey, apiPrivateKey } = bootstrap;
    const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
    await createClient({ baseUrl, organizationId, stamper }).createUserTag({ userTagName, userIds: [userId] });
  };
  const database = join(dataFolder, "database");
  const kept = `${dataFolder}.kept`;
  t.after(() => rmSync(kept, { recursive: true, force: true }));
  const first = await start();
  await act(first, "kept");
  await first.stop();
  cpSync(database, kept, { recursive: true, preserveTimestamps: true });
  const second = await start();
  await act(second, "lost");
  await second.stop();
  rmSync(database, { recursive: true });
  cpSync(kept, database, { recursive: true, preserveTimestamps: true });
  const accepted = await runOperator("server", ["accept-database"], { dataFolder });
  assert.equal(accepted.code, 0, accepted.stderr);
  const third = await start();
  await act(third, "after");
  const keystead = (...args: string[]) => runOperator("cli", ["log", ...args], { dataFolder });
  const history = join(dataFolder, "history");
  const exported = await keystead("export", history);
  assert.deepEqual([exported.code, exported.stderr], [0, ""]);
  await third.stop();
  const { code, stdout } = await keystead("verify", history, "--replay");
  assert.equal(code, 2);
  const [executed, lost, uncounted, sum] = stdout.split("\n");
  assert.equal(executed, "executed 4 acts again");
  assert.match(
    lost ?? "",
    /^unchecked: log \S+: the head that log \S+ follows has 5 entries, this export 3: the others are lost/,
  );
  assert.match(
    uncounted ?? "",
    /^unchecked: log \S+, organization \S+: no statement of the signer says how many leaves/,
  );
  assert.match(sum ?? "", /^unchecked: 2 logs, 1 organization, 7 leaves, 2 stamps verified$/);
});
