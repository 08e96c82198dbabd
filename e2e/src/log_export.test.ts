/** A history as files: exported from a real server, and checked without it. */
import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

test("a history is exported, checked after the server has gone, and found out when a byte of it changes", async (t) => {
  const dataFolder = freshDataFolder(t);
  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  const { baseUrl, organizationId, userId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const client = createClient({ baseUrl, organizationId, stamper });
  for (const userTagName of ["a", "b", "c"]) await client.createUserTag({ userTagName, userIds: [userId] });
  const account = { curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32", path: "m/44'/60'/0'/0/0" } as const;
  const accounts = [{ ...account, addressFormat: "ADDRESS_FORMAT_ETHEREUM" } as const];
  const { activity, addresses } = await client.createWallet({ walletName: "w", accounts });
  const payload = {
    payload: "00",
    encoding: "PAYLOAD_ENCODING_HEXADECIMAL",
    hashFunction: "HASH_FUNCTION_SHA256",
  } as const;
  await client.signRawPayload({ signWith: addresses[0] ?? "", ...payload });
  await client.initImportWallet({ userId });
  const { subOrganizationId } = await client.createSubOrganization({
    subOrganizationName: "child",
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: "u",
        apiKeys: [{ apiKeyName: "k", publicKey: apiPublicKey ?? "", curveType: "API_KEY_CURVE_P256" }],
        authenticators: [],
        oauthProviders: [],
      },
    ],
  });
  const keystead = (...args: string[]) => runOperator("cli", ["log", ...args], { dataFolder });
  const history = join(dataFolder, "history");
  const exported = await keystead("export", history, "--sub-organizations");
  assert.deepEqual([exported.code, exported.stderr], [0, ""]);
  t.after(() => rmSync(`${activity.id}.tlog-proof`, { force: true }));
  const proven = await keystead("prove", activity.id);
  assert.equal(proven.code, 0, proven.stderr);
  await server.stop();

  const verified = await keystead("verify", history, "--sub-organizations");
  const { publicKeys } = JSON.parse(readFileSync(join(dataFolder, "public_keys.json"), "utf8"));
  const subject = [
    `log key ${publicKeys.log}`,
    ...[organizationId, subOrganizationId].sort().map((id) => `organization ${id}`),
  ];
  assert.deepEqual(verified.stdout.split("\n").slice(0, 3), subject);
  assert.match(verified.stdout, /\ngood: 1 log, 2 organizations, \d+ leaves, 8 stamps verified, all up to 20\S+Z\n$/);
  assert.equal(verified.code, 0);
  const replayed = await keystead("verify", history, "--replay");
  assert.match(replayed.stdout, /^executed \d+ acts again\nlog key (.*\n){3}good: 1 log, 2 organizations, /);
  assert.equal(replayed.code, 0);
  const proof = proven.stdout.trim();
  assert.match(
    (await keystead("verify", proof)).stdout,
    /^COMPLETED ACTIVITY_TYPE_CREATE_WALLET, grounds ROOT_QUORUM, at /,
  );

  assert.ok(readdirSync(history).includes(subOrganizationId));
  const withheld = join(dataFolder, "withheld");
  cpSync(history, withheld, { recursive: true });
  rmSync(join(withheld, subOrganizationId), { recursive: true });
  const missed = await keystead("verify", withheld, "--sub-organizations");
  assert.equal(missed.code, 2);
  assert.match(missed.stdout, new RegExp(`: it made sub-organization ${subOrganizationId}, which is not here`));
  const [leaves = ""] = readdirSync(join(history, organizationId)).filter((name) => name.endsWith(".leaves"));
  const path = join(history, organizationId, leaves);
  const bytes = readFileSync(path);
  bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
  writeFileSync(path, bytes);
  const changed = await keystead("verify", history);
  assert.equal(changed.code, 1);
  assert.match(
    changed.stdout,
    new RegExp(`\nfirst bad leaf: log [0-9a-f]{32}, position \\d+, organization ${organizationId}, leaf \\d+: `),
  );
});

test("of a private log its members export and prove their own history, and strangers see nothing", async (t) => {
  const dataFolder = freshDataFolder(t);
  const server = await startKeystead({ dataFolder, env: { KEYSTEAD_LOG: "private" } });
  t.after(() => server.stop());
  const { baseUrl, organizationId, userId, apiPublicKey, apiPrivateKey } = server.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const client = createClient({ baseUrl, organizationId, stamper });
  const { activity } = await client.createUserTag({ userTagName: "a", userIds: [userId] });
  const keystead = (...args: string[]) => runOperator("cli", ["log", ...args], { dataFolder });
  const history = join(dataFolder, "history");
  const exported = await keystead("export", history);
  assert.deepEqual([exported.code, exported.stderr], [0, ""]);
  t.after(() => rmSync(`${activity.id}.tlog-proof`, { force: true }));
  const proven = await keystead("prove", activity.id);
  assert.equal(proven.code, 0, proven.stderr);
  const [logId = ""] = readdirSync(history).filter((name) => /^[0-9a-f]{32}$/.test(name));
  assert.equal((await fetch(`${baseUrl}/log/${logId}/checkpoint`)).status, 404);
  await server.stop();
  const verified = await keystead("verify", history, "--replay");
  assert.match(verified.stdout, /^executed \d+ acts again\nlog key (.*\n){2}good: 1 log, 1 organization, /);
  assert.equal(verified.code, 0);
  assert.equal((await keystead("verify", proven.stdout.trim())).code, 0);
});
