/** App proofs from the command line: asked for, written to a file, decided again without the server. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { verifyAppProofSignature } from "@turnkey/crypto";
import { freshDataFolder } from "./data_folder.ts";
import { startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

test("a proven decision is decided again: the same, another, or nobody can tell", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const folder = freshDataFolder(t);
  mkdirSync(folder, { recursive: true });
  const keystead = (...args: string[]) => runOperator("cli", args, { dataFolder: server.dataFolder });
  const tag = JSON.stringify({ userTagName: "proven", userIds: [] });
  const { activity } = JSON.parse((await keystead("request", "create_user_tag", tag, "--app-proofs")).stdout);
  for (const proof of activity.appProofs) verifyAppProofSignature(proof);

  const context = await keystead("proof", "context", activity.id);
  assert.equal(context.code, 0, context.stderr);
  const file = JSON.parse(context.stdout);
  assert.deepEqual(file.appProof, activity.appProofs[0]);
  await server.stop();

  const replay = (name: string, content: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return keystead("proof", "replay", path);
  };
  const ends = async (name: string, content: unknown, code: number, stdout: RegExp) => {
    const ended = await replay(name, content);
    assert.match(ended.stdout, stdout);
    assert.equal(ended.code, code);
  };
  await ends(
    "same.json",
    context.stdout,
    0,
    new RegExp(
      `^activity: ${activity.id}, fingerprint ${activity.fingerprint}\nsame: the rules say OUTCOME_ALLOW again\n$`,
    ),
  );
  const lied = file.appProof.proofPayload.replace("OUTCOME_ALLOW", "OUTCOME_ERROR");
  const forged = { ...file, appProof: { ...file.appProof, proofPayload: lied } };
  await ends("forged.json", forged, 1, /^different: the proof's signature does not hold\n$/);
  const other = Buffer.from(file.context.content, "base64");
  other.writeUInt8(other.readUInt8(60) ^ 1, 60);
  const moved = { ...file, context: { ...file.context, content: other.toString("base64") } };
  await ends("moved.json", moved, 1, /^different: the context is not the one that the proof names\n$/);
  const { body: _, ...unread } = file.context;
  await ends("unread.json", { ...file, context: unread }, 2, /^cannot tell: the request is missing/);
  await ends("pages.json", { ...file, context: { ...file.context, parts: [] } }, 2, /^cannot tell: the directory/);
  await ends("text.json", "not JSON", 2, /^cannot tell: the file is not JSON\n$/);
  assert.equal((await keystead("proof", "replay", join(folder, "missing.json"))).code, 2);
});
