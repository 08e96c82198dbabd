/** What an operator lives through: processes that die, starts that must be refused, and data that comes from elsewhere. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { administer, dialects, testSource } from "@keystead/e2e/databases.ts";
import { type KeysteadServer, repository, startKeystead } from "@keystead/e2e/keystead_server.ts";
import {
  type Activity,
  activities,
  type Client,
  createApiKeyStamper,
  createClient,
  KeysteadError,
} from "@keystead/sdk";
import { openMemory } from "@keystead/server/signer/memory/memory.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { listLeaves } from "@keystead/server/store/across.ts";
import { closeStore, openStore, type Store, type StoreSource } from "@keystead/server/store/store.ts";
import { tables } from "@keystead/server/store/tables.ts";
import { patienceMs, testTimeoutMs } from "../../core/test/patience.ts";

const options = { skip: process.platform !== "linux" && "needs /proc", timeout: testTimeoutMs };

async function start(t: TestContext, dataFolder: string, databaseUrl?: string): Promise<KeysteadServer> {
  const server = await startKeystead({ dataFolder, ...(databaseUrl !== undefined && { databaseUrl }) });
  t.after(() => server.stop());
  return server;
}

function clientOf({ url, bootstrap }: KeysteadServer): Client {
  const { organizationId, apiPublicKey, apiPrivateKey } = bootstrap;
  return createClient({
    baseUrl: url,
    organizationId,
    stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }),
  });
}

type Act = { body: string; activity: Activity };

let tags = 0;

function tagBody({ bootstrap }: KeysteadServer): string {
  tags += 1;
  return JSON.stringify({
    type: activities.create_user_tag.type,
    timestampMs: String(Date.now()),
    organizationId: bootstrap.organizationId,
    parameters: { userTagName: `tag ${tags}`, userIds: [bootstrap.userId] },
  });
}

async function send(server: KeysteadServer, body: string): Promise<Act> {
  const answer = await clientOf(server).request<{ activity: Activity }>(activities.create_user_tag.url, body, {
    signal: AbortSignal.timeout(patienceMs),
  });
  return { body, activity: answer.activity };
}

async function createTags(server: KeysteadServer, count: number): Promise<Act[]> {
  const acts: Act[] = [];
  for (let n = 0; n < count; n++) acts.push((await sendUntilAnswered(server, tagBody(server))).act);
  return acts;
}

/** Every acknowledged body, sent again, is answered as it was. */
async function assertAllThere(server: KeysteadServer, acts: readonly Act[]): Promise<void> {
  for (const act of acts) assert.deepEqual((await sendUntilAnswered(server, act.body)).act, act);
}

/** Sends one body until it is answered, and returns the refusals on the way. */
async function sendUntilAnswered(server: KeysteadServer, body: string): Promise<{ act: Act; refusals: unknown[] }> {
  const refusals: unknown[] = [];
  const until = Date.now() + patienceMs;
  for (;;) {
    try {
      return { act: await send(server, body), refusals };
    } catch (error) {
      const isRefused = error instanceof KeysteadError && error.status !== 503;
      if (isRefused || Date.now() > until) throw error;
      refusals.push(error);
      await pause(5);
    }
  }
}

function kill(pid: number | undefined): void {
  assert.ok(pid !== undefined && pid > 1, "no such process");
  process.kill(pid, "SIGKILL");
}

async function gone(pids: readonly (number | undefined)[]): Promise<void> {
  const until = Date.now() + patienceMs;
  while (pids.some(isRunning)) {
    assert.ok(Date.now() < until, `processes ${pids} still run`);
    await pause(20);
  }
}

/** What has ended and only waits for somebody to ask how does not run. */
function isRunning(pid: number | undefined): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** Runs one of the server's commands on a data folder to its end. */
async function run(
  dataFolder: string,
  command: string,
  env: Record<string, string> = {},
): Promise<{ code: number; said: string }> {
  const child = spawn(process.execPath, [join(repository, "server/main.mjs"), command], {
    env: { PATH: process.env.PATH ?? "", PORT: "0", KEYSTEAD_DATA: dataFolder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: patienceMs,
  });
  let said = "";
  child.stdout.on("data", (chunk) => (said += chunk));
  child.stderr.on("data", (chunk) => (said += chunk));
  const [code] = (await once(child, "close")) as [number];
  return { code, said };
}

function withMessage(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.match(String(error), pattern);
    return true;
  };
}

function isUnavailable(pattern: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof KeysteadError, String(error));
    assert.deepEqual(
      { status: error.status, code: error.code, details: error.details },
      { status: 503, code: 14, details: [] },
    );
    assert.match(error.message, pattern);
    return true;
  };
}

