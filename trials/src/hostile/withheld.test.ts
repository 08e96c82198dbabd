/** A gateway that answers what it never committed: the operator's own command, run afterwards, names every leaf of it. */
import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { dialects, testSource } from "@keystead/e2e/databases.ts";
import { startKeystead } from "@keystead/e2e/keystead_server.ts";
import { runOperator } from "@keystead/e2e/operator.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { type ActivityPath, type Actor, found, newActor, signedPayload } from "../../../server/test/hostile_story.ts";
import { httpTeller } from "./patients.ts";
import { openRaw, type Source } from "./raw_database.ts";

for (const dialect of dialects) {
  test(`whatever a gateway has released and not committed is named by check-log, leaf by leaf, on ${dialect}`, async (t) => {
    const source = await testSource(t, dialect);
    if (source === undefined) return;
    const dataFolder = freshDataFolder(t);
    const isPostgres = source.kind === "postgres";
    await withholdAndLook(
      t,
      dataFolder,
      isPostgres ? source : { kind: "sqlite", folder: join(dataFolder, "database") },
    );
  });
}

async function withholdAndLook(t: TestContext, dataFolder: string, source: Source): Promise<void> {
  const place = { dataFolder, ...(source.kind === "postgres" && { databaseUrl: source.url }) };
  const keystead = async (...args: string[]) => {
    const { code, stdout } = await runOperator("cli", args, place);
    return { code, lines: stdout.trim().split("\n") };
  };
  const server = await startKeystead({ ...place, main: "trials/src/hostile/withholding/main.ts" });
  t.after(() => server.stop());
  const { organizationId: parentId, userId, apiPrivateKey } = server.bootstrap;
  const root: Actor = { userId, userName: "Root user", privateKey: fromHex(apiPrivateKey) };
  const teller = httpTeller(server.url);
  const { act } = teller;
  const flag = join(dataFolder, "database", "withhold");
  const withheld = async (actor: Actor, path: ActivityPath, parameters: object, organizationId: string) => {
    writeFileSync(flag, "");
    const acted = await act(actor, path, parameters, organizationId);
    rmSync(flag);
    return acted;
  };

  // A signature, which its caller gets; an organization; and in organizations of their own a change, a submission and a vote.
  const signing = await found(teller, root, parentId, "a signature");
  const changing = await found(teller, root, parentId, "a change");
  const submitting = await found(teller, root, parentId, "a submission");
  const voting = await found(teller, root, parentId, "a vote");
  const account = {
    curve: "CURVE_SECP256K1",
    pathFormat: "PATH_FORMAT_BIP32",
    path: "m/0",
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  };
  const [ann] = signing.people;
  const { result: wallet } = await act(
    ann,
    "create_wallet",
    { walletName: "W", accounts: [account] },
    signing.organizationId,
  );
  const raise = ({ organizationId, people }: typeof voting) =>
    act(people[0], "update_root_quorum", { threshold: 2, userIds: people.map((each) => each.userId) }, organizationId);
  await raise(submitting);
  await raise(voting);
  const tag = (userTagName: string) => ({ userTagName, userIds: [] });
  const proposed = await act(voting.people[0], "create_user_tag", tag("wanted"), voting.organizationId);

  const payload = { signWith: wallet.addresses[0], payload: "aa", ...signedPayload };
  const signed = await withheld(ann, "sign_raw_payload", payload, signing.organizationId);
  assert.match(signed.result.r, /^[0-9a-f]{64}$/);
  const child = { subOrganizationName: "Child", rootUsers: [newActor("kim").user], rootQuorumThreshold: 1 };
  await withheld(root, "create_sub_organization", child, parentId);
  await withheld(changing.people[0], "create_user_tag", tag("x"), changing.organizationId);
  await withheld(submitting.people[0], "create_user_tag", tag("x"), submitting.organizationId);
  const fingerprint = `sha256:${toHex(sha256(proposed.body))}`;
  await withheld(voting.people[1], "approve_activity", { fingerprint }, voting.organizationId);
  await server.stop();

  // The birth has two leaves: its activity's, and its own.
  const gone = readFileSync(join(dataFolder, "database", "withheld"), "utf8")
    .trim()
    .split("\n");
  assert.equal(gone.length, 6, gone.join("\n"));
  const { code, lines } = await keystead("check-log");
  assert.equal(code, 3);
  const named = lines.flatMap((line) => {
    const [, number, boot] =
      /^leaf (\d+) of signer boot ([0-9a-f]{32}) was RELEASED and is NOT in the database$/.exec(line) ?? [];
    return number === undefined ? [] : `${boot} ${number}`;
  });
  assert.deepEqual(named.sort(), gone.sort(), lines.join("\n"));
  assert.match(lines.at(-1) ?? "", /, 6 released ones missing$/);

  // Organizations whose state went with it are named as well; those that only signed, or bore another, are as they were.
  // And what a hand in the database has left besides is rebuilt, as far as it follows from what is there.
  const raw = await openRaw(source);
  const row = (await raw.rows("users", parentId)).find(({ user_id }) => user_id === userId);
  assert.ok(row !== undefined && (await raw.update("users", row, "user_name", "Mallory")));
  await raw.close();
  const checked = await keystead("check-database", "--repair");
  assert.equal(checked.code, 3);
  assert.ok(
    checked.lines.includes(`organization ${parentId}: users ${userId}: user_name not as in the state; rebuilt`),
  );
  for (const { organizationId } of [changing, submitting, voting]) {
    assert.ok(
      checked.lines.some((line) => line.startsWith(`organization ${organizationId}: it is SET BACK to version`)),
      checked.lines.join("\n"),
    );
  }
  assert.equal(checked.lines.filter((line) => line.includes("organizations: its row is missing")).length, 1);
}
