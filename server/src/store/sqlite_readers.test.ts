/** Snapshots of the file do not keep its WAL from being cut, nor hold anybody who writes. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { cutWal } from "./sqlite_dialect.ts";
import { createSqliteReaders, type SqliteReader, type WalWatch } from "./sqlite_readers.ts";

type Opened = { path: string; writer: DatabaseSync; cuts(): number } & ReturnType<typeof createSqliteReaders>;

function open(t: TestContext, watch: WalWatch = {}, beforeCut: () => Promise<void> = async () => undefined): Opened {
  const folder = mkdtempSync(join(tmpdir(), "readers-"));
  const path = join(folder, "file.db");
  const writer = new DatabaseSync(path);
  writer.exec("pragma journal_mode = wal; create table t (n integer, filler blob)");
  let cuts = 0;
  const cutNow = async () => {
    cuts += 1;
    await beforeCut();
    cutWal(writer);
  };
  const readers = createSqliteReaders(path, cutNow, watch);
  t.after(() => {
    readers.close();
    writer.close();
    rmSync(folder, { recursive: true });
  });
  return { ...readers, path, writer, cuts: () => cuts };
}

function write({ writer }: Opened, bytes = 10): void {
  writer.prepare("insert into t values (1, zeroblob(?))").run(bytes);
}

function countIn({ statement }: SqliteReader): unknown {
  return statement("select count(*) as count from t").get()?.count;
}

function walBytes({ path }: Opened): number {
  return statSync(`${path}-wal`).size;
}

async function turns(count = 5): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
}

test("a reader sees the moment at which it began to read, and nobody waits for it to write", async (t) => {
  const file = open(t);
  write(file);
  const reader = await file.take();
  assert.equal(countIn(reader), 1);
  write(file);
  assert.equal(countIn(reader), 1);
  const other = await file.take();
  assert.equal(countIn(other), 2);
  file.giveBack(reader);
  file.giveBack(other);
  const again = await file.take();
  assert.equal(countIn(again), 2);
  file.giveBack(again);
});

test("nothing can be written through a reader", async (t) => {
  const file = open(t);
  const reader = await file.take();
  assert.throws(() => reader.database.exec("insert into t values (1, null)"), /readonly/);
  file.giveBack(reader);
});

test("eight read at once, and the others follow in their order", async (t) => {
  const file = open(t);
  const first = await Promise.all(Array.from({ length: 8 }, () => file.take()));
  const order: number[] = [];
  const later = [0, 1, 2].map((n) =>
    file.take().then((reader) => {
      order.push(n);
      return reader;
    }),
  );
  await turns();
  assert.deepEqual(order, []);
  for (const reader of first) file.giveBack(reader);
  for (const each of later) file.giveBack(await each);
  assert.deepEqual(order, [0, 1, 2]);
});

test("snapshots that overlap for ever do not keep a long WAL from being cut", async (t) => {
  const file = open(t, { lookMs: 0, mostBytes: 100_000 });
  let before = await file.take();
  countIn(before);
  let longest = 0;
  for (let i = 0; i < 60; i++) {
    write(file, 20_000);
    longest = Math.max(longest, walBytes(file));
    // The next begins before the last one ends; where it must wait, the last one ends meanwhile.
    const next = file.take();
    await turns(2);
    file.giveBack(before);
    before = await next;
    countIn(before);
  }
  file.giveBack(before);
  assert.ok(file.cuts() > 2, `${file.cuts()}`);
  assert.ok(longest < 400_000, `${longest}`);
});

test("one that reads on and on keeps the others waiting for a while only", async (t) => {
  const file = open(t, { lookMs: 0, mostBytes: 1, patienceMs: 50 });
  write(file);
  const long = await file.take();
  countIn(long);
  const before = file.cuts();
  const next = await file.take();
  assert.equal(countIn(next), 1);
  file.giveBack(next);
  assert.equal(file.cuts(), before);
  file.giveBack(long);
});

test("whoever cuts does it while none reads, and one at a time", async (t) => {
  let atOnce = 0;
  let most = 0;
  const file = open(t, {}, async () => {
    atOnce += 1;
    most = Math.max(most, atOnce);
    await turns();
    atOnce -= 1;
  });
  const reader = await file.take();
  const cuts = [file.cut(), file.cut()];
  await turns();
  assert.equal(most, 0);
  const late = file.take();
  file.giveBack(reader);
  await Promise.all(cuts);
  assert.deepEqual([most, file.cuts()], [1, 2]);
  file.giveBack(await late);
});

test("a cut that fails keeps nobody from reading", async (t) => {
  const file = open(t, {}, () => Promise.reject(new Error("no")));
  await file.cut();
  assert.equal(file.cuts(), 1);
  file.giveBack(await file.take());
});

test("one whose transaction cannot be ended is not used again", async (t) => {
  const file = open(t);
  const reader = await file.take();
  reader.database.close();
  file.giveBack(reader);
  const next = await file.take();
  assert.notEqual(next, reader);
  file.giveBack(next);
});

test("closed, it gives nothing to who waits, and takes back what is in use", async (t) => {
  const file = open(t);
  const all = await Promise.all(Array.from({ length: 8 }, () => file.take()));
  const waiting = file.take();
  file.close();
  for (const reader of all) file.giveBack(reader);
  await assert.rejects(waiting, /closed/);
  for (const { database } of all) assert.equal(database.isOpen, false);
  await assert.rejects(file.take(), /closed/);
});
