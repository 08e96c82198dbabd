/** What the README promises a newcomer, done as written. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { parseTransaction, recoverTransactionAddress, type TransactionSerializedEIP1559 } from "viem";
import { freshDataFolder } from "./data_folder.ts";
import { programs, saveFiles } from "./guide_programs.ts";
import { repository, startKeystead } from "./keystead_server.ts";
import { messageTo } from "./mailbox.ts";

const execute = promisify(execFile);

test("the line the first start prints works by copy and paste", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  while (!/try: .+\n/.test(server.output())) await new Promise((resolve) => setTimeout(resolve, 20));
  const line = /try: (.+)/.exec(server.output())?.[1];
  assert.ok(line, `a request to paste in:\n${server.output()}`);
  const { stdout } = await execute("sh", ["-c", line], { cwd: repository });
  const { organizationId, organizationName, userId } = server.bootstrap;
  assert.deepEqual(JSON.parse(stdout), { organizationId, organizationName, userId, username: "Root user" });
});

/** An address and its signature. */
const signed = /^0x[0-9a-fA-F]{40} 0x[0-9a-f]{128}0[01]\n$/;
/** The same, as contracts take it. */
const signedForChain = /^0x[0-9a-fA-F]{40} 0x[0-9a-f]{128}(1b|1c)\n$/;
const uuid = /^[0-9a-f-]{36}\n$/;

/** What each program of a page prints, in their order. `USER` is the first user. */
const pages: Record<string, RegExp[]> = {
  "docs/guides/approvals.md": [/^ACTIVITY_STATUS_CONSENSUS_NEEDED\nACTIVITY_STATUS_COMPLETED\n$/],
  "docs/guides/clients.md": [/userId: 'USER'/, /userId: 'USER'/, signedForChain, signedForChain],
  "docs/guides/keys.md": [signed, /^12 words\n$/, uuid],
  "docs/guides/sessions.md": [/^Root user until \d{4}-[^\n]+Z\nnow until \d{4}-[^\n]+Z\nlogged out\n$/],
};

/** Their programs run in a browser: e2e/src/browser has the tests. */
const browserPages = ["docs/guides/auth-proxy.md", "docs/guides/passkeys.md"];

/**
 * Programs that ask for what a mail has brought: to whom it goes, what is typed, and what is printed at the end. `goesOn`: what the page
 * prints next is to be appended. `twice`: it finds what it has made.
 */
const mailPrograms: Record<
  string,
  { to: string; typed: (code: string) => string[]; answer: RegExp; goesOn?: true; twice?: true }
> = {
  "docs/guides/one-time-codes.md": {
    to: "user@example.com",
    typed: (code) => ["0", code.toLowerCase()],
    answer: /: Invalid OTP code\n.*user@example\.com is verified\nuser@example\.com is Ann's\n$/,
    goesOn: true,
  },
  "docs/guides/email-auth.md": { to: "ann@example.com", typed: (code) => [code], answer: /: Ann is signed in\n$/ },
  "docs/guides/sessions.md": {
    to: "ann@example.com",
    typed: (code) => [code],
    answer: /: Ann is signed in until \d{4}-[^\n]+Z\n$/,
    twice: true,
  },
};

/** The pages with programs. */
const allPages = [...new Set([...Object.keys(pages), ...Object.keys(mailPrograms), ...browserPages])];

const asksTerminal = (program: string) => program.includes("terminal.question(");

for (const [page, { to, typed, answer, goesOn, twice }] of Object.entries(mailPrograms)) {
  test(`the program of ${page} takes what the server has mailed, as npx keystead outbox shows it`, async (t) => {
    const server = await startKeystead();
    t.after(() => server.stop());
    const [program = "", ...others] = programs(page).filter(asksTerminal);
    assert.deepEqual(others, []);
    const whole = goesOn ? programs(page).join("\n") : program;
    const cwd = saveFiles(t, { "mail.ts": whole }, server.bootstrap);
    for (let run = 0; run < (twice ? 2 : 1); run++) {
      const running = execute(process.execPath, ["mail.ts"], { cwd });
      const { stdin, stdout } = running.child;
      const lines = messageTo(to, [join(server.dataFolder, "outbox")], run).then(({ code }) => typed(code));
      stdout?.on("data", async (text) => {
        if (!/outbox shows it: $/.test(text)) return;
        const waiting = await lines;
        stdin?.write(`${waiting.shift()}\n`);
        if (waiting.length === 0) stdin?.end();
      });
      assert.match((await running).stdout, answer);
    }
  });
}