/** A deployment that is started and stopped several times, on a database that can be set back while nobody uses it. */
type Place = {
  source: StoreSource;
  dataFolder: string;
  start(): Promise<KeysteadServer>;
  run(command: string): Promise<{ code: number; said: string }>;
  /** Keeps the database as it is; what it returns brings that back. */
  keep(): Promise<() => Promise<void>>;
};

/** Undefined, with the test skipped, when there is no PostgreSQL. */
async function newPlace(t: TestContext, dialect: Store["dialect"]): Promise<Place | undefined> {
  const dataFolder = freshDataFolder(t);
  if (dialect === "sqlite") {
    const folder = join(dataFolder, "database");
    return {
      source: { kind: "sqlite", folder },
      dataFolder,
      start: () => start(t, dataFolder),
      run: (command) => run(dataFolder, command),
      keep: async () => keepFiles(folder, join(dataFolder, "..", "copy")),
    };
  }
  const source = await testSource(t, dialect);
  if (source?.kind !== "postgres") return undefined;
  const { url } = source;
  return {
    source,
    dataFolder,
    start: () => start(t, dataFolder, url),
    run: (command) => run(dataFolder, command, { DATABASE_URL: url }),
    keep: () => keepTables(url),
  };
}

function keepFiles(folder: string, copy: string): () => Promise<void> {
  const isDatabase = (name: string) => name.startsWith("keystead.db");
  cpSync(folder, copy, { recursive: true, filter: (path) => !path.endsWith("cache") });
  return async () => {
    for (const name of readdirSync(folder).filter(isDatabase)) rmSync(join(folder, name));
    for (const name of readdirSync(copy).filter(isDatabase)) {
      writeFileSync(join(folder, name), readFileSync(join(copy, name)));
    }
    takeOver(folder);
  };
}

async function keepTables(url: string): Promise<() => Promise<void>> {
  const names = Object.keys(tables);
  const kept = names.map((name) => `create table kept.${name} as table ${name};`);
  await administer(url, `create schema kept; ${kept.join(" ")}`);
  const restored = names.map((name) => `insert into ${name} select * from kept.${name};`);
  return () => administer(url, `truncate ${names.join(", ")}; ${restored.join(" ")}`);
}

/** The events of all leaves, in a database nobody uses. */
async function leafEvents(source: StoreSource): Promise<string[]> {
  const store = await openStore(source);
  try {
    return (await listLeaves(store, undefined, 1000)).map(({ leaf }) => decodeLeaf(withoutMac(leaf)).event);
  } finally {
    await closeStore(store);
  }
}

test("a killed signer: 503 with code 14 meanwhile, then 200 again from the same gateway", options, async (t) => {
  const server = await start(t, freshDataFolder(t));
  const acts = await createTags(server, 3);
  const before = await server.children();
  // While the launcher stands still, nobody replaces it.
  const body = tagBody(server);
  server.launcher.kill("SIGSTOP");
  try {
    kill(before.signer);
    await assert.rejects(send(server, body), isUnavailable(/signer/));
  } finally {
    server.launcher.kill("SIGCONT");
  }
  const { act, refusals } = await sendUntilAnswered(server, body);
  for (const refusal of refusals) assert.ok(isUnavailable(/signer/)(refusal));
  await assertAllThere(server, [...acts, act]);
  const after = await server.children();
  assert.equal(after.gateway, before.gateway);
  assert.notEqual(after.signer, before.signer);
});

test(
  "a signer that hangs: its deadline, not the caller's patience, ends the wait, and whoami does not notice",
  options,
  async (t) => {
    const server = await start(t, freshDataFolder(t));
    const { signer } = await server.children();
    assert.ok(signer !== undefined);
    process.kill(signer, "SIGSTOP");
    try {
      const submitted = assert.rejects(send(server, tagBody(server)), isUnavailable(/did not answer in time/));
      await clientOf(server).whoami();
      await submitted;
    } finally {
      process.kill(signer, "SIGCONT");
    }
    await sendUntilAnswered(server, tagBody(server));
  },
);

test("a killed gateway comes back on the same port with everything it acknowledged", options, async (t) => {
  const server = await start(t, freshDataFolder(t));
  const acts = await createTags(server, 3);
  kill((await server.children()).gateway);
  const { act } = await sendUntilAnswered(server, tagBody(server));
  await assertAllThere(server, [...acts, act]);
});

test("a killed launcher takes its children along, and the next start has everything", options, async (t) => {
  const dataFolder = freshDataFolder(t);
  const first = await start(t, dataFolder);
  const acts = await createTags(first, 3);
  const { gateway, signer } = await first.children();
  assert.ok(gateway !== undefined && signer !== undefined);
  first.launcher.kill("SIGKILL");
  await gone([gateway, signer]);
  const second = await start(t, dataFolder);
  await assertAllThere(second, acts);
  await createTags(second, 1);
});

