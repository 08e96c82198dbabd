/** Two whole servers, each with its own signer and memory, on one PostgreSQL and one organization. */
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { testSource } from "@keystead/e2e/databases.ts";
import { activities } from "@keystead/e2e/generated/endpoints.ts";
import { keyFrom } from "@keystead/e2e/key_pairs.ts";
import { startKeystead } from "@keystead/e2e/keystead_server.ts";
import { call } from "@keystead/e2e/wire.ts";
import { closeStore, openStore } from "@keystead/server/store/store.ts";
import { samples } from "../../core/test/samples.ts";

const requests = samples.twoGatewayRequests;
const clients = samples.twoGatewayClients;
const env = { KEYSTEAD_LIMITS: `{"userTagsPerOrganization": ${requests}}` };

test("two servers change one organization at once: every request is answered once, and the states form one line", async (t) => {
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return;
  const firstFolder = freshDataFolder(t);
  const first = await startKeystead({ dataFolder: firstFolder, databaseUrl: source.url, env });
  t.after(() => first.stop());
  // A second host of a deployment gets the root key and the first organization's file.
  const secondFolder = freshDataFolder(t);
  mkdirSync(secondFolder, { recursive: true });
  for (const name of ["root.key", "bootstrap.json"]) copyFileSync(join(firstFolder, name), join(secondFolder, name));
  const second = await startKeystead({ dataFolder: secondFolder, databaseUrl: source.url, env });
  t.after(() => second.stop());

  const { organizationId, apiPrivateKey } = first.bootstrap;
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  const { url, type } = activities.create_user_tag;
  let next = 0;
  const tagIds = new Set<string>();
  const failures: string[] = [];
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let index = next++; index < requests; index = next++) {
        const parameters = { userTagName: `tag ${index}`, userIds: [] };
        const body = { type, timestampMs: String(Date.now()), organizationId, parameters };
        const answer = await call((index % 2 === 0 ? first : second).url, url, key, body);
        if (answer.status === 200) tagIds.add(answer.json.activity.result.createUserTagResult.userTagId);
        else failures.push(`${answer.status} ${answer.text}`);
      }
    }),
  );
  assert.deepEqual(failures, []);
  assert.equal(tagIds.size, requests);
  await first.stop();
  await second.stop();

  const store = await openStore(source);
  t.after(() => closeStore(store));
  const rows = await store.db
    .selectFrom("leaves")
    .select("version")
    .where("version", "is not", null)
    .orderBy("version")
    .execute();
  assert.deepEqual(
    rows.map(({ version }) => version),
    // The second host lists its log.
    Array.from({ length: requests + 2 }, (_, index) => index + 1),
  );
});
