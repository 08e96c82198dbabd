/** The commands of the log as a user runs them, against a stand-in server. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { logPaths, organizationPaths } from "@keystead/core/log/export/export_files.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { logVkey } from "@keystead/core/log/log_name.ts";
import { encodeVkey } from "@keystead/core/tlog/vkey.ts";
import {
  entriesOf,
  exportOf,
  makeDeployment,
  makeSmall,
  signCheckpoint,
  type TestDeployment,
} from "../../core/test/log_export/test_export.ts";
import { flagsFor, type LogServer, serveLogs } from "../test/log_server.ts";
import { type Run, runKeystead } from "../test/run_keystead.ts";

// Of more than one tile.
const deployment = { ...makeDeployment({ seed: 1, leaves: 700 }), nowMs: Date.now() };
const { publicKey } = deployment.key;
const [log] = deployment.logs;
const [organizationId = ""] = deployment.organizationIds;
if (log === undefined) throw new Error("no log");
const { name } = logVkey(deployment.deploymentId, log.logId, publicKey);
const vkey = encodeVkey(name, publicKey);
/** What a check of this deployment's history says it is about. */
const keyLine = `log key ${Buffer.from(publicKey).toString("hex")} of deployment ${deployment.deploymentId}`;
const about = (...ids: readonly string[]) => [keyLine, ...ids.map((id) => `organization ${id}`), ""].join("\n");
let folder: string;
let server: LogServer;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "keystead-log-"));
  writeFileSync(join(folder, "key.hex"), "11".repeat(32));
  server = await serveLogs(deployment, { pageLength: 100 });
});
after(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const keystead = (...args: string[]): Promise<Run> => runKeystead(args, { cwd: folder });

function filesIn(name: string): Map<string, string> {
  const paths = readdirSync(join(folder, name), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const read = paths.map((entry): [string, string] => {
    const path = join(entry.parentPath, entry.name);
    return [path.slice(join(folder, name).length + 1), readFileSync(path, "hex")];
  });
  return new Map(read.sort());
}

test("log export writes what an honest server would give out, and log verify says that it is good", async () => {
  const flags = flagsFor(server, organizationId, folder);
  const exported = await keystead("log", "export", "history", "--sub-organizations", ...flags);
  assert.deepEqual([exported.code, exported.stderr], [0, ""]);
  const expected = Array.from(exportOf(deployment), ([path, bytes]): [string, string] => [
    path,
    Buffer.from(bytes).toString("hex"),
  ]);
  assert.deepEqual(filesIn("history"), new Map(expected.sort()));
  const modes = ["history", "history/logs"].map((name) => statSync(join(folder, name)).mode & 0o777);
  assert.deepEqual(modes, [0o700, 0o600], "bodies and results are nobody else's");
  const verified = await keystead("log", "verify", "history", "--sub-organizations", "--key", vkey);
  const subject = about(...deployment.organizationIds.toSorted());
  assert.equal(verified.stdout.slice(0, subject.length), subject);
  assert.match(
    verified.stdout.slice(subject.length),
    /^good: 3 logs, 2 organizations, \d+ leaves, \d+ stamps verified, all up to 20\S+Z\n$/,
  );
  assert.equal(verified.code, 0);
  const again = await keystead("log", "export", "history", ...flags);
  assert.deepEqual(
    [again.code, again.stderr],
    [1, "keystead: history is not empty: an export has a folder of its own\n"],
  );
});

test("without --sub-organizations the export is of one organization", async () => {
  const exported = await keystead("log", "export", "alone", ...flagsFor(server, organizationId, folder));
  assert.equal(exported.code, 0, exported.stderr);
  const verified = await keystead("log", "verify", "alone", "--key", vkey);
  assert.ok(verified.stdout.startsWith(`${about(organizationId)}good: 3 logs, 1 organization, `), verified.stdout);
});

/** Runs `log export --sub-organizations` against a server that lies. */
async function exportFrom(lying: TestDeployment, name: string, children?: readonly string[]): Promise<Run> {
  const liar = await serveLogs(lying, { pageLength: 100, ...(children && { children }) });
  try {
    return await keystead("log", "export", name, "--sub-organizations", ...flagsFor(liar, organizationId, folder));
  } finally {
    liar.close();
  }
}

test("a server that hides a sub-organization is found out by --sub-organizations, and the export says to give it", async () => {
  const hidden = await exportFrom(deployment, "hidden", []);
  assert.equal(hidden.code, 0, hidden.stderr);
  assert.match(hidden.stdout, /`npx keystead log verify hidden --sub-organizations`\n$/);
  assert.equal((await keystead("log", "verify", "hidden", "--key", vkey)).code, 0);
  const found = await keystead("log", "verify", "hidden", "--sub-organizations", "--key", vkey);
  assert.equal(found.code, 2, found.stderr);
  const [, child = ""] = deployment.organizationIds;
  assert.match(
    found.stdout,
    new RegExp(`: it made sub-organization ${child}, which is not here: deleted, or left out\n`),
  );
});

test("log export refuses a statement of yesterday: who shows it leaves out what came since", async () => {
  const old = await exportFrom({ ...deployment, nowMs: Date.now() - 3_600_000 }, "old");
  assert.equal(old.code, 1);
  assert.match(
    old.stderr,
    /^keystead: the server's newest statement about log [0-9a-f]{32} is of 20\S+Z: it shows an old history, or a clock is wrong\n$/,
  );
});

test("a server whose sub-organizations have names of folders gets nothing written, inside or outside", async () => {
  const [first = ""] = deployment.organizationIds;
  for (const id of ["../elsewhere", "/tmp", first]) {
    const { code, stderr } = await exportFrom(deployment, "lied", [id]);
    assert.deepEqual([code, stderr], [1, "keystead: the server's list of sub-organizations is malformed\n"], id);
  }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name === "elsewhere" || name === "lied"),
    [],
  );
});

