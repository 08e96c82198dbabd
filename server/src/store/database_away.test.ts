import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "@keystead/core/fault.ts";
import pg from "pg";
import { openTestStore } from "../../test/open_test_store.ts";
import { findDeployment } from "./across.ts";
import { unlessAway } from "./database_away.ts";

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
