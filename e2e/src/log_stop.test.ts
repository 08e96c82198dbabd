/** What a server that was stopped in order leaves behind: nothing that it has answered is without a checkpoint. */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { parseNote } from "@keystead/core/tlog/note.ts";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { startKeystead } from "./keystead_server.ts";

test("a server that is stopped right after an answer has signed what it answered", async (t) => {
  const dataFolder = freshDataFolder(t);
  const folder = mkdtempSync(join(tmpdir(), "keystead-checkpoints-"));
  // The gateway may be another user.
  chmodSync(folder, 0o755);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const KEYSTEAD_CHECKPOINT_FILE = join(folder, "checkpoints");
  const start = () => startKeystead({ dataFolder, env: { KEYSTEAD_CHECKPOINT_FILE } });
  const first = await start();
  t.after(() => first.stop());
  const { organizationId, userId, apiPublicKey, apiPrivateKey } = first.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const clientOf = (baseUrl: string) => createClient({ baseUrl, organizationId, stamper });
  await clientOf(first.url).createUserTag({ userTagName: "last", userIds: [userId] });
  await first.stop();

  const notes = readFileSync(KEYSTEAD_CHECKPOINT_FILE, "utf8").match(/[^\n]+\n\d+\n[^\n]+\n\n— [^\n]+\n/g) ?? [];
  const { size } = parseCheckpoint(parseNote(notes.at(-1) ?? "").text);
  const second = await start();
  t.after(() => second.stop());
  const { leaves } = await clientOf(second.url).listLogLeaves({ paginationOptions: { limit: "100" } });
  const last = leaves.findLast(({ ordinal }) => ordinal !== undefined);
  assert.ok(Buffer.from(last?.bodies[0] ?? "", "base64").includes("CREATE_USER_TAG"));
  assert.equal(size, (last?.position ?? 0) + 1);
});
