/** A real server whose log a real witness cosigns, seen by somebody who has both keys. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { repository, startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

type Witness = { name: string; vkey: string; url: string };

/** The setting for a server, as the witness prints it. */
async function startWitness(t: TestContext, data: string, log: string): Promise<Witness> {
  const args = [join(repository, "cli/src/main.ts"), "witness", "--log", log, "--port", "0", "--data", data];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  for await (const line of createInterface(child.stdout)) {
    const [, json] = /^KEYSTEAD_WITNESSES='(.*)'$/.exec(line) ?? [];
    if (json !== undefined) return (JSON.parse(json) as [Witness])[0];
  }
  throw new Error("the witness did not start");
}

test("a witness cosigns what a server logs, an export needs its signature, and no byte of that can change", async (t) => {
  const dataFolder = freshDataFolder(t);
  const first = await startKeystead({ dataFolder });
  t.after(() => first.stop());
  const { logs } = (await (await fetch(`${first.url}/.well-known/keystead.json`)).json()) as {
    logs: { logId: string; vkey: string }[];
  };
  const [{ logId, vkey }] = logs as [(typeof logs)[0]];
  await first.stop();

  const witness = await startWitness(t, join(dataFolder, "..", "witness"), vkey);
  const checkpointFile = join(dataFolder, "..", "checkpoints");
  const env = {
    KEYSTEAD_WITNESSES: JSON.stringify([witness]),
    KEYSTEAD_CHECKPOINT_FILE: checkpointFile,
  };
  const server = await startKeystead({ dataFolder, env });
  t.after(() => server.stop());
  const { organizationId, userId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const client = createClient({ baseUrl: server.url, organizationId, stamper });
  await client.createUserTag({ userTagName: "a", userIds: [userId] });
  const keystead = (...args: string[]) => runOperator("cli", ["log", ...args], { dataFolder });
  const history = join(dataFolder, "..", "history");
  const exported = await keystead("export", history, "--witness", witness.vkey);
  assert.deepEqual([exported.code, exported.stderr], [0, ""]);
  // Who asks for no witness gets no line that they could not check.
  const plain = join(dataFolder, "..", "plain");
  assert.equal((await keystead("export", plain)).code, 0);
  await server.stop();
  assert.equal((await keystead("verify", plain, "--key", vkey)).code, 0);
  assert.equal((await keystead("verify", plain, "--key", vkey, "--witness", witness.vkey)).code, 1);

  const good = await keystead("verify", history, "--key", vkey, "--witness", witness.vkey);
  assert.equal(good.code, 0);
  assert.match(good.stdout, /^log key [^\n]*\norganization [^\n]*\ngood: /);
  // Without the witness's key nobody can say whose line that is.
  const unnamed = await keystead("verify", history, "--key", vkey);
  assert.equal(unnamed.code, 2);
  assert.match(unnamed.stdout, /: the signature of `\S+`: pass its key with --witness\n/);
  const path = join(history, logId, "checkpoint");
  const text = readFileSync(path, "utf8");
  const [kept = ""] = readFileSync(checkpointFile, "utf8").split(/\n\n(?=keystead\/)/);
  writeFileSync(join(dataFolder, "..", "kept"), `${kept.trimEnd()}\n`);
  const since = ["--since", join(dataFolder, "..", "kept")];
  const continued = await keystead("verify", history, "--key", vkey, "--witness", witness.vkey, ...since);
  assert.equal(continued.code, 0, continued.stdout + continued.stderr);
  const at = text.length - 10;
  writeFileSync(path, text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1));
  assert.equal((await keystead("verify", history, "--key", vkey, "--witness", witness.vkey)).code, 1);
  assert.equal((await keystead("verify", history, "--key", vkey)).code, 2);
});
