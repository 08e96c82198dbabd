import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import pg from "pg";
import { openTestStore } from "../../test/open_test_store.ts";
import { findDeployment } from "./across.ts";
import { plainReason, unlessAway } from "./database_away.ts";

test("a connection lost in the middle of a read is unavailable, and the next read is on another", async (t) => {
  const store = await openTestStore(t, "postgres");
  if (store?.dialect !== "postgres") return;
  const holder = await store.pool.connect();
  await holder.query("begin");
  await holder.query("lock table deployment in access exclusive mode");
  const lost = assert.rejects(async () => findDeployment(store), { name: "Fault", code: "unavailable" });
  const waiting = "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  for (let ended = false; !ended; ) {
    const { rows } = await store.pool.query<{ pid: number }>(waiting);
    for (const { pid } of rows)
      ended = (await store.pool.query("select pg_terminate_backend($1)", [pid])).rowCount === 1;
  }
  await lost;
  await holder.query("rollback");
  holder.release();
  assert.equal(await findDeployment(store), undefined);
});

test("a server that cannot be reached is unavailable; a mistake of ours is not", async () => {
  const pool = new pg.Pool({ connectionString: "postgres://nobody@127.0.0.1:1/none" });
  const refused: unknown = await pool.query("select 1").catch((error) => error);
  await pool.end();
  assert.equal((unlessAway(refused) as Fault).code, "unavailable");
  for (const mistake of [
    new TypeError("x is not a function"),
    new Fault("internal", "an integer in the database is out of range"),
    Object.assign(new pg.DatabaseError("no such table", 1, "error"), { code: "42P01" }),
  ]) {
    assert.equal(unlessAway(mistake), mistake);
  }
});

/** Of the server's own words. */
function failure(code: string): Error {
  const error = new pg.DatabaseError('could not extend file "base/1/2": No space left on device', 1, "error");
  return Object.assign(error, { code });
}

test("a server without room or leave to write is unavailable, in words that name no path", () => {
  for (const [code, why] of [
    ["53100", "its disk is full"],
    ["58030", "its disk fails"],
    ["25006", "it is read-only"],
  ] as const) {
    const told = unlessAway(failure(code)) as Fault;
    assert.deepEqual([told.code, told.message], ["unavailable", `the database cannot be used now (${why}); try again`]);
    assert.equal(plainReason(failure(code)), why);
  }
  for (const code of ["53300", "57P01", "08006"]) {
    assert.equal((unlessAway(failure(code)) as Fault).message, "the database does not answer; try again");
  }
});

test("a PostgreSQL that is made read-only says so to whoever writes", async (t) => {
  const store = await openTestStore(t, "postgres");
  if (store?.dialect !== "postgres") return;
  const client = await store.pool.connect();
  await client.query("set default_transaction_read_only = on");
  const refused: unknown = await client.query("delete from unreleased").catch((error) => error);
  client.release(true);
  assert.equal(plainReason(refused), "it is read-only");
});
