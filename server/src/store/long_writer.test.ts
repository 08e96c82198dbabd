import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { parseImports, targetOf } from "../../../scripts/imports.ts";
import { openTestStore } from "../../test/open_test_store.ts";
import { birth, newState, signing, stateChange } from "../../test/store_items.ts";
import { commitGroup } from "./commit.ts";
import { startLongWriter } from "./long_writer.ts";
import { findVersion, loadState } from "./organizations.ts";
import { inSnapshot } from "./snapshot.ts";
import type { SqliteStore } from "./store.ts";

async function openSqliteStore(t: TestContext): Promise<SqliteStore> {
  const store = await openTestStore(t, "sqlite");
  assert(store?.dialect === "sqlite");
  return store;
}

function openLongWriter(t: TestContext, store: SqliteStore) {
  const writer = startLongWriter();
  t.after(() => writer.close());
  assert.equal(writer.isOpen, false);
  writer.open(store.sqlite);
  assert.equal(writer.isOpen, true);
  return writer;
}

test("while a long commit is written others read, and who writes follows it", async (t) => {
  const store = await openSqliteStore(t);
  const writer = openLongWriter(t, store);
  const [long, short] = [randomUUID(), randomUUID()];
  await writer.commit([birth(long), birth(short)], []);
  const pages = [{ name: "members", content: randomBytes(3_000_000) }];
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  // Somebody else has the file, so that writing it takes as long as this test likes.
  const other = new DatabaseSync(store.sqlite.path);
  t.after(() => other.close());
  other.exec("begin immediate");
  const written = writer.commit([stateChange(long, 1, { next: { ...newState(2), pages } })], []).then(note("long"));
  // Until the thread has planned it, nobody has to wait.
  while (store.sqlite.pen.isTaken === false) await new Promise((resolve) => setImmediate(resolve));
  const committed = commitGroup(store, [signing(short, 1)], []).then(note("short"));
  const transaction = store.db
    .transaction()
    .execute(async (tx) => tx.selectFrom("organizations").select("version").execute())
    .then(note("transaction"));
  assert.equal(await findVersion(store, long), 1);
  assert.equal((await store.db.selectFrom("organizations").selectAll().execute()).length, 2);
  assert.deepEqual(order, []);
  other.exec("rollback");
  await Promise.all([written, committed, transaction]);
  assert.deepEqual(order, ["long", "short", "transaction"]);
  const state = await loadState(store, long);
  assert.deepEqual(
    state?.pages.find(({ name }) => name === "members")?.content,
    new Uint8Array(pages[0]?.content ?? []),
  );
});

test("a long commit waits for a transaction that is open", async (t) => {
  const store = await openSqliteStore(t);
  const writer = openLongWriter(t, store);
  const organizationId = randomUUID();
  let written: Promise<unknown> | undefined;
  await store.db.transaction().execute(async (tx) => {
    written = writer.commit([birth(organizationId)], []);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal((await tx.selectFrom("organizations").selectAll().execute()).length, 0);
  });
  await written;
  assert.equal(await findVersion(store, organizationId), 1);
});

test("a snapshot does not keep a long commit waiting, and does not see it", async (t) => {
  const store = await openSqliteStore(t);
  const writer = openLongWriter(t, store);
  const organizationId = randomUUID();
  await writer.commit([birth(organizationId)], []);
  await inSnapshot(store, async (snapshot) => {
    assert.equal(await findVersion(snapshot, organizationId), 1);
    await writer.commit([stateChange(organizationId, 1)], []);
    assert.equal(await findVersion(snapshot, organizationId), 1);
    assert.equal(await inSnapshot(snapshot, (inner) => findVersion(inner, organizationId)), 1);
  });
  assert.equal(await findVersion(store, organizationId), 2);
});

test("a snapshot is for reading: what would write through it is refused and keeps nobody waiting", async (t) => {
  const store = await openSqliteStore(t);
  const organizationId = randomUUID();
  await inSnapshot(store, async (snapshot) => {
    const transaction = snapshot.db.transaction().execute(async () => undefined);
    await assert.rejects(transaction, { code: "internal", message: "a snapshot is for reading" });
    await assert.rejects(snapshot.db.deleteFrom("pages").execute(), { code: "internal" });
    await assert.rejects(commitGroup(snapshot, [birth(organizationId)], []), { code: "internal" });
  });
  assert.deepEqual((await commitGroup(store, [birth(organizationId)], [])).committed, [true]);
});

