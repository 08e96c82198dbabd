/** Proofs as files: fetched from a real server with its own command, and checked after it has gone, down to this clone's code. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freshDataFolder } from "./data_folder.ts";
import { repository, startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

const account = {
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
};

test("proofs of an activity are fetched, lead to the code of the clone, and are decided again", async (t) => {
  const dataFolder = freshDataFolder(t);
  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  const keystead = (...args: string[]) => runOperator("cli", args, { dataFolder });
  const made = await keystead("request", "create_wallet", toWallet("proven"), "--app-proofs");
  assert.equal(made.code, 0, made.stderr);
  const { id, fingerprint, result } = JSON.parse(made.stdout).activity;
  const [address] = result.createWalletResult.addresses;
  const fetched = await keystead("proof", "fetch", id);
  assert.deepEqual([fetched.code, fetched.stderr], [0, ""]);
  const context = await keystead("proof", "context", id);
  assert.deepEqual([context.code, context.stderr], [0, ""]);
  const without = await keystead("request", "create_wallet", toWallet("plain"));
  const none = await keystead("proof", "fetch", JSON.parse(without.stdout).activity.id);
  assert.deepEqual([none.code, none.stdout], [1, ""]);
  assert.match(none.stderr, /this activity has no app proofs: send it with `--app-proofs`/);
  const unknown = await keystead("proof", "fetch", "00000000-0000-4000-8000-000000000000");
  assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
  assert.match((await keystead("proof", "fetch")).stderr, /proof fetch needs the id of an activity/);
  await server.stop();

  const file = (name: string) => join(dataFolder, name);
  writeFileSync(file("proofs.json"), fetched.stdout);
  const verify = (name: string) => keystead("proof", "verify", file(name), "--code", repository);
  const verified = await verify("proofs.json");
  assert.deepEqual([verified.code, verified.stderr], [0, ""], verified.stdout);
  const lines = verified.stdout.trimEnd().split("\n");
  const holds = "app proof: its signature holds: ";
  assert.ok(lines.some((line) => line.startsWith(`${holds}${address} is at ${account.path} of wallet `)));
  assert.ok(lines.some((line) => line.startsWith(`${holds}OUTCOME_ALLOW for a request in organization `)));
  assert.ok(lines.includes(`activity: ${id}, fingerprint ${fingerprint}`));
  assert.ok(lines.some((line) => line.startsWith("arguments of Node, compared with nothing: --")));
  assert.match(lines.at(-1) ?? "", /^code: the \d+ listed files and Node are those of the clone$/);

  writeFileSync(file("bent.json"), fetched.stdout.replaceAll(address, `0x${"0".repeat(40)}`));
  const bent = await verify("bent.json");
  assert.deepEqual([bent.code, bent.stdout], [1, "bad: bad app proof: its signature does not hold\n"]);

  writeFileSync(file("context.json"), context.stdout);
  const replayed = await keystead("proof", "replay", file("context.json"));
  assert.equal(replayed.code, 0, replayed.stdout + replayed.stderr);
  const { appProof, ...rest } = JSON.parse(readFileSync(file("context.json"), "utf8"));
  const denied = { ...appProof, proofPayload: appProof.proofPayload.replace("OUTCOME_ALLOW", "OUTCOME_DENY_EXPLICIT") };
  writeFileSync(file("denied.json"), JSON.stringify({ appProof: denied, ...rest }));
  assert.notEqual((await keystead("proof", "replay", file("denied.json"))).code, 0);
});

const toWallet = (walletName: string) => JSON.stringify({ walletName, accounts: [account] });
