/** Two hosts on one PostgreSQL: whoever reaches one of them gets a history that covers the logs of both. */
import assert from "node:assert/strict";
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { freshDataFolder } from "./data_folder.ts";
import { testSource } from "./databases.ts";
import { startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

/** As docs/guides/operating.md has it. */
function copySecrets(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const name of ["root.key", "root.key.ids", "bootstrap.json"]) {
    if (!existsSync(join(from, name))) continue;
    cpSync(join(from, name), join(to, name), { preserveTimestamps: true });
    const { uid, gid } = statSync(join(from, name));
    chownSync(join(to, name), uid, gid);
  }
}

test("an export from one host has the statements of all, a host that is away is named, and a log that is left out is found", async (t) => {
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return;
  const { url: databaseUrl } = source;
  const [firstFolder, secondFolder] = [freshDataFolder(t), freshDataFolder(t)];
  const first = await startKeystead({ dataFolder: firstFolder, databaseUrl });
  t.after(() => first.stop());
  copySecrets(firstFolder, secondFolder);
  const second = await startKeystead({ dataFolder: secondFolder, databaseUrl });
  t.after(() => second.stop());
  const { organizationId, userId, apiPublicKey, apiPrivateKey } = first.bootstrap;
  const stamper = createApiKeyStamper({ apiPublicKey, apiPrivateKey });
  const clientOf = (baseUrl: string) => createClient({ baseUrl, organizationId, stamper });
  for (const [index, { url }] of [first, second, first, second].entries()) {
    await clientOf(url).createUserTag({ userTagName: `tag ${index}`, userIds: [userId] });
  }
  const keystead = (...args: string[]) =>
    runOperator("cli", ["log", ...args, "--profile", join(firstFolder, "bootstrap.json")], { dataFolder: firstFolder });
  const folder = (name: string) => join(firstFolder, name);
  for (const [name, { url }] of [
    ["of the first", first],
    ["of the second", second],
  ] as const) {
    const exported = await keystead("export", folder(name), "--url", url);
    assert.deepEqual([exported.code, exported.stderr], [0, ""]);
    const verified = await keystead("verify", folder(name));
    assert.match(verified.stdout, /\ngood: 2 logs, 1 organization, \d+ leaves, 4 stamps verified, all up to 20\S+Z\n$/);
  }
  const replayed = await keystead("verify", folder("of the second"), "--replay");
  assert.match(replayed.stdout, /^executed \d+ acts again\nlog key (.*\n){2}good: 2 logs, 1 organization, /);

  const statements = readdirSync(join(folder("of the first"), organizationId)).filter((name) =>
    name.endsWith(".statement"),
  );
  assert.equal(statements.length, 2);
  // Without a log's id, a host answers for the log that it keeps.
  const { statement } = await clientOf(second.url).getLogStatement({});
  const own = statement.split("\n")[2]?.slice("log ".length) ?? "";
  for (const left of readdirSync(folder("of the first"), { recursive: true }) as string[]) {
    if (left.startsWith(own) || left.includes(`/${own}`))
      rmSync(join(folder("of the first"), left), { recursive: true, force: true });
  }
  const found = await keystead("verify", folder("of the first"));
  assert.equal(found.code, 1);
  assert.match(found.stdout, new RegExp(`^bad: .*${own}`, "m"));

  await second.stop();
  const without = await keystead("export", folder("without"), "--url", first.url);
  assert.equal(without.code, 0);
  assert.equal(
    without.stderr,
    `keystead: log ${own} is another host's, which does not answer: only its signer can say how many leaves are in it; ` +
      `the export has no statement about log ${own}\n`,
  );
  const half = await keystead("verify", folder("without"));
  assert.equal(half.code, 2);
  assert.match(half.stdout, new RegExp(`^unchecked: log ${own}, organization ${organizationId}: no statement`));
});
