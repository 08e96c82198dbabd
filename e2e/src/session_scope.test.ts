/** What the command line tells somebody whose session profile does not allow what was asked for. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { freshDataFolder } from "./data_folder.ts";
import { repository, startKeystead } from "./keystead_server.ts";

const execute = promisify(execFile);

test("a refusal by a session's scope names the profile and its scope, at once and later", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const folder = freshDataFolder(t);
  mkdirSync(folder, { recursive: true });
  const key = join(folder, "session.key");
  const env = { ...process.env, KEYSTEAD_DATA: server.dataFolder };
  const keystead = async (...args: string[]) =>
    (await execute(process.execPath, [join(repository, "cli/src/main.ts"), ...args], { cwd: folder, env })).stdout;
  const request = async (name: string, params: object, ...flags: string[]) =>
    JSON.parse(await keystead("request", name, JSON.stringify(params), ...flags));

  const scope = "activity.action == 'SIGN'";
  const { activity: made } = await request("create_session_profile", { sessionProfileName: "Signing", scope });
  const { sessionProfileId } = made.result.createSessionProfileResult;
  const publicKey = (await keystead("generate-key", key)).trim();
  await request("stamp_login", { publicKey, sessionProfileId });

  const tag = { userTagName: "ops", userIds: [] };
  const { stderr } = await request("create_user_tag", tag, "--api-key-file", key).then(
    () => assert.fail("it was allowed"),
    (error: { stderr: string }) => error,
  );
  assert.match(stderr, /\(HTTP 403, REQUEST_NOT_AUTHORIZED\)\n/);
  assert.match(stderr, /\nrefused: outside the scope of session profile "Signing"; no policy was asked\n/);
  assert.ok(stderr.includes(`\n  scope is not met: ${scope}\n`), stderr);
  assert.doesNotMatch(stderr, /no policy allows it/);

  const { activities } = await request("list_activities", { filterByStatus: ["ACTIVITY_STATUS_REJECTED"] });
  const [refused] = activities;
  const explained = await keystead("policy", "explain", refused.id);
  assert.match(explained, /\n {2}no policy was asked: it is outside the session's scope, /);
  assert.ok(
    explained.includes(`\n  the session is bound by session profile "Signing", which allows only: ${scope}\n`),
    explained,
  );
});
