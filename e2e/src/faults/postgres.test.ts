/**
 * A PostgreSQL that answers and takes no change: it was made read-only, or its disk is full. Whoever submits is told to try again,
 * whoever looks is told why, queries go on, and with the cause gone service goes on by itself.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { testTimeoutMs } from "../../../core/test/patience.ts";
import { freshDataFolder } from "../data_folder.ts";
import { administer, openSession, testSource } from "../databases.ts";
import { keyFrom } from "../key_pairs.ts";
import { assertNotReplaced, ownFault, startKeystead } from "../keystead_server.ts";
import { killIfThere } from "../process_tree.ts";
import { bytesOf, send, stampFields, stampOf } from "../wire.ts";
import {
  type Act,
  act,
  assertAllThere,
  assertNothingElse,
  assertReadable,
  assertUnavailable,
  type Deployment,
  readiness,
  tagBody,
  untilAnswered,
  untilSaid,
} from "./deployment.ts";

const refuses = /^the database did not commit; try again$/;

type Trouble = { begin: readonly string[]; end: readonly string[]; why: RegExp; said: RegExp };

/** Settings are for sessions that begin later, so those that there are end. */
const endSessions =
  "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
const setReadOnly = (value: "on" | "off") =>
  `do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}', current_database()); end $$`;

/** The state and the words of a real one, from a trigger: to fill a disk would take one. */
const noRoom = `create function no_room() returns trigger language plpgsql as
  $$ begin raise exception 'could not extend file "base/1/2": No space left on device' using errcode = '53100'; end $$`;

const troubles: Record<string, Trouble> = {
  "it is read-only": {
    begin: [setReadOnly("on"), endSessions],
    end: ["set default_transaction_read_only = off", setReadOnly("off"), endSessions],
    why: /^the database did not take the last commit \(it is read-only\)$/,
    said: /"reason":"cannot execute \w+ in a read-only transaction","msg":"the database did not commit; try again"/,
  },
  "its disk is full": {
    begin: [
      noRoom,
      ...["leaves", "idempotency_keys"].map(
        (table) => `create trigger no_room before insert on ${table} execute function no_room()`,
      ),
    ],
    end: ["drop function no_room cascade"],
    why: /^the database did not take the last commit \(its disk is full\)$/,
    said: /"reason":"could not extend file [^,]*: No space left on device","msg":"the database did not commit; try again"/,
  },
};

async function change(url: string, statements: readonly string[]): Promise<void> {
  const session = await openSession(url);
  try {
    for (const statement of statements) await session.query(statement);
  } finally {
    await session.end();
  }
}

/** A body that was answered, under a key that has not been seen: the key must be written before anybody is answered. */
async function sendKeyed({ url, bootstrap }: Deployment, body: string): Promise<number> {
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(bootstrap.apiPrivateKey));
  const headers = [
    ["X-Stamp", stampOf(stampFields(key, bytesOf(body)))],
    ["Idempotency-Key", crypto.randomUUID()],
  ] as const;
  return (await send(url, { path: "/public/v1/submit/create_user_tag", headers, body })).status;
}

function isReadable(deployment: Deployment): Promise<boolean> {
  return assertReadable(deployment).then(
    () => true,
    () => false,
  );
}

test("a PostgreSQL that takes no change: 503 and the reason, and service goes on by itself", {
  timeout: testTimeoutMs,
}, async (t) => {
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return;
  const server = await startKeystead({
    dataFolder: freshDataFolder(t),
    databaseUrl: source.url,
    env: { KEYSTEAD_RESTART_PAUSE_MS: "300" },
  });
  t.after(() => server.stop());
  const before = await server.children();
  const acts: Act[] = [];
  for (const [name, { begin, end, why, said }] of Object.entries(troubles)) {
    await t.test(name, async () => {
      const known = await act(server);
      acts.push(known);
      const printed = server.output().length;
      const body = tagBody(server);
      await change(source.url, begin);
      try {
        await assertUnavailable(server, body, refuses);
        const { status, why: told } = await readiness(server, 503);
        assert.equal(status, 503);
        assert.match(told, why);
        assert.equal(await sendKeyed(server, known.body), 503);
        await untilSaid(() => server.output().slice(printed), said);
        await assertReadable(server);
        await assertNothingElse(server, acts);
      } finally {
        await change(source.url, end);
      }
      acts.push(await untilAnswered(server, body));
      assert.deepEqual(await readiness(server, 200), { status: 200, why: "" });
      assert.equal(await sendKeyed(server, known.body), 200);
      await assertAllThere(server, acts);
    });
  }
  await assertNotReplaced(server, before);
  assert.doesNotMatch(server.output(), ownFault);

  await t.test("a gateway that is replaced meanwhile answers queries, and acts once it may", async () => {
    const { begin, end } = troubles["it is read-only"] as Trouble;
    const body = tagBody(server);
    await change(source.url, begin);
    try {
      killIfThere(before.gateway ?? 0);
      while (!(await isReadable(server))) await pause(50);
      await assertUnavailable(server, body, /^the database /);
    } finally {
      await change(source.url, end);
    }
    acts.push(await untilAnswered(server, body));
    await assertAllThere(server, acts);
  });
});

test("a first start on a read-only PostgreSQL is one clear line, and once it is not, the start works", {
  timeout: testTimeoutMs,
}, async (t) => {
  const source = await testSource(t, "postgres");
  if (source?.kind !== "postgres") return;
  const dataFolder = freshDataFolder(t);
  await administer(source.url, setReadOnly("on"));
  await assert.rejects(startKeystead({ dataFolder, databaseUrl: source.url }), (error: unknown) => {
    assert.match(
      String(error),
      /^gateway: the database of DATABASE_URL cannot be used: it is read-only \(.+\); mend that and start again$/m,
    );
    assert.doesNotMatch(String(error), /^\s+at /m);
    return true;
  });
  await change(source.url, ["set default_transaction_read_only = off", setReadOnly("off")]);
  const server = await startKeystead({ dataFolder, databaseUrl: source.url });
  t.after(() => server.stop());
  await act(server);
});
