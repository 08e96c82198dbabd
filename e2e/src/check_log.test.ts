/** `keystead check-log`, as an operator runs it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

async function checkLog(dataFolder: string): Promise<{ code: number; output: string }> {
  const { code, stdout } = await runOperator("cli", ["check-log"], { dataFolder });
  return { code, output: stdout };
}

test("a leaf that was released and is gone from the database is named, and the exit code says so", async (t) => {
  const dataFolder = freshDataFolder(t);
  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  const client = createClient({
    baseUrl,
    organizationId,
    stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
  });
  for (const userTagName of ["a", "b", "c"]) await client.createUserTag({ userTagName, userIds: [] });
  await server.stop();
  assert.deepEqual(await checkLog(dataFolder), {
    code: 0,
    output: "5 leaves in the database, 0 released ones missing\n",
  });

  const database = new DatabaseSync(join(dataFolder, "database/keystead.db"));
  const hidden = database.prepare("delete from leaves where version = 3 returning boot, number").get();
  database.close();
  const { code, output } = await checkLog(dataFolder);
  assert.equal(code, 3);
  assert.equal(
    output.replace(/^next: after a restore, .*\n/m, "next\n"),
    `organization ${organizationId}: the leaf that led to version 3 is MISSING\n` +
      `leaf ${hidden?.number} of signer boot ${hidden?.boot} was RELEASED and is NOT in the database\n` +
      "next\n" +
      "4 leaves in the database, 1 released ones missing\n",
  );

  // A made-up leaf under the missing one's name does not stand in for it.
  const forger = new DatabaseSync(join(dataFolder, "database/keystead.db"));
  forger
    .prepare(
      `insert into leaves select organization_id, boot, ?, 3, activity_id, leaf, header, sealed, made
        from leaves where version = 2`,
    )
    .run(hidden?.number ?? 0);
  forger.prepare("update leaves set leaf = zeroblob(300) where version = 3").run();
  forger.close();
  const forged = await checkLog(dataFolder);
  assert.equal(forged.code, 3);
  assert.match(
    forged.output,
    new RegExp(
      `leaf ${hidden?.number} of signer boot ${hidden?.boot} of organization ${organizationId} in the database is NOT`,
    ),
  );
  assert.match(forged.output, /1 released ones missing/);
});