test("a WAL that readers have let grow is cut", async (t) => {
  const store = await openSqliteStore(t);
  const writer = openLongWriter(t, store);
  const organizationId = randomUUID();
  await writer.commit([birth(organizationId)], []);
  const pages = [{ name: "members", content: randomBytes(3_000_000) }];
  const walBytes = () => statSync(`${store.sqlite.path}-wal`).size;
  let version = 1;
  const commit = async () => {
    const item = stateChange(organizationId, version, { next: { ...newState(version + 1), pages } });
    assert.deepEqual((await writer.commit([item], [])).committed, [true]);
    version += 1;
  };
  await inSnapshot(store, async (snapshot) => {
    // While somebody sees the file as it was, none of this can be written over.
    assert.equal(await findVersion(snapshot, organizationId), 1);
    while (walBytes() <= 64 * 2 ** 20) await commit();
    assert.equal(await findVersion(snapshot, organizationId), 1);
  });
  for (let i = 0; i < 6; i++) await commit();
  assert.ok(walBytes() < 32 * 2 ** 20, `${walBytes()} bytes`);
});

test("what the thread cannot open or write is an error with its code, and the next is tried anew", async (t) => {
  const store = await openSqliteStore(t);
  const writer = startLongWriter();
  t.after(() => writer.close());
  writer.open({ ...store.sqlite, path: join(store.sqlite.path, "nowhere") });
  const item = birth(randomUUID());
  await assert.rejects(writer.commit([item], []), { code: "ERR_SQLITE_ERROR", errcode: 14 });
  await assert.rejects(writer.commit([{ ...item, changes: "no JSON" }], []), SyntaxError);
  writer.open(store.sqlite);
  assert.deepEqual((await writer.commit([item], [])).committed, [true]);
});

test("a thread that ends fails the commit it was at, lets others write, and is not asked again", async (t) => {
  const store = await openSqliteStore(t);
  const writer = startLongWriter(new URL("./long_writer.test_entry.ts", import.meta.url));
  writer.open(store.sqlite);
  const organizationId = randomUUID();
  await assert.rejects(writer.commit([birth(organizationId)], []), /ended with 7/);
  assert.match((await writer.ended)?.message ?? "", /ended with 7/);
  assert.equal(writer.isOpen, false);
  assert.deepEqual((await commitGroup(store, [birth(organizationId)], [])).committed, [true]);
  await assert.rejects(writer.commit([signing(organizationId, 1)], []), /has ended/);
  await writer.close();
});

test("after it has started, its process can start no other", () => {
  const program = `
    import { Worker } from "node:worker_threads";
    const { startLongWriter } = await import(${JSON.stringify(import.meta.resolve("./long_writer.ts"))});
    const denied = (start) => { try { start(); return false; } catch (error) { return error.code === "ERR_ACCESS_DENIED"; } };
    const any = () => new Worker("", { eval: true, execArgv: ["--no-permission"] });
    const writer = startLongWriter();
    console.log(denied(any), process.permission.has("worker"));
    await writer.close();
    console.log(await writer.ended);
  `;
  const flags = ["--permission", "--allow-worker", "--allow-fs-read=*", "--no-warnings", "--input-type=module"];
  const output = execFileSync(process.execPath, [...flags, "-e", program], { encoding: "utf8" });
  assert.equal(output, "true false\nundefined\n");
});

test("the gateway and the thread drop that permission before they load a package", () => {
  const root = join(import.meta.dirname, "../../..");
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const [main, thread] = ["server/src/gateway/main.ts", "server/src/store/long_writer_thread.ts"];
  assert.ok(read(main).includes('\nimport "./first_thread.ts";'));
  assert.equal(read(main).indexOf("\nimport "), read(main).indexOf('\nimport "./first_thread.ts";'));
  const ahead = new Set(["server/src/gateway/first_thread.ts", "server/src/store/long_writer_entry.ts"]);
  for (const path of ahead) {
    for (const { specifier = "", typeOnly } of parseImports(read(path))) {
      if (typeOnly || specifier.startsWith("node:")) continue;
      const target = targetOf(path, specifier);
      assert.ok(target !== undefined, `${path} loads ${specifier}`);
      // After it has dropped it.
      if (target !== thread) ahead.add(target);
    }
  }
  assert.ok(ahead.has("server/src/store/drop_threads.ts"));
});