test("the programs of the guides run as printed, more than once, with nothing but bootstrap.json", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  for (const [page, expected] of Object.entries(pages)) {
    const printed = programs(page).filter((program) => !asksTerminal(program));
    assert.equal(printed.length, expected.length, page);
    for (const [i, answer] of expected.entries()) {
      const cwd = saveFiles(t, { "tag.ts": printed[i] ?? "" }, server.bootstrap);
      for (let run = 0; run < 2; run++) {
        const { stdout } = await execute(process.execPath, ["tag.ts"], { cwd });
        assert.match(stdout.replaceAll(server.bootstrap.userId, "USER"), answer, page);
      }
    }
  }
});

test("the README's first signature works by copy and paste", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const text = readFileSync(join(repository, "README.md"), "utf8");
  const blocks = [...text.matchAll(/^```sh\n(npx keystead request (?:create_wallet|sign_raw_payload) .*?)^```$/gms)];
  assert.equal(blocks.length, 2);
  const env = { ...process.env, KEYSTEAD_DATA: server.dataFolder };
  const paste = async (script = "") =>
    JSON.parse((await execute("sh", ["-c", script], { cwd: repository, env })).stdout);
  const { addresses } = (await paste(blocks[0]?.[1])).activity.result.createWalletResult;
  const script = blocks[1]?.[1]?.replace("ADDRESS", addresses[0]);
  const { r, s, v } = (await paste(script)).activity.result.signRawPayloadResult;
  assert.match(`${addresses[0]} 0x${r}${s}${v}\n`, signed);

  const guide = readFileSync(join(repository, "docs/guides/keys.md"), "utf8");
  const [, transaction] = /^```sh\n(npx keystead request sign_transaction .*?)^```$/ms.exec(guide) ?? [];
  const { signedTransaction } = (await paste(transaction?.replace("ADDRESS", addresses[0]))).activity.result
    .signTransactionResult;
  const serialized = `0x${signedTransaction}` as TransactionSerializedEIP1559;
  assert.deepEqual([parseTransaction(serialized).chainId, parseTransaction(serialized).value], [11_155_111, 1n]);
  assert.equal(await recoverTransactionAddress({ serializedTransaction: serialized }), addresses[0]);
});

test("the README's commands about policies work as printed, and its apply changes nothing", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const text = readFileSync(join(repository, "README.md"), "utf8");
  const lines = [...text.matchAll(/^npx keystead (?:policy|request list_policies).*$/gm)].map(([line]) => line);
  assert.equal(lines.length, 5);
  const env = { ...process.env, KEYSTEAD_DATA: server.dataFolder };
  const paste = (line = "") => execute("sh", ["-c", line], { cwd: repository, env });
  const [check, cases, apply, explain, list] = lines;
  assert.match((await paste(check)).stdout, /^10 policies, 0 errors, 0 warnings\n$/);
  assert.match((await paste(cases)).stdout, /^(\d+) cases, \1 passed, 0 failed\n$/);
  await assert.rejects(paste(apply), { code: 1, stdout: /\n10 to create, 0 to change, 0 to delete/ });
  assert.deepEqual(JSON.parse((await paste(list)).stdout), { policies: [] });
  const tag = await paste(`npx keystead request create_user_tag '{"userTagName":"t","userIds":[]}'`);
  const { stdout } = await paste(explain?.replace("ACTIVITY_ID", JSON.parse(tag.stdout).activity.id));
  assert.match(stdout, /: completed\napproved by Root user .*\n {2}no policy was asked: the root quorum/);
});

test("the programs of the guides keep to the format of the code", async () => {
  for (const program of allPages.flatMap(programs)) {
    const biome = join(repository, "node_modules/@biomejs/biome/bin/biome");
    const checked = execute(process.execPath, [biome, "check", "--write", "--stdin-file-path=cli/src/tag.ts"], {
      cwd: repository,
    });
    checked.child.stdin?.end(program);
    assert.equal((await checked).stdout, program);
  }
});

