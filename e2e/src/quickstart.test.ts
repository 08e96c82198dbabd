/** What the README promises a newcomer, done as written. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { freshDataFolder } from "./data_folder.ts";
import { repository, startKeystead } from "./keystead_server.ts";

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
const together = /^ACTIVITY_STATUS_CONSENSUS_NEEDED\nACTIVITY_STATUS_COMPLETED\n$/;

/** The programs of the README, as printed. */
function programs(): string[] {
  const text = readFileSync(join(repository, "README.md"), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? "");
}

/** Below the repository, where packages are found, and in a folder that git and the linter pass over. */
function savedProgram(t: TestContext, program: string): string {
  mkdirSync(join(repository, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(repository, ".cache", "readme-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "tag.ts"), program);
  return join(folder, "tag.ts");
}

test("the README's programs run as printed, more than once, with nothing but bootstrap.json", async (t) => {
  const server = await startKeystead();
  t.after(() => server.stop());
  const expected = [/^[0-9a-f-]{36}\n$/, new RegExp(`userId: '${server.bootstrap.userId}'`), signed, together];
  const printed = programs();
  assert.equal(printed.length, expected.length);
  for (const [i, answer] of expected.entries()) {
    const path = savedProgram(t, printed[i] ?? "");
    // The program reads data/bootstrap.json in the folder it is run in.
    mkdirSync(join(path, "../data"));
    writeFileSync(join(path, "../data/bootstrap.json"), JSON.stringify(server.bootstrap), { mode: 0o600 });
    for (let run = 0; run < 2; run++) {
      const { stdout } = await execute(process.execPath, [path], { cwd: join(path, "..") });
      assert.match(stdout, answer);
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
});

test("the README's commands about policies work as printed, and apply changes nothing before somebody agrees", async (t) => {
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
  await assert.rejects(paste(apply), /nothing was changed; --yes changes without asking/);
  assert.deepEqual(JSON.parse((await paste(list)).stdout), { policies: [] });
  const tag = await paste(`npx keystead request create_user_tag '{"userTagName":"t","userIds":[]}'`);
  const { stdout } = await paste(explain?.replace("ACTIVITY_ID", JSON.parse(tag.stdout).activity.id));
  assert.match(stdout, /: completed\napproved by Root user .*\n {2}no policy was asked: the root quorum/);
});

test("the README's programs keep to the format of the code", async () => {
  for (const program of programs()) {
    const biome = join(repository, "node_modules/@biomejs/biome/bin/biome");
    const checked = execute(process.execPath, [biome, "check", "--write", "--stdin-file-path=cli/src/tag.ts"], {
      cwd: repository,
    });
    checked.child.stdin?.end(program);
    assert.equal((await checked).stdout, program);
  }
});

test("the README's key pair is one that init takes and the CLI signs with", async (t) => {
  const text = readFileSync(join(repository, "README.md"), "utf8");
  const script = /^npx node -e '(.*?)'$/ms.exec(text)?.[1];
  assert.ok(script);
  const top = freshDataFolder(t);
  mkdirSync(top, { recursive: true });
  const { stdout } = await execute(process.execPath, ["-e", script], { cwd: top });
  const keyFile = join(top, "api.key");
  assert.equal(statSync(keyFile).mode & 0o777, 0o600);
  const dataFolder = freshDataFolder(t);
  const env = { ...process.env, KEYSTEAD_DATA: dataFolder };
  const cli = join(repository, "cli/src/main.ts");
  await execute(process.execPath, [cli, "init", "--root-public-key", stdout.trim()], { env });
  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  const answer = await execute(process.execPath, [cli, "whoami", "--api-key-file", keyFile], { env });
  assert.equal(JSON.parse(answer.stdout).userId, server.bootstrap.userId);
});
