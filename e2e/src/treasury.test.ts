/** The guide "policies for a treasury", done: its files are checked, tested, applied and asked for reasons. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { parseCases } from "@keystead/core/policy/cases/case_file.ts";
import { type Client, createApiKeyStamper, createClient, KeysteadError } from "@keystead/sdk";
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

/** The example's cast in a real organization, as its own program brings it there, and its files with their ids. */
async function settle(t: TestContext, server: KeysteadServer) {
  const folder = join(mkdtempSync(join(tmpdir(), "keystead-treasury-")), "mine");
  t.after(() => rmSync(join(folder, ".."), { recursive: true }));
  const env = { ...process.env, KEYSTEAD_DATA: server.dataFolder };
  await execute(process.execPath, [join(example, "setup.ts"), folder], { env });
  const keyOf = (name: string) => readFileSync(join(folder, `${name.toLowerCase()}.key`), "utf8").trim();
  const { signWith } = JSON.parse(readFileSync(join(folder, "large_payment.json"), "utf8"));
  /** A profile of the command line. */
  const profileOf = (name: string): string => {
    const { organizationId } = server.bootstrap;
    const path = join(folder, `${name}.profile.json`);
    const profile = { baseUrl: server.url, organizationId, apiPrivateKey: keyOf(name) };
    writeFileSync(path, JSON.stringify(profile), { mode: 0o600 });
    return path;
  };
  const as = (name: string): Client => clientOf(server, { apiPrivateKey: keyOf(name) });
  return { root: clientOf(server, server.bootstrap), as, profileOf, folder, signWith };
}

function clientOf(server: KeysteadServer, { apiPrivateKey }: { apiPrivateKey: string }): Client {
  const { organizationId } = server.bootstrap;
  return createClient({ baseUrl: server.url, organizationId, stamper: createApiKeyStamper({ apiPrivateKey }) });
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
  const refused = await errorOf(as("bot").signTransaction(params));
  assert.equal(refused.status, 403);
  assert.match(JSON.stringify(refused.details), /"clause":"eth\.tx\.to in /);

  const waiting = (await errorOf(as("Tessa").signTransaction(params))).activity ?? assert.fail("it does not wait");
  assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  assert.equal((await errorOf(as("Sara").approveActivity({ fingerprint: waiting.fingerprint }))).status, 403);
  const { activity } = await as("Tom").approveActivity({ fingerprint: waiting.fingerprint });
  assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");

  const explained = await keystead(["policy", "explain", activity.id], folder, data);
  assert.match(
    explained,
    /^ACTIVITY_TYPE_SIGN_TRANSACTION_V2 \S+: completed\napproved by Tessa at 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ: 10 policies\n {2}waits for approvals under "Two treasurers sign anything"\n/,
  );
  assert.match(
    explained,
    /\n {4}ALLOW "Two treasurers sign anything" waits for approvals \(REQUIRES_CONSENSUS\)\n {6}consensus is not met: approvers/,
  );
  assert.match(
    explained,
    /\napproved by Tom at \S+Z: 10 policies\n {2}allowed by "Two treasurers sign anything"\n {4}ALLOW "Two treasurers sign anything" allows \(ALLOW\)\n/,
  );
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

test('the guide\'s "Now try it" works by copy and paste, at any hour', async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const folder = join(mkdtempSync(join(tmpdir(), "keystead-treasury-")), "mine");
  t.after(() => rmSync(join(folder, ".."), { recursive: true }));
  const guide = readFileSync(join(repository, "docs/guides/policies.md"), "utf8");
  const [, section = ""] = /^## Now try it\n(.*?)^## Ask why$/ms.exec(guide) ?? [];
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  const [prepare = "", pays = "", refused = "", together = "", simulate = ""] = blocks;
  const [begin = "", approve = ""] = together.split(/\n(?=npx)/);
  /** In a folder of the test's own: the one in the guide may be somebody's. */
  const paste = async (script: string) => {
    const here = script.replace("--any-time", `--any-time ${folder}`).replaceAll("examples/treasury/mine", folder);
    const env = { ...process.env, KEYSTEAD_DATA: server.dataFolder };
    return execute("sh", ["-e", "-c", here], { cwd: repository, env });
  };
  // Who reads the guide from the top has brought the interface already.
  const [, interfaceOfToken = ""] =
    /^```sh\n(npx keystead request create_smart_contract_interface .*?)^```$/ms.exec(guide) ?? [];
  assert.equal(JSON.parse((await paste(interfaceOfToken)).stdout).activity.status, "ACTIVITY_STATUS_COMPLETED");
  assert.match((await paste(prepare)).stdout, /\ncreated 6 DENY policies\ncreated 4 ALLOW policies\n$/);
  // A second run is refused before it creates anything.
  const root = clientOf(server, server.bootstrap);
  const { users } = await root.listUsers();
  const again: { stderr: string } = await paste("npx node examples/treasury/setup.ts --any-time/again").then(
    () => assert.fail("it ran twice"),
    (error) => error,
  );
  assert.match(again.stderr, /exists: the example's users and wallet are probably there from an earlier run/);
  assert.equal((await root.listUsers()).users.length, users.length);
  assert.ok(!existsSync(join(folder, "again")));
  const paid = JSON.parse((await paste(pays)).stdout).activity;
  assert.equal(paid.status, "ACTIVITY_STATUS_COMPLETED");

  const refusal: { stderr: string } = await paste(refused).then(
    () => assert.fail("it was done"),
    (error) => error,
  );
  // The guide shows the beginning of it, and the last line without its id.
  const [, shown = ""] =
    /^```\n(keystead: You don't.*?)\n {2}…\nwhy, later: npx keystead policy explain …\n```$/ms.exec(section) ?? [];
  assert.ok(shown !== "" && refusal.stderr.includes(shown), refusal.stderr);
  const [, activityId = ""] = /\nwhy, later: npx keystead policy explain (\S+)\n$/.exec(refusal.stderr) ?? [];
  const explained = await keystead(["policy", "explain", activityId], repository, server.dataFolder);
  assert.match(
    explained,
    /: rejected\napproved by Payments bot at \S+Z: 10 policies\n {2}no policy allows it; nearest: /,
  );

  const begun: { code: number; stderr: string } = await paste(begin).then(
    () => assert.fail("it did not wait"),
    (error) => error,
  );
  assert.equal(begun.code, 4);
  const [, fingerprint = ""] =
    /request approve_activity '\{"fingerprint":"(.*?)"\}' --api-key-file FILE\n$/.exec(begun.stderr) ?? [];
  const approved = JSON.parse((await paste(approve.replace("FINGERPRINT", fingerprint))).stdout).activity;
  assert.equal(approved.status, "ACTIVITY_STATUS_COMPLETED");

  assert.equal(JSON.parse((await paste(simulate)).stdout).decision, "DECISION_ALLOW");
  const { userId } = JSON.parse(
    await keystead(["whoami", "--api-key-file", join(folder, "ina.key")], repository, server.dataFolder),
  );
  const asIna = simulate.replace('{"activity"', `{"proposerId": "${userId}", "activity"`);
  assert.equal(JSON.parse((await paste(asIna)).stdout).decision, "DECISION_DENY");
  // What the example has and the organization lacks is said.
  const unknown = await paste("npx keystead policy apply examples/treasury/policies.json --check; true").catch(
    (error) => error,
  );
  assert.match(
    unknown.stderr,
    /warning: this organization has no user tag `aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa`, which .* name\n/,
  );
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
