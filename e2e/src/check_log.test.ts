/** `keystead check-log`, as an operator runs it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { repository, startKeystead } from "./keystead_server.ts";

function checkLog(dataFolder: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, KEYSTEAD_DATA: dataFolder };
    execFile(process.execPath, [join(repository, "cli/src/main.ts"), "check-log"], { env }, (error, stdout) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout }),
    );
  });
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
    output: "4 leaves in the database, 0 released ones missing\n",
  });

  const database = new DatabaseSync(join(dataFolder, "database/keystead.db"));
  const hidden = database.prepare("delete from leaves where version = 3 returning boot, number").get();
  database.close();
  const { code, output } = await checkLog(dataFolder);
  assert.equal(code, 1);
  assert.equal(
    output,
    `leaf ${hidden?.number} of signer boot ${hidden?.boot} was RELEASED and is NOT in the database\n` +
      "3 leaves in the database, 1 released ones missing\n",
  );
});
