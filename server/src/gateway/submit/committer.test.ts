import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Fault } from "@keystead/core/fault.ts";
import { sql } from "kysely";
import { patienceMs } from "../../../../core/test/patience.ts";
import { dialects, openTestStore } from "../../../test/open_test_store.ts";
import { birth, newActivity, newState, stateChange } from "../../../test/store_items.ts";
import { loadUnreleased } from "../../store/across.ts";
import { findActivity } from "../../store/activities.ts";
import { commitGroup } from "../../store/commit.ts";
import type { CommitItem } from "../../store/commit_item.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { createCommitter } from "./committer.ts";
import { loneRun } from "./run.ts";

/** A signer that releases whatever it is given, with this result, after `before` has had its turn. */
function releasing(before: () => Promise<void>, result?: string): SignerLink {
  const request = async (_kind: string, { rows }: { rows: unknown[] }) => {
    await before();
    return rows.map(() => ({ kind: "released", value: { result } }));
  };
  return {
    request: request as unknown as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
}

async function commit(store: Store, ...items: CommitItem[]): Promise<void> {
  assert.ok((await commitGroup(store, items, [])).committed.every((done) => done));
}

for (const dialect of dialects) {
  test(`leftovers on ${dialect}: all that were there are released, however many another gateway adds meanwhile`, async (t) => {
    const store = await openTestStore(t, dialect);
    if (store === undefined) return;
    const organizationId = randomUUID();
    await commit(store, birth(organizationId), stateChange(organizationId, 1));
    let version = 2;
    let calls = 0;
    const committer = createCommitter(
      store,
      releasing(async () => {
        calls += 1;
        assert.ok(calls < 5, "it never ends");
        await commit(store, stateChange(organizationId, version++));
      }),
    );
    assert.deepEqual(await committer.releaseLeftovers(), []);
    assert.deepEqual(
      (await loadUnreleased(store, 10)).map((leaf) => leaf.version),
      [3],
    );
  });

  test(`a sealed result on ${dialect} is written, though no other commit comes to take it along`, async (t) => {
    const store = await openTestStore(t, dialect);
    if (store === undefined) return;
    const organizationId = randomUUID();
    await commit(store, birth(organizationId));
    const activity = newActivity({ result: null });
    const committer = createCommitter(
      store,
      releasing(async () => undefined, "{}"),
    );
    await committer.commit({ ...stateChange(organizationId, 1), activity }, loneRun);
    const read = async () => (await findActivity(store, organizationId, activity.activityId))?.result;
    for (const until = Date.now() + patienceMs; (await read()) === null; ) {
      assert.ok(Date.now() < until, "it is not written");
      await setTimeout(20);
    }
    assert.equal(await read(), "{}");
  });

  test(`a result that ${dialect} did not take is written once it does, though no other commit comes`, async (t) => {
    const store = await openTestStore(t, dialect);
    if (store === undefined) return;
    const organizationId = randomUUID();
    await commit(store, birth(organizationId));
    const activity = newActivity({ result: null });
    const away = () => sql`alter table activities rename to activities_away`.execute(store.db);
    const committer = createCommitter(
      store,
      releasing(async () => void (await away()), "{}"),
    );
    await committer.commit({ ...stateChange(organizationId, 1), activity }, loneRun);
    await assert.rejects(committer.settle());
    await sql`alter table activities_away rename to activities`.execute(store.db);
    const read = async () => (await findActivity(store, organizationId, activity.activityId))?.result;
    for (const until = Date.now() + patienceMs; (await read()) === null; ) {
      assert.ok(Date.now() < until, "it is not written");
      await setTimeout(20);
    }
    assert.equal(await read(), "{}");
    // Others may read it a moment before the writer hears that it is written.
    await committer.settle();
    assert.equal(committer.trouble(), undefined);
  });

  test(`trouble on ${dialect}: the newest commit or release that failed is told, until one succeeds`, async (t) => {
    const store = await openTestStore(t, dialect);
    if (store === undefined) return;
    const organizationId = randomUUID();
    await commit(store, birth(organizationId));
    let signerFails = false;
    const committer = createCommitter(
      store,
      releasing(async () => {
        if (signerFails) throw new Fault("internal", "the signer failed");
      }),
    );
    const submit = (version: number) => committer.commit(stateChange(organizationId, version), loneRun);
    await submit(1);
    assert.equal(committer.trouble(), undefined);

    await sql`alter table leaves rename to leaves_away`.execute(store.db);
    await assert.rejects(submit(2), { code: "unavailable", message: "the database did not commit; try again" });
    const ownWords = dialect === "sqlite" ? " (SQL logic error)" : "";
    assert.equal(committer.trouble(), `the database did not take the last commit${ownWords}`);
    await sql`alter table leaves_away rename to leaves`.execute(store.db);
    await submit(2);
    assert.equal(committer.trouble(), undefined);

    signerFails = true;
    await assert.rejects(submit(3), { message: "the signer failed" });
    assert.equal(committer.trouble(), "the signer did not release the last commit: the signer failed");
    signerFails = false;
    assert.deepEqual(await committer.releaseLeftovers(), []);
    assert.equal(committer.trouble(), undefined);

    // Out of rotation, a gateway gets no commit that could prove it right: its word is good for ten seconds.
    signerFails = true;
    await assert.rejects(submit(4), { message: "the signer failed" });
    const now = performance.now();
    t.mock.method(performance, "now", () => now + 10_001);
    assert.equal(committer.trouble(), undefined);
  });
}

const longestRestMs = 200;

const longState = (organizationId: string, version: number) => ({
  ...stateChange(organizationId, version),
  next: { ...newState(version + 1), pages: [{ name: "members", content: Buffer.alloc(4 * 1024 * 1024, version) }] },
});

test("a small commit of one organization is not behind the megabytes of another that came before it", async (t) => {
  const store = await openTestStore(t, "sqlite");
  if (store === undefined) return;
  const [large, honest] = [randomUUID(), randomUUID()];
  await commit(store, birth(large), birth(honest));
  const committer = createCommitter(
    store,
    releasing(async () => undefined),
  );
  const seen: string[] = [];
  const submit = async (name: string, item: CommitItem) => {
    assert.equal((await committer.commit(item, loneRun)).kind, "committed");
    seen.push(name);
  };
  const commits = [1, 2, 3, 4, 5, 6].map((version) => submit(`large ${version}`, longState(large, version)));
  commits.push(submit("honest", stateChange(honest, 1)));
  assert.ok(committer.held().long > 24 * 1024 * 1024);
  await Promise.all(commits);
  assert.ok(seen.indexOf("honest") <= 1, seen.join());
  assert.deepEqual(
    seen.filter((name) => name !== "honest"),
    [1, 2, 3, 4, 5, 6].map((version) => `large ${version}`),
  );
  assert.deepEqual(committer.held(), { short: 0, long: 0 });
});

test("long commits rest while others are there, short ones never, and who is alone neither", async (t) => {
  const store = await openTestStore(t, "sqlite");
  if (store === undefined) return;
  const [large, honest] = [randomUUID(), randomUUID()];
  await commit(store, birth(large), birth(honest));
  let isAlone = false;
  const committer = createCommitter(
    store,
    releasing(async () => undefined),
    { presence: { seen: () => undefined, isAlone: () => isAlone } },
  );
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const done: string[] = [];
  const submit = async (name: string, item: CommitItem) => {
    await committer.commit(item, loneRun);
    done.push(name);
  };
  const commits = [1, 2].map((version) => submit(`large ${version}`, longState(large, version)));
  await Promise.all([commits[0], submit("honest 1", stateChange(honest, 1))]);
  await submit("honest 2", stateChange(honest, 2));
  // Its 4 MiB alone rest for so long, however fast they were written.
  t.mock.timers.tick(3 * 4 * 4);
  await submit("honest 3", stateChange(honest, 3));
  assert.ok(!done.includes("large 2"), done.join());
  t.mock.timers.tick(longestRestMs);
  await commits[1];
  t.mock.timers.tick(longestRestMs);
  isAlone = true;
  await Promise.all([3, 4, 5].map((version) => submit(`large ${version}`, longState(large, version))));
});

test("settling is over when what was released is written, though another's write took it along", async (t) => {
  const store = await openTestStore(t, "postgres");
  if (store?.dialect !== "postgres") return;
  const organizationId = randomUUID();
  await commit(store, birth(organizationId));
  const activity = newActivity({ result: null });
  const holder = await store.pool.connect();
  // From the release on, whatever writes the result waits.
  const hold = async () => void (await holder.query("begin; lock table activities in access exclusive mode"));
  const committer = createCommitter(store, releasing(hold, "{}"));
  await committer.commit({ ...stateChange(organizationId, 1), activity }, loneRun);
  const other = committer.settle();
  let isOver = false;
  const second = committer.settle().then(() => {
    isOver = true;
  });
  await setTimeout(300);
  const wasOverBefore = isOver;
  await holder.query("rollback");
  holder.release();
  await Promise.all([other, second]);
  assert.equal(wasOverBefore, false);
  assert.equal((await findActivity(store, organizationId, activity.activityId))?.result, "{}");
});
