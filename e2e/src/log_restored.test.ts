/**
 * A database that was set back by a restore: the next log goes on from there, and what the old one had is told. What was stamped before the
 * operator accepted it counts no more.
 */
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { createKey, type KeyPair, keyFrom } from "./key_pairs.ts";
import { type KeysteadServer, startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";
import { type Answer, assertRefused, bytesOf, call } from "./wire.ts";

type Restoring = { t: TestContext; dataFolder: string };

async function start({ t, dataFolder }: Restoring): Promise<KeysteadServer> {
  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  return server;
}

/** Both with the servers stopped: the database as it is now, and the way back to it, which the operator accepts. */
function backUp({ t, dataFolder }: Restoring): { restore(): Promise<void> } {
  const database = join(dataFolder, "database");
  const kept = `${dataFolder}.kept`;
  t.after(() => rmSync(kept, { recursive: true, force: true }));
  cpSync(database, kept, { recursive: true, preserveTimestamps: true });
  return {
    async restore() {
      rmSync(database, { recursive: true });
      cpSync(kept, database, { recursive: true, preserveTimestamps: true });
      const accepted = await runOperator("server", ["accept-database"], { dataFolder });
      assert.equal(accepted.code, 0, accepted.stderr);
    },
  };
}

test("after a restore the history goes on in the next log, replays, and says what the lost hour leaves unchecked", async (t) => {
  const dataFolder = freshDataFolder(t);
  const restoring = { t, dataFolder };
  const act = async ({ bootstrap }: KeysteadServer, userTagName: string) => {
    const { baseUrl, organizationId, userId, apiPublicKey, apiPrivateKey } = bootstrap;
    const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
    await createClient({ baseUrl, organizationId, stamper }).createUserTag({ userTagName, userIds: [userId] });
  };
  const first = await start(restoring);
  await act(first, "kept");
  await first.stop();
  const backup = backUp(restoring);
  const second = await start(restoring);
  await act(second, "lost");
  await second.stop();
  await backup.restore();
  const third = await start(restoring);
  await act(third, "after");
  const keystead = (...args: string[]) => runOperator("cli", ["log", ...args], { dataFolder });
  const history = join(dataFolder, "history");
  const exported = await keystead("export", history);
  assert.deepEqual([exported.code, exported.stderr], [0, ""]);
  await third.stop();
  const { code, stdout } = await keystead("verify", history, "--replay");
  assert.equal(code, 2);
  const [executed, lost, uncounted, key, organization, sum] = stdout.split("\n");
  assert.equal(executed, "executed 4 acts again");
  assert.match(
    lost ?? "",
    /^unchecked: log \S+: the head that log \S+ follows has 5 entries, this export 3: the others are lost/,
  );
  assert.match(
    uncounted ?? "",
    /^unchecked: log \S+, organization \S+: no statement of the signer says how many leaves/,
  );
  assert.match(`${key} ${organization}`, /^log key \S+ organization \S+$/);
  assert.match(sum ?? "", /^unchecked: 2 logs, 1 organization, 7 leaves, 2 stamps verified$/);
});

test("a body and an approval that were kept from before a restore are refused, and count when they are sent anew", async (t) => {
  const restoring = { t, dataFolder: freshDataFolder(t) };
  let server = await start(restoring);
  const { organizationId, userId, apiPrivateKey } = server.bootstrap;
  const root = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  const bob = createKey();
  const bodyOf = (type: string, parameters: object) =>
    bytesOf({ type: `ACTIVITY_TYPE_${type}`, timestampMs: String(Date.now()), organizationId, parameters });
  const submit = (key: KeyPair, path: string, body: Uint8Array) =>
    call(server.url, `/public/v1/submit/${path}`, key, body);
  const statusOf = async (answer: Promise<Answer>) => {
    const { json, text } = await answer;
    return json.activity?.status ?? text;
  };
  const done = "ACTIVITY_STATUS_COMPLETED";
  const waits = "ACTIVITY_STATUS_CONSENSUS_NEEDED";

  const apiKeys = [{ apiKeyName: "key", publicKey: bob.publicKey, curveType: bob.curve }];
  const user = { userName: "Bob", apiKeys, authenticators: [], oauthProviders: [], userTags: [] };
  const created = await submit(root, "create_users", bodyOf("CREATE_USERS_V4", { users: [user] }));
  const userIds = [userId, ...created.json.activity.result.createUsersResult.userIds];
  const quorum = bodyOf("UPDATE_ROOT_QUORUM", { threshold: 2, userIds });
  assert.equal(await statusOf(submit(root, "update_root_quorum", quorum)), done);
  const tag = (userTagName: string) => bodyOf("CREATE_USER_TAG", { userTagName, userIds: [] });
  const target = await submit(root, "create_user_tag", tag("payment"));
  assert.equal(target.json.activity.status, waits);
  const approval = () => bodyOf("APPROVE_ACTIVITY", { fingerprint: target.json.activity.fingerprint });

  await server.stop();
  const backup = backUp(restoring);
  server = await start(restoring);
  const keptBody = tag("lost");
  const keptApproval = approval();
  assert.equal(await statusOf(submit(root, "create_user_tag", keptBody)), waits);
  assert.equal(await statusOf(submit(bob, "approve_activity", keptApproval)), done);
  await server.stop();
  await backup.restore();
  server = await start(restoring);

  const message =
    /^request timestamp is outside the allowed window: the database was restored, .*send the request again with a new timestampMs$/;
  const refusal = { status: 400, code: 3, message, errorCode: "REQUEST_INVALID" };
  assertRefused(await submit(root, "create_user_tag", keptBody), refusal);
  assertRefused(await submit(bob, "approve_activity", keptApproval), refusal);
  assert.equal(await statusOf(submit(root, "create_user_tag", tag("lost"))), waits);
  assert.equal(await statusOf(submit(bob, "approve_activity", approval())), waits, "the other approval is over, too");
  assert.equal(await statusOf(submit(root, "approve_activity", approval())), done);
});
