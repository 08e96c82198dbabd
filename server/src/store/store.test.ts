import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { bringing, changing, deleted, row, wallet } from "../../test/key_items.ts";
import { administer, openTestStore, testSource } from "../../test/open_test_store.ts";
import { birth, newState, stateChange } from "../../test/store_items.ts";
import { commitGroup } from "./commit.ts";
import { loadState } from "./organizations.ts";
import { replaceRecords } from "./sealed_boxes.ts";
import { closeStore, openStore } from "./store.ts";

test("an SQLite store syncs every commit and is readable only by its owner", async (t) => {
  const source = await testSource(t, "sqlite");
  assert(source?.kind === "sqlite");
  const store = await openStore(source);
  t.after(() => closeStore(store));
  assert(store.dialect === "sqlite");
  const pragma = (name: string) => Object.values(store.sqlite.database.prepare(`pragma ${name}`).get() ?? {})[0];
  assert.equal(pragma("synchronous"), 2);
  assert.equal(pragma("journal_mode"), "wal");
  assert.equal(pragma("foreign_keys"), 1);
  assert.equal(pragma("busy_timeout"), 5000);
  assert.equal(pragma("secure_delete"), 1);
  for (const file of ["keystead.db", "keystead.db-wal", "gateway.lock"]) {
    assert.equal(statSync(join(source.folder, file)).mode & 0o777, 0o600, file);
  }
});

test("the file of an SQLite store keeps no box that was deleted or sealed anew, after a checkpoint", async (t) => {
  const source = await testSource(t, "sqlite");
  assert(source?.kind === "sqlite");
  const store = await openStore(source);
  t.after(() => closeStore(store));
  assert(store.dialect === "sqlite");
  const { database } = store.sqlite;
  /** Which of these are in the file. */
  const inFile = (boxes: readonly Uint8Array[]) => {
    database.exec("pragma wal_checkpoint(truncate)");
    const file = readFileSync(join(source.folder, "keystead.db"));
    return boxes.filter((box) => file.includes(box)).length;
  };
  const id = randomUUID();
  // Few enough for one page: a page that split may keep a copy in its unused part, until that is used or the file is vacuumed.
  const made = Array.from({ length: 6 }, (_, n) => {
    const record = wallet(id, `wallet ${n}`);
    return { id: record.walletId, ...row(record, `seed ${n}`) };
  });
  const boxesOf = (rows: typeof made) => rows.map(({ sealed }) => sealed);
  const third = (rest: number) => made.filter((_, n) => n % 3 === rest);
  const [gone, resealed, kept] = [third(0), third(1), third(2)];
  await commitGroup(store, [birth(id), bringing(id, 1, ...made)], []);
  assert.equal(inFile(boxesOf(made)), made.length);

  await commitGroup(store, [changing(id, 2, ...gone.map((each) => deleted("wallet", each.id)))], []);
  assert.equal(inFile(boxesOf(gone)), 0);

  const replaced = resealed.map((each) => {
    return { row: { organizationId: id, ...each }, sealed: new Uint8Array(randomBytes(60)) };
  });
  await replaceRecords(store, "wallet", replaced);
  assert.equal(inFile(boxesOf(resealed)), 0);
  assert.equal(inFile([...boxesOf(kept), ...replaced.map(({ sealed }) => sealed)]), kept.length + replaced.length);
});

test("a second gateway on the same folder is refused until the first has gone, however it went", async (t) => {
  const source = await testSource(t, "sqlite");
  assert(source?.kind === "sqlite");
  const refusal = { code: "failed_precondition", message: /another gateway uses/ };

  const first = await openStore(source);
  await assert.rejects(openStore(source), refusal);
  await closeStore(first);

  const other = await openElsewhere(source.folder);
  await assert.rejects(openStore(source), refusal);
  other.kill("SIGKILL");
  await once(other, "exit");
  await closeStore(await openStore(source));
});

