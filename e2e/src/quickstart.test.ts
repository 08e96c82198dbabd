/** What the README promises a newcomer, done as written. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { repository, startKeystead } from "./keystead_server.ts";

const run = promisify(execFile);

test("the line the first start prints works by copy and paste", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  while (!/try: .+\n/.test(server.output())) await new Promise((resolve) => setTimeout(resolve, 20));
  const line = /try: (.+)/.exec(server.output())?.[1];
  assert.ok(line, `a request to paste in:\n${server.output()}`);
  const { stdout } = await run("sh", ["-c", line], { cwd: repository });
  const { organizationId, organizationName, userId } = server.bootstrap;
  assert.deepEqual(JSON.parse(stdout), { organizationId, organizationName, userId, username: "Root user" });
});

test("the README's program makes a tag with nothing but bootstrap.json", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  assert.equal(baseUrl, server.url);
  const client = createClient({
    baseUrl,
    organizationId,
    stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
  });
  const { userTagId, activity } = await client.createUserTag({ userTagName: "operations", userIds: [] });
  assert.match(userTagId, /^[0-9a-f-]{36}$/);
  assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
});
