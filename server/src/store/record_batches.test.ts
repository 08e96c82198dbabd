/** Many look-ups find what each would find alone, in few statements. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { account, bringing, privateKey, row, wallet } from "../../test/key_items.ts";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { watchQueries } from "../../test/query_plans.ts";
import { birth } from "../../test/store_items.ts";
import type { RecordWish } from "../state/record_wish.ts";
import { commitGroup } from "./commit.ts";
import { loadRecords } from "./record_batches.ts";
import { type FoundRecord, findRecords } from "./records.ts";

for (const dialect of dialects) {
  test(`records by the dozen on ${dialect}: what each look-up finds alone, in the order of the wishes`, async (t) => {
    const opened = await openTestStore(t, dialect);
    if (opened === undefined) return;
    const id = randomUUID();
    const own = wallet(id, "Wallet");
    const accounts = Array.from({ length: 5 }, (_, n) => account(own, { path: `m/${n}`, name: `Account ${n}` }));
    const keys = Array.from({ length: 120 }, (_, n) => privateKey(id, `Key ${n}`));
    const rows = [
      row(own, "seed"),
      ...accounts.map((each) => row(each)),
      ...keys.map((key, n) => row(key, `secret ${n}`)),
    ];
    await commitGroup(opened, [birth(id), bringing(id, 1, ...rows)], []);
    const wishes = mixed<RecordWish>([
      ...keys.map(({ privateKeyId }): RecordWish => ({ by: "id", kind: "privateKey", id: privateKeyId })),
      ...keys.map((_, n): RecordWish => ({ by: "name", kind: "privateKey", name: `KEY ${n}` })),
      ...keys.map((_, n): RecordWish => ({ by: "blindIndex", kind: "privateKey", blindIndex: `secret ${n}` })),
      ...accounts.map(({ walletAccountId }): RecordWish => ({ by: "id", kind: "walletAccount", id: walletAccountId })),
      ...accounts.map(({ address }): RecordWish => ({ by: "address", address })),
      ...accounts.map(({ name = "" }): RecordWish => ({ by: "name", kind: "walletAccount", name })),
      { by: "id", kind: "wallet", id: own.walletId },
      { by: "id", kind: "wallet", id: own.walletId },
      { by: "blindIndex", kind: "wallet", blindIndex: "seed" },
      { by: "name", kind: "wallet", name: "of nobody" },
      { by: "id", kind: "privateKey", id: randomUUID() },
      { by: "id", kind: "contractInterface", id: randomUUID() },
      { by: "id", kind: "contractInterface", id: randomUUID() },
    ]);
    const alone: FoundRecord[] = [];
    for (const wish of wishes) alone.push(...(await findRecords(opened, id, wish)));
    assert.equal(alone.length, 3 * keys.length + 3 * accounts.length + 3);
    assert.deepEqual(plain(await loadRecords(opened, id, wishes)), plain(alone));
    assert.deepEqual(await loadRecords(opened, randomUUID(), wishes), []);
    assert.deepEqual(await loadRecords(opened, id, []), []);

    const { store, plans } = watchQueries(opened);
    await loadRecords(
      store,
      id,
      keys.map(({ privateKeyId }) => ({ by: "id", kind: "privateKey", id: privateKeyId })),
    );
    const all = await plans();
    assert.equal(all.length, 3);
    for (const plan of all) assert.match(plan, /private_key_id ?=/, plan);
  });
}

/** Always in the same order, and like ones apart. */
function mixed<T>(list: readonly T[]): T[] {
  return list
    .map((each, n) => ({ each, place: (n * 7_919) % 10_007 }))
    .sort((a, b) => a.place - b.place)
    .map(({ each }) => each);
}

function plain(records: readonly FoundRecord[]): unknown[] {
  return records.map(({ content, sealed }) => ({ content: Buffer.from(content), sealed: Buffer.from(sealed) }));
}