/** A process of its own that has the store open. */
async function openElsewhere(folder: string): Promise<ChildProcess> {
  const program = `
    const { openStore } = await import(${JSON.stringify(import.meta.resolve("./store.ts"))});
    globalThis.store = await openStore({ kind: "sqlite", folder: ${JSON.stringify(folder)} });
    console.log("open");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert(child.stdout);
  await once(child.stdout, "data");
  return child;
}

test("a PostgreSQL that may lose commits is refused", async (t) => {
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return;
  const name = /\/(keystead_test_\w+)/.exec(source.url)?.[1];
  await administer(source.url, `alter database ${name} set synchronous_commit = off`);
  await assert.rejects(openStore(source), {
    code: "failed_precondition",
    message: "this PostgreSQL is not safe to use: synchronous_commit is `off`, must be anything but off",
  });
  await administer(source.url, `alter database ${name} set synchronous_commit = local`);
  await closeStore(await openStore(source));
});

test("a PostgreSQL that refuses us is told from one that is not there, and either says what to check", async (t) => {
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return;
  const elsewhere = source.url.replace(/\/keystead_test_\w+/, "/keystead_test_nowhere");
  await assert.rejects(openStore({ kind: "postgres", url: elsewhere }), {
    code: "failed_precondition",
    message: /"keystead_test_nowhere" does not exist; check its user, password and database$/,
  });
  await assert.rejects(openStore({ kind: "postgres", url: "postgres://somebody:hunter2@127.0.0.1:1/x" }), {
    code: "failed_precondition",
    message: /^(?!.*hunter2).*ECONNREFUSED.*; check its host and port; is PostgreSQL running\?$/,
  });
});

test("an integer beyond what a number holds is an error on postgres, not another number", async (t) => {
  const store = await openTestStore(t, "postgres");
  if (store?.dialect !== "postgres") return;
  const { rows } = await store.pool.query("select 9007199254740991::bigint as largest, 5::bigint as five");
  assert.deepEqual(rows, [{ largest: Number.MAX_SAFE_INTEGER, five: 5 }]);
  await assert.rejects(store.pool.query("select 9007199254740993::bigint"), { code: "internal" });
});

test("a connection lost while idle does not end the process", async (t) => {
  const store = await openTestStore(t, "postgres");
  if (store?.dialect !== "postgres") return;
  const { rows } = await store.pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  const source = store.pool.options.connectionString ?? "";
  // Not `once` of node:events, which would also listen for the error.
  const removed = new Promise((resolve) => store.pool.once("remove", resolve));
  await administer(source, `select pg_terminate_backend(${rows[0]?.pid})`);
  await removed;
  assert.equal((await store.pool.query("select 1 as one")).rows[0].one, 1);
});

test("a connection that breaks in use fails that use and does not end the process", async (t) => {
  const store = await openTestStore(t, "postgres");
  if (store?.dialect !== "postgres") return;
  const client = await store.pool.connect();
  const { connection } = client as unknown as { connection: { stream: Socket } };
  const ended = new Promise((resolve) => client.once("end", resolve));
  const answer = assert.rejects(client.query("select pg_sleep(600)"), /ECONNRESET/);
  // As a server that is stopped at once, or a wire that is cut: no farewell of the protocol.
  connection.stream.destroy(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" }));
  await answer;
  await ended;
  client.release();
  assert.equal((await store.pool.query("select 1 as one")).rows[0].one, 1);
});

test("a commit waits for an open Kysely transaction and does not join it", async (t) => {
  const store = await openTestStore(t, "sqlite");
  assert(store?.dialect === "sqlite");
  const order: string[] = [];
  const begun = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const transaction = store.db.transaction().execute(async (tx) => {
    await tx.selectFrom("users").select("user_id").execute();
    begun.resolve();
    await asked.promise;
    await new Promise((resolve) => setTimeout(resolve, 10));
    order.push("transaction");
  });
  await begun.promise;
  const exclusive = store.sqlite.exclusive(() => order.push(`alone ${store.sqlite.database.isTransaction}`));
  asked.resolve();
  await Promise.all([transaction, exclusive]);
  assert.deepEqual(order, ["transaction", "alone false"]);
});

test("a long page of another length is written once, not once more over what it was", async (t) => {
  const store = await openTestStore(t, "sqlite");
  assert(store?.dialect === "sqlite");
  const organizationId = randomUUID();
  await commitGroup(store, [birth(organizationId)], []);
  const walBytes = () => statSync(`${store.sqlite.path}-wal`).size;
  for (let version = 1; version < 5; version++) {
    const content = randomBytes(500_000 + 40 * version);
    const before = walBytes();
    const next = { ...newState(version + 1), pages: [{ name: "members", content }] };
    assert.deepEqual((await commitGroup(store, [stateChange(organizationId, version, { next })], [])).committed, [
      true,
    ]);
    assert.ok(walBytes() - before < 1.2 * content.length);
    const state: { pages: readonly { content: Uint8Array }[] } | undefined = await loadState(store, organizationId);
    assert.ok(state?.pages.some((page) => Buffer.compare(page.content, content) === 0));
  }
});