test("of a private log its own members get the same export, and proofs", async (t) => {
  const hidden = await serveLogs(deployment, { pageLength: 100, isPrivate: true });
  t.after(() => hidden.close());
  const flags = flagsFor(hidden, organizationId, folder);
  const exported = await keystead("log", "export", "private", "--sub-organizations", ...flags);
  assert.deepEqual([exported.code, exported.stderr], [0, ""]);
  const expected = Array.from(exportOf(deployment), ([path, bytes]): [string, string] => [
    path,
    Buffer.from(bytes).toString("hex"),
  ]);
  assert.deepEqual(filesIn("private"), new Map(expected.sort()));
  const act = log.leaves.findLast((leaf) => leaf.organizationId === organizationId && !leaf.isOperators);
  const activityId = uuidFromBytes(decodeLeaf(act?.leaf ?? new Uint8Array()).activityId);
  const proven = await keystead("log", "prove", activityId, ...flags);
  assert.deepEqual([proven.code, proven.stderr], [0, ""]);
  const verified = await keystead("log", "verify", `${activityId}.tlog-proof`, "--key", vkey);
  assert.match(verified.stdout, /\ngood: 1 log, 1 organization, 1 leaf, 1 stamp verified\n$/);
  assert.ok(hidden.requests.every((path) => !path.startsWith("/log/")));
});

function write(name: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [path, content] of files) {
    mkdirSync(join(folder, name, path, ".."), { recursive: true });
    writeFileSync(join(folder, name, path), content);
  }
}

test("log verify names the first bad leaf and exits with 1, and with 2 for what it could not check", async () => {
  const bad = exportOf(deployment);
  const path = logPaths.entries(log.logId);
  const entries = Uint8Array.from(bad.get(path) ?? []);
  // The start of the signer.
  entries[32] = (entries[32] ?? 0) ^ 1;
  write("bad", bad.set(path, entries));
  const found = await keystead("log", "verify", "bad", "--key", vkey);
  assert.equal(found.code, 1);
  assert.deepEqual(found.stdout.split("\n").slice(0, 3), [
    `bad: log ${log.logId}: the entries do not have the root that the checkpoint signs`,
    `bad: log ${log.logId}: the log does not continue the head that log ${deployment.logs[2]?.logId} follows: its history was changed`,
    `bad: log ${log.logId}, position 1, an act of the operator: the leaf is not the one that the log has at this position`,
  ]);
  assert.match(
    found.stdout,
    /\nfirst bad leaf: log [0-9a-f]{32}, position 1, an act of the operator: .*\nlog key [^\n]*\n(organization [^\n]*\n){2}bad: 3 logs, /,
  );
  const unchecked = exportOf(deployment);
  unchecked.delete(organizationPaths.statement(organizationId, log.logId));
  write("unchecked", unchecked);
  const half = await keystead("log", "verify", "unchecked", "--key", vkey);
  assert.equal(half.code, 2);
  assert.match(
    half.stdout,
    /^unchecked: log [0-9a-f]{32}, organization .*: no statement of the signer says how many leaves there are\n/,
  );
  write("extra", exportOf(deployment).set("notes.txt", Buffer.from("mine")));
  const extra = await keystead("log", "verify", "extra", "--key", vkey);
  assert.deepEqual([extra.code, extra.stdout.split("\n")[0]], [1, "bad: notes.txt: the file belongs to no export"]);
});

test("log verify names an export that is not there", async () => {
  const { code, stderr } = await keystead("log", "verify", "nofolder", "--key", vkey);
  assert.equal(code, 2);
  assert.match(stderr, /^keystead: there is no file or folder `nofolder`; see `npx keystead help`\n$/);
});

