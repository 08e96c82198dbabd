/** App proofs that somebody with the database has put beside another activity: each command that takes proofs finds it out. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { verifyAppProofSignature } from "@turnkey/crypto";
import { freshDataFolder } from "./data_folder.ts";
import { startKeystead } from "./keystead_server.ts";
import { runOperator } from "./operator.ts";

type AppProof = Parameters<typeof verifyAppProofSignature>[0];
type Shown = { id: string; fingerprint: string; appProofs: AppProof[] };

test("an app proof that was moved to another request is refused by every command that takes it", async (t) => {
  const dataFolder = freshDataFolder(t);
  const keystead = (...args: string[]) => runOperator("cli", args, { dataFolder });
  const asked = async (...args: string[]) => {
    const { code, stdout, stderr } = await keystead("request", ...args);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const created = async (userTagName: string): Promise<Shown> =>
    (await asked("create_user_tag", JSON.stringify({ userTagName, userIds: [] }), "--app-proofs")).activity;

  const first = await startKeystead({ dataFolder });
  t.after(() => first.stop());
  const [small, large] = [await created("small"), await created("large")];
  const own = await keystead("proof", "context", large.id);
  assert.equal(own.code, 0, own.stderr);
  await first.stop();

  const database = new DatabaseSync(join(dataFolder, "database/keystead.db"));
  const moved = database
    .prepare(
      "update app_proofs set proofs = (select proofs from app_proofs where activity_id = ?) where activity_id = ?",
    )
    .run(small.id, large.id);
  assert.equal(moved.changes, 1);
  database.close();

  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  const { appProofs } = await asked("list_app_proofs", JSON.stringify({ activityId: large.id }));
  const [appProof] = small.appProofs;
  assert.ok(appProof);
  assert.deepEqual(appProofs, [appProof], "the server shows the moved one");
  verifyAppProofSignature(appProof);
  const why = `bad app proof: it is of activity ${small.id}, not of ${large.id}`;
  for (const command of ["fetch", "context"]) {
    const { code, stdout, stderr } = await keystead("proof", command, large.id);
    assert.deepEqual([code, stdout, stderr], [1, "", `keystead: ${why}\n`], command);
  }

  // Someone has fetched them without these commands.
  const { bootProof } = await asked("get_boot_proof", JSON.stringify({ ephemeralKey: appProof.publicKey }));
  const write = (name: string, content: object): string => {
    writeFileSync(join(dataFolder, name), JSON.stringify(content));
    return join(dataFolder, name);
  };
  const bare = write("bare.json", { appProofs, bootProof });
  const named = { activityId: large.id, fingerprint: large.fingerprint };
  const verifications = [
    ["verify", bare, "--activity", large.id],
    ["verify", write("named.json", { ...named, appProofs, bootProof })],
  ];
  for (const args of verifications) {
    const { code, stdout } = await keystead("proof", ...args);
    assert.equal(code, 1, stdout);
    assert.equal(stdout.trimEnd().split("\n").at(-1), `bad: ${why}`);
  }
  const honest = await keystead("proof", "verify", bare, "--activity", small.id);
  assert.equal(honest.code, 0, honest.stdout);
  assert.match(honest.stdout, new RegExp(`^activity: ${small.id}, fingerprint ${small.fingerprint}$`, "m"));

  const replays = async (content: object) => {
    const { code, stdout } = await keystead("proof", "replay", write("replay.json", content));
    return [code, stdout];
  };
  const context = await keystead("proof", "context", small.id);
  assert.deepEqual(await replays({ ...JSON.parse(context.stdout), ...named }), [1, `different: ${why}\n`]);
  // The moved proof beside the context of the activity that it was moved to.
  const mixed = { ...JSON.parse(own.stdout), appProof };
  assert.equal((await replays(mixed))[0], 1);
  assert.deepEqual(await replays(JSON.parse(own.stdout)), [
    0,
    `activity: ${large.id}, fingerprint ${large.fingerprint}\nsame: the rules say OUTCOME_ALLOW again\n`,
  ]);
});

test("an activity whose request was changed in the database is not the one that its proofs name", async (t) => {
  const dataFolder = freshDataFolder(t);
  const keystead = (...args: string[]) => runOperator("cli", args, { dataFolder });
  const first = await startKeystead({ dataFolder });
  t.after(() => first.stop());
  const tag = JSON.stringify({ userTagName: "asked for", userIds: [] });
  const made = await keystead("request", "create_user_tag", tag, "--app-proofs");
  const { id, fingerprint } = JSON.parse(made.stdout).activity as Shown;
  await first.stop();
  const database = new DatabaseSync(join(dataFolder, "database/keystead.db"));
  const other = "0".repeat(64);
  database
    .prepare(
      "update activities set fingerprint = ?, body = cast(replace(body, 'asked for', 'never') as blob) where activity_id = ?",
    )
    .run(other, id);
  database.close();
  const server = await startKeystead({ dataFolder });
  t.after(() => server.stop());
  for (const command of ["fetch", "context"]) {
    const { code, stdout, stderr } = await keystead("proof", command, id);
    const why = `bad app proof: it is of the request ${fingerprint}, not of sha256:${other}`;
    assert.deepEqual([code, stdout, stderr], [1, "", `keystead: ${why}\n`], command);
  }
});