test("SIGTERM under load ends everything with exit code 0 and loses nothing it acknowledged", options, async (t) => {
  const dataFolder = freshDataFolder(t);
  const first = await start(t, dataFolder);
  const acts = await createTags(first, 2);
  const { gateway, signer } = await first.children();
  const bodies = Array.from({ length: 20 }, () => tagBody(first));
  const sent = bodies.map((body) => send(first, body));
  first.launcher.kill("SIGTERM");
  for (const outcome of await Promise.allSettled(sent)) {
    if (outcome.status === "fulfilled") acts.push(outcome.value);
  }
  if (first.launcher.exitCode === null) await once(first.launcher, "exit");
  assert.equal(first.launcher.exitCode, 0);
  assert.deepEqual([gateway, signer].filter(isRunning), [], "the launcher ends last");
  const second = await start(t, dataFolder);
  await assertAllThere(second, acts);
});

test("a second start on the same data is refused, and the first goes on", options, async (t) => {
  const dataFolder = freshDataFolder(t);
  const server = await start(t, dataFolder);
  await assert.rejects(
    startKeystead({ dataFolder }),
    withMessage(/another Keystead is running on .*stop it, or set KEYSTEAD_DATA/),
  );
  await createTags(server, 1);
});

test("another root key is refused; with the right one everything is there", options, async (t) => {
  const dataFolder = freshDataFolder(t);
  const files = ["root.key", "bootstrap.json"].map((name) => join(dataFolder, name));
  const first = await start(t, dataFolder);
  const acts = await createTags(first, 2);
  await first.stop();
  const right = files.map((path) => readFileSync(path));
  const refused = withMessage(/the root key does not belong to this database/);
  writeFileSync(join(dataFolder, "root.key"), randomBytes(32));
  await assert.rejects(startKeystead({ dataFolder }), refused);

  // The files of another deployment agree with each other: then it is the signer that says so, with a memory or without.
  const other = freshDataFolder(t);
  assert.equal((await run(other, "init")).code, 0);
  for (const path of files) writeFileSync(path, readFileSync(path.replace(dataFolder, other)));
  await assert.rejects(startKeystead({ dataFolder }), refused);
  const memory = readFileSync(join(dataFolder, "signer/memory"));
  emptyMemory(dataFolder);
  await assert.rejects(startKeystead({ dataFolder }), refused);

  files.forEach((path, index) => {
    writeFileSync(path, right[index] ?? "");
  });
  writeFileSync(join(dataFolder, "signer/memory"), memory);
  const second = await start(t, dataFolder);
  await assertAllThere(second, acts);
});

function emptyMemory(dataFolder: string): void {
  const folder = join(dataFolder, "signer");
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}

test(
  "an empty memory beside a database file is refused until the operator accepts the database",
  options,
  async (t) => {
    const place = await newPlace(t, "sqlite");
    assert.ok(place);
    const { dataFolder } = place;
    const first = await place.start();
    const acts = await createTags(first, 3);
    await first.stop();
    emptyMemory(dataFolder);
    await assert.rejects(startKeystead({ dataFolder }), withMessage(/memory is empty.*`npx keystead accept-database`/));
    const { code, said } = await place.run("accept-database");
    assert.equal(code, 0, said);
    assert.match(said, new RegExp(`organization ${first.bootstrap.organizationId}: accepted at version 4`));
    assert.deepEqual((await leafEvents(place.source)).filter((event) => event !== "COMPLETED").sort(), [
      "BIRTH",
      "BOOTED",
      "DATABASE_ACCEPTED",
      "LOG_OPENED",
    ]);
    const second = await place.start();
    await assertAllThere(second, acts);
    await createTags(second, 1);
  },
);

/** What a client is told, who may be anybody; why, is the operator's. */
const stateRefused = /stored state of this organization failed verification/;

test(
  "an empty memory beside a database server: the signer takes what it finds, says so, and from then on lets nobody set it back",
  options,
  async (t) => {
    const place = await newPlace(t, "postgres");
    if (place === undefined) return;
    const first = await place.start();
    const { organizationId } = first.bootstrap;
    const acts = await createTags(first, 2);
    await first.stop();
    const restore = await place.keep();
    emptyMemory(place.dataFolder);

    const second = await place.start();
    await untilSaid(second, /signer: this signer is new to deployment \S+ and takes its database as found/);
    await assertAllThere(second, acts);
    await createTags(second, 1);
    await untilSaid(second, new RegExp(`taking organization ${organizationId} at version [34], as found`));
    await second.stop();

    await restore();
    const third = await place.start();
    assert.doesNotMatch(third.output(), /as found/);
    await assert.rejects(send(third, tagBody(third)), isUnavailable(stateRefused));
    await untilSaid(
      third,
      new RegExp(`organization ${organizationId}: .*version 3.*released version 5.*accept-database`),
    );
  },
);