test("the key pair of the operating guide is one that init takes and the CLI signs with", async (t) => {
  const text = readFileSync(join(repository, "docs/guides/operating.md"), "utf8");
  const printed = [...text.matchAll(/^npx keystead ((?:generate-key|init|whoami --api-key-file) .*?)(?: +#.*)?$/gm)];
  const [generate, init, whoami] = printed.map(([, line = ""]) => line.split(" "));
  const top = freshDataFolder(t);
  mkdirSync(top, { recursive: true });
  const dataFolder = freshDataFolder(t);
  const env = { ...process.env, KEYSTEAD_DATA: dataFolder };
  const run = async (args: string[] = []) =>
    (await execute(process.execPath, [join(repository, "cli/src/main.ts"), ...args], { cwd: top, env })).stdout;
  const publicKey = (await run(generate)).trim();
  assert.equal(statSync(join(top, "api.key")).mode & 0o777, 0o600);
  await run(init?.map((word) => word.replace("HEX", publicKey)));
  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  assert.equal(JSON.parse(await run(whoami)).userId, server.bootstrap.userId);
});

test("two people agree on the command line, as the guide of approvals prints it", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const folder = freshDataFolder(t);
  mkdirSync(folder, { recursive: true });
  const guide = readFileSync(join(repository, "docs/guides/approvals.md"), "utf8");
  const [make = "", propose = "", approve = "", list = ""] = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)].map(
    ([, block = ""]) => block,
  );
  const env = { ...process.env, KEYSTEAD_DATA: server.dataFolder };
  /** With the keys in a folder of the test's own: the repository may have somebody's. */
  const paste = (script: string) =>
    execute("sh", ["-c", script.replaceAll(/\b(?=(?:ann|bob)\.key)/g, `${folder}/`)], { cwd: repository, env });
  const { activity } = JSON.parse((await paste(make)).stdout);
  const id: string = activity.result.createSubOrganizationResultV8.subOrganizationId;
  const there = (script: string) => paste(script.replace("--organization ID", `--organization ${id}`));
  const waiting: { code: number; stderr: string } = await there(propose).then(
    () => assert.fail("it did not wait"),
    (error) => error,
  );
  assert.equal(waiting.code, 4);
  // npm has words of its own about the settings of whoever runs it.
  const stderr = waiting.stderr.replaceAll(/^npm warn .*\n/gm, "");
  const [, fingerprint = ""] =
    /approve_activity '\{"fingerprint":"(.*?)"\}' --organization \S+ --api-key-file FILE\n$/.exec(stderr) ?? [];
  assert.ok(guide.includes(stderr.replaceAll(fingerprint, "sha256:…").replaceAll(id, "ID")), stderr);
  assert.deepEqual(
    JSON.parse((await there(list)).stdout).activities.map((one: { fingerprint: string }) => one.fingerprint),
    [fingerprint],
  );
  const approved = JSON.parse((await there(approve.replace("FINGERPRINT", fingerprint))).stdout).activity;
  assert.equal(approved.status, "ACTIVITY_STATUS_COMPLETED");
});

test("every link in README and guides leads somewhere", () => {
  for (const page of [
    "README.md",
    "docs/concepts.md",
    "docs/guides/identity-providers.md",
    "docs/guides/operating.md",
    "docs/guides/policies.md",
    "examples/bundler_plugin/README.md",
    "sdk/README.md",
    ...allPages,
  ]) {
    const text = readFileSync(join(repository, page), "utf8");
    for (const [, link = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [path = "", heading] = link.split("#");
      const target = path === "" ? join(repository, page) : join(repository, page, "..", path);
      assert.ok(existsSync(target), `${page}: ${link}`);
      if (heading === undefined) continue;
      const headings = [...readFileSync(target, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => slugOf(title));
      assert.ok(headings.includes(heading), `${page}: ${link}`);
    }
  }
});

/** As hosts of Markdown make it. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(" ", "-");
}
