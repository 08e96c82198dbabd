/** The guide "policies for a treasury", done: its files are checked, tested, applied and asked for reasons. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { parseCases } from "@keystead/core/policy/case_file.ts";
import { type Client, createApiKeyStamper, createClient, generateApiKey, KeysteadError } from "@keystead/sdk";
import { type KeysteadServer, repository, startKeystead } from "./keystead_server.ts";

const execute = promisify(execFile);
const example = join(repository, "examples/treasury");
const main = join(repository, "cli/src/main.ts");

async function keystead(args: string[], cwd: string, dataFolder = cwd): Promise<string> {
  const env = { ...process.env, KEYSTEAD_DATA: dataFolder };
  return (await execute(process.execPath, [main, ...args], { cwd, env })).stdout;
}

test("the guide's files pass its commands as printed", async () => {
  const guide = readFileSync(join(repository, "docs/guides/policies.md"), "utf8");
  const printed = [...guide.matchAll(/^npx keystead (policy (?:check|test) .+)$/gm)].map((match) => match[1] ?? "");
  assert.deepEqual(printed, [
    "policy check examples/treasury/policies.json",
    "policy test examples/treasury/cases.json",
  ]);
  const answers = await Promise.all(printed.map((line) => keystead(line.split(" "), repository)));
  assert.deepEqual(answers, ["10 policies, 0 errors, 0 warnings\n", "28 cases, 28 passed, 0 failed\n"]);
  assert.ok(guide.includes("```\n28 cases, 28 passed, 0 failed\n```"));
});

/** The example's people, wallet and token in a real organization; its files with their ids in place of the made-up ones. */
async function settle(t: TestContext, server: KeysteadServer) {
  const root = clientOf(server, server.bootstrap);
  const cases = readFileSync(join(example, "cases.json"), "utf8");
  const { users, keys, interfaces } = JSON.parse(cases);
  const names: string[] = users.map(({ userName }: { userName: string }) => userName);
  const pairs = names.map(() => generateApiKey());
  const { userIds } = await root.createUsers({
    users: names.map((userName, i) => ({
      userName,
      apiKeys: [{ apiKeyName: "key", publicKey: pairs[i]?.apiPublicKey ?? "", curveType: "API_KEY_CURVE_P256" }],
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    })),
  });
  const ids = new Map<string, string>(users.map(({ userId }: { userId: string }, i: number) => [userId, userIds[i]]));
  const tags = new Set<string>(users.flatMap(({ userTags = [] }: { userTags?: string[] }) => userTags));
  for (const tag of tags) {
    const carriers = users.filter(({ userTags = [] }: { userTags?: string[] }) => userTags.includes(tag));
    const { userTagId } = await root.createUserTag({
      userTagName: `tag ${tag}`,
      userIds: carriers.map(({ userId }: { userId: string }) => ids.get(userId)),
    });
    ids.set(tag, userTagId);
  }
  const [{ walletId, address, addressFormat, path, curve }] = keys;
  const account = { curve, pathFormat: "PATH_FORMAT_BIP32", path, addressFormat } as const;
  const wallet = await root.createWallet({ walletName: "Treasury", accounts: [account] });
  ids.set(walletId, wallet.walletId).set(address, wallet.addresses[0] ?? "");
  for (const { smartContractAddress, smartContractInterface } of interfaces) {
    await root.createSmartContractInterface({
      smartContractAddress,
      smartContractInterface: JSON.stringify(smartContractInterface),
      type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
      label: "USDC",
    });
  }
  const folder = mkdtempSync(join(tmpdir(), "keystead-treasury-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const withIds = (text: string) => [...ids].reduce((partly, [made, real]) => partly.replaceAll(made, real), text);
  for (const name of ["policies.json", "cases.json"]) {
    writeFileSync(join(folder, name), withIds(readFileSync(join(example, name), "utf8")));
  }
  const as = (name: string): Client => clientOf(server, pairs[names.indexOf(name)] ?? assert.fail(name));
  /** A profile of the command line. */
  const profileOf = (name: string): string => {
    const { apiPrivateKey } = pairs[names.indexOf(name)] ?? assert.fail(name);
    const { organizationId } = server.bootstrap;
    const path = join(folder, `${name}.profile.json`);
    writeFileSync(path, JSON.stringify({ baseUrl: server.url, organizationId, apiPrivateKey }), { mode: 0o600 });
    return path;
  };
  return { root, as, profileOf, folder, signWith: wallet.addresses[0] ?? "" };
}

function clientOf(server: KeysteadServer, key: { apiPublicKey: string; apiPrivateKey: string }): Client {
  const { organizationId } = server.bootstrap;
  const { apiPublicKey, apiPrivateKey } = key;
  return createClient({
    baseUrl: server.url,
    organizationId,
    stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
  });
}

const decisions = { allow: "DECISION_ALLOW", deny: "DECISION_DENY", consensus: "DECISION_CONSENSUS_NEEDED" } as const;

test("applied to an organization, the guide's policies do there what their cases say, and say why", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const { root, as, folder, signWith } = await settle(t, server);
  const data = server.dataFolder;
  assert.equal(await keystead(["policy", "test", "cases.json"], folder), "28 cases, 28 passed, 0 failed\n");

  const first = await keystead(["policy", "apply", "policies.json", "--yes"], folder, data);
  assert.match(
    first,
    /10 to create, 0 to change, 0 to delete, 0 as they are\ncreated 6 DENY policies\ncreated 4 ALLOW policies\n$/,
  );
  const second = await keystead(["policy", "apply", "policies.json"], folder, data);
  assert.equal(second, "0 to create, 0 to change, 0 to delete, 10 as they are\n");

  const json = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
  const { cases } = parseCases({ ...json, policies: JSON.parse(readFileSync(join(folder, "policies.json"), "utf8")) });
  for (const { name, activity, proposer, approvers, now, expect } of cases) {
    const { decision } = await root.simulateActivity({
      activity,
      proposerId: proposer,
      approverIds: (approvers ?? [{ userId: proposer }]).map(({ userId }) => userId),
      timeMs: String(Date.parse(now ?? "")),
    });
    assert.equal(decision, decisions[expect], name);
  }

  const payment = cases.find(({ name }) => name === "one treasurer begins a large payment") ?? assert.fail();
  const { unsignedTransaction } = payment.activity.parameters as { unsignedTransaction: string };
  const params = { signWith, unsignedTransaction, type: "TRANSACTION_TYPE_ETHEREUM" } as const;
  const refused = await errorOf(as("Payments bot").signTransaction(params));
  assert.equal(refused.status, 403);
  assert.match(JSON.stringify(refused.details), /"clause":"eth\.tx\.to in /);

  const waiting = (await errorOf(as("Tessa").signTransaction(params))).activity ?? assert.fail("it does not wait");
  assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  assert.equal((await errorOf(as("Sara").approveActivity({ fingerprint: waiting.fingerprint }))).status, 403);
  const { activity } = await as("Tom").approveActivity({ fingerprint: waiting.fingerprint });
  assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");

  const explained = await keystead(["policy", "explain", activity.id], folder, data);
  assert.match(explained, /^ACTIVITY_TYPE_SIGN_TRANSACTION_V2 \S+: completed\napproved by Tessa at .*: 10 policies\n/);
  assert.match(explained, /REQUIRES_CONSENSUS "Two treasurers sign anything"\n {4}consensus is not met: approvers/);
  assert.match(explained, /\napproved by Tom at .*: 10 policies\n(.*\n)* {2}ALLOW "Two treasurers sign anything"\n/);
});

test("what is not in the file is deleted by --prune alone, and then the organization has the policies of the file", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const { root, folder } = await settle(t, server);
  const data = server.dataFolder;
  await root.createPolicy({ policyName: "Made by hand", effect: "EFFECT_ALLOW", condition: "activity.kind == 'X'" });
  const kept = await keystead(["policy", "apply", "policies.json", "--yes"], folder, data);
  assert.match(kept, /\n! ALLOW "Made by hand" is not in the file and stays in force; --prune deletes it\n/);
  const policies = JSON.parse(readFileSync(join(folder, "policies.json"), "utf8"));
  policies[0].time = "";
  writeFileSync(join(folder, "policies.json"), JSON.stringify(policies));
  const pruned = await keystead(["policy", "apply", "policies.json", "--yes", "--prune"], folder, data);
  assert.match(
    pruned,
    /\n {4}\+ time: \n- ALLOW "Made by hand"\n(.*\n)*deleted 1 ALLOW policy\nchanged "Bot pays suppliers in ether"\n$/,
  );
  const { policies: stored } = await root.listPolicies();
  assert.deepEqual(
    stored.map(({ policyName, time }) => [policyName, time]).toSorted(),
    policies.map(({ policyName, time = "" }: { policyName: string; time?: string }) => [policyName, time]).toSorted(),
  );
});

test("an apply that needs approvals stops at each, sends nothing twice, and goes on when it is run again", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const { root, as, profileOf, folder } = await settle(t, server);
  const file = join(folder, "policies.json");
  await keystead(["policy", "apply", file, "--yes"], folder, server.dataFolder);
  const policies = JSON.parse(readFileSync(file, "utf8"));
  policies.find(({ policyName }: { policyName: string }) => policyName === "Keys stay inside").time =
    "CronSpan('0 0 * * *', '1d', 'UTC')";
  policies.push({
    policyName: "Bot makes wallets",
    effect: "EFFECT_ALLOW",
    condition: "activity.kind == 'CREATE_WALLET'",
  });
  policies.push({ policyName: "No new users", effect: "EFFECT_DENY", condition: "activity.kind == 'CREATE_USERS'" });
  writeFileSync(file, JSON.stringify(policies));

  const args = ["policy", "apply", file, "--yes", "--profile", profileOf("Tessa")];
  const apply = () =>
    keystead(args, folder).then(
      (stdout) => ({ code: 0, stdout, stderr: "" }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, stdout, stderr }),
    );
  const waiting = async () =>
    (await root.listActivities({ filterByStatus: ["ACTIVITY_STATUS_CONSENSUS_NEEDED"] })).activities;
  const steps = ["create 1 DENY policy", 'change "Keys stay inside"', "create 1 ALLOW policy"];
  for (const [i, step] of steps.entries()) {
    const first = await apply();
    assert.equal(first.code, 1, first.stderr);
    assert.ok(first.stdout.includes(`\nwaits for approvals: ${step}\n`), first.stdout);
    for (const later of steps.slice(i + 1)) assert.ok(first.stdout.includes(`\nnot begun: ${later}\n`), first.stdout);
    const second = await apply();
    assert.equal(second.code, 1);
    assert.match(second.stdout, /\nwaits since \S+, not sent again: /);
    const [activity, ...more] = await waiting();
    assert.deepEqual(more, []);
    await as("Sara").approveActivity({ fingerprint: activity?.fingerprint ?? assert.fail("nothing waits") });
  }
  const last = await apply();
  assert.deepEqual([last.code, last.stdout], [0, "0 to create, 0 to change, 0 to delete, 12 as they are\n"]);
});

async function errorOf(call: Promise<unknown>): Promise<KeysteadError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof KeysteadError) return error;
    throw error;
  }
  return assert.fail("it was done");
}