test("the key comes from the flag or from the profile's files, never from the export", async () => {
  const small = makeSmall(() => undefined);
  write("small", exportOf(small));
  const none = await keystead("log", "verify", "small");
  assert.equal(none.code, 2);
  assert.match(none.stderr, /^keystead: there is no key of the log in data\/bootstrap.json; pass --key VKEY/);
  mkdirSync(join(folder, "data"));
  const log = Buffer.from(small.key.publicKey).toString("hex");
  writeFileSync(join(folder, "data/public_keys.json"), JSON.stringify({ publicKeys: { log } }));
  assert.equal((await keystead("log", "verify", "small")).code, 0);
  writeFileSync(join(folder, "mine.json"), JSON.stringify({ logKey: vkey }));
  const other = await keystead("log", "verify", "small", "--profile", "mine.json");
  assert.equal(other.code, 1);
  assert.match(other.stdout, /: no signature by a known key\n/);
  const misused = await keystead("log", "verify", "small", "--key", "nonsense");
  assert.deepEqual(
    [misused.code, misused.stderr],
    [2, "keystead: --key: malformed verifier key: not of the form name+id+key\n"],
  );
  // Nothing is wrong with a history that nobody could look at.
  assert.equal((await keystead("log", "verify", "nothing", "--key", vkey)).code, 2);
  assert.equal((await keystead("log", "verify", "small", "--key", vkey, "--since", "nothing")).code, 2);
});

test("an export must continue a checkpoint that was kept, and with --replay what it says must come out again", async () => {
  const entries = entriesOf(log);
  const kept = (of: readonly Uint8Array[]) =>
    writeFileSync(join(folder, "kept"), signCheckpoint(deployment, log.logId, of));
  write("whole", exportOf(deployment));
  kept(entries.slice(0, 100));
  assert.equal((await keystead("log", "verify", "whole", "--key", vkey, "--since", "kept")).code, 0);
  // As KEYSTEAD_CHECKPOINT_FILE has them, with one that a power cut left incomplete.
  const several = (...sizes: number[]) =>
    sizes.map((size) => `${signCheckpoint(deployment, log.logId, entries.slice(0, size))}\n`).join("");
  const cut = several(60).slice(0, 90);
  writeFileSync(join(folder, "kept"), `${several(10, 50)}${cut}\n\n${several(100)}`);
  assert.equal((await keystead("log", "verify", "whole", "--key", vkey, "--since", "kept")).code, 0);
  const other = signCheckpoint(deployment, log.logId, entries.slice(1, 101));
  writeFileSync(join(folder, "kept"), `${several(10)}${other}\n${several(100)}`);
  assert.equal((await keystead("log", "verify", "whole", "--key", vkey, "--since", "kept")).code, 1);
  writeFileSync(join(folder, "kept"), "");
  assert.equal((await keystead("log", "verify", "whole", "--key", vkey, "--since", "kept")).code, 1);
  kept(entries.slice(1, 101));
  const forked = await keystead("log", "verify", "whole", "--key", vkey, "--since", "kept");
  assert.equal(forked.code, 1);
  assert.match(forked.stdout, /the log does not continue the checkpoint to start from: its history was changed/);
  // These histories are true to the log's rules and to no policy: executed again, they come to something else.
  const replayed = await keystead("log", "verify", "whole", "--key", vkey, "--replay");
  assert.notEqual(replayed.code, 0);
  assert.match(replayed.stdout, /^executed \d+ acts again\n/);
});

test("log prove writes a proof of an activity, and log verify shows what it proves", async () => {
  const act = log.leaves.findLast((leaf) => leaf.organizationId === organizationId && !leaf.isOperators);
  const activityId = uuidFromBytes(decodeLeaf(act?.leaf ?? new Uint8Array()).activityId);
  const flags = flagsFor(server, organizationId, folder);
  const proven = await keystead("log", "prove", activityId, ...flags);
  assert.deepEqual([proven.code, proven.stdout, proven.stderr], [0, `${activityId}.tlog-proof\n`, ""]);
  const verified = await keystead("log", "verify", `${activityId}.tlog-proof`, "--key", vkey);
  assert.equal(verified.code, 0, verified.stdout);
  assert.match(
    verified.stdout,
    /^[A-Z]+ ACTIVITY_TYPE_[A-Z0-9_]+, grounds [A-Z_]+, at 20[^\n]*\nactivity [^\n]*\nlog key [^\n]*\ngood: 1 log, 1 organization, 1 leaf, 1 stamp verified\n$/,
  );
  assert.ok(verified.stdout.includes(`\n${keyLine}\n`));
  assert.equal(verified.stdout.split("\n")[1], `activity ${activityId} of organization ${organizationId}`);
  const notReplayed = await keystead("log", "verify", `${activityId}.tlog-proof`, "--key", vkey, "--replay");
  assert.deepEqual(
    [notReplayed.code, notReplayed.stdout, notReplayed.stderr],
    [2, "", "keystead: --replay, --since and --sub-organizations take an export, not a proof\n"],
  );
  // What the proof takes of the log is a few tiles, not all entries.
  assert.equal(
    server.requests.slice(-12).some((path) => path.includes("tile/entries")),
    false,
  );
  const file = join(folder, `${activityId}.tlog-proof`);
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(/index (\d+)/, (_, index) => `index ${Number(index) - 1}`),
  );
  const moved = await keystead("log", "verify", file, "--key", vkey);
  assert.deepEqual([moved.code, moved.stdout.split("\n")[0]], [1, "bad: the proof does not show the entry in the log"]);
  const misused = await keystead("log", "prove", "nonsense", ...flags);
  assert.match(misused.stderr, /^keystead: log prove needs the id of an activity/);
});