for (const dialect of dialects) {
  const name = `a database set back on ${dialect} is refused for its organization alone, until the operator accepts it by name`;
  test(name, options, async (t) => {
    const place = await newPlace(t, dialect);
    if (place === undefined) return;
    const first = await place.start();
    const { organizationId, userId } = first.bootstrap;
    const kept = await createTags(first, 2);
    await first.stop();
    const restore = await place.keep();

    const second = await place.start();
    const undone = await createTags(second, 2);
    await second.stop();
    await restore();

    const third = await place.start();
    const refused = isUnavailable(stateRefused);
    await assert.rejects(send(third, tagBody(third)), refused);
    await untilSaid(
      third,
      new RegExp(`organization ${organizationId}: .*version 3.*released version 5.*accept-database`),
    );
    for (const { body } of undone) await assert.rejects(send(third, body), refused);
    assert.equal((await clientOf(third).whoami()).userId, userId);
    await assertAllThere(third, kept);
    assert.equal(third.launcher.exitCode, null);
    await third.stop();

    const { code, said } = await place.run("accept-database");
    assert.equal(code, 0, said);
    assert.match(said, new RegExp(`organization ${organizationId}: SET BACK from version 5 to version 3`));
    const fourth = await place.start();
    await assertAllThere(fourth, kept);
    const later = await createTags(fourth, 2);
    await assertAllThere(fourth, later);
    // Nobody knows any more what was executed since the backup: what was stamped before the acceptance is not taken again.
    for (const { body } of undone) {
      await assert.rejects(send(fourth, body), (error: Error) =>
        /the database was restored.*send the request again/.test(error.message),
      );
    }
  });
}

/** Files restored by root must belong to the gateway, as everything else in its folder does. */
function takeOver(folder: string): void {
  const { uid, gid } = statSync(folder);
  for (const name of readdirSync(folder)) chownSync(join(folder, name), uid, gid);
}

test("a clock far behind the signer's memory: no submits, a reason, and accept-clock", options, async (t) => {
  const dataFolder = freshDataFolder(t);
  const first = await start(t, dataFolder);
  const acts = await createTags(first, 1);
  await first.stop();
  // The signer has seen a time two hours ahead: as if the clock had been wrong then, or were now.
  const memory = openMemory(join(dataFolder, "signer"), readFileSync(join(dataFolder, "root.key")));
  memory.rememberRelease(Date.now() + 7_200_000, [], []);
  memory.close();

  const second = await start(t, dataFolder);
  await assert.rejects(
    send(second, tagBody(second)),
    isUnavailable(/clock is \d{4} s behind.*`npx keystead accept-clock`/),
  );
  assert.equal((await clientOf(second).whoami()).userId, second.bootstrap.userId);
  await assertAllThere(second, acts);
  await second.stop();

  const { code, said } = await run(dataFolder, "accept-clock");
  assert.equal(code, 0, said);
  assert.match(said, /clock/);
  const third = await start(t, dataFolder);
  await createTags(third, 1);
});

test(
  "a limit the operator sets is the one that is hit; a name that is no limit ends the start with those that are",
  options,
  async (t) => {
    const dataFolder = freshDataFolder(t);
    const unknown = await run(dataFolder, "serve", { KEYSTEAD_LIMITS: '{"wallets": 5}' });
    assert.equal(unknown.code, 2);
    // One line, and nothing is made that another start would find.
    assert.match(
      unknown.said,
      /^keystead: KEYSTEAD_LIMITS: there is no limit `wallets`; there are: userTagsPer[^\n]*\n$/,
    );
    assert.equal(existsSync(dataFolder), false);
    const negative = await run(dataFolder, "serve", { KEYSTEAD_LIMITS: '{"userTagsPerOrganization": -1}' });
    assert.equal(negative.code, 2);
    assert.match(
      negative.said,
      /^keystead: KEYSTEAD_LIMITS: `userTagsPerOrganization` must be a whole number of 0 or more/,
    );

    const server = await startKeystead({ dataFolder, env: { KEYSTEAD_LIMITS: '{"userTagsPerOrganization": 1}' } });
    t.after(() => server.stop());
    await createTags(server, 1);
    await assert.rejects(send(server, tagBody(server)), (error: KeysteadError) => {
      const { status, code, message } = error;
      assert.deepEqual([status, code], [429, 8]);
      assert.match(
        message,
        /^organization has reached its limit of 1 user tags; .* raise userTagsPerOrganization in KEYSTEAD_LIMITS$/,
      );
      return true;
    });
  },
);

/** What a process says comes through a pipe of its own, and may come after the answer that it belongs to. */
async function untilSaid(server: KeysteadServer, pattern: RegExp): Promise<void> {
  for (let waitedMs = 0; waitedMs < patienceMs && !pattern.test(server.output()); waitedMs += 20) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.match(server.output(), pattern);
}
