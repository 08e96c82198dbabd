import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, stateChange } from "../../test/store_items.ts";
import { loadUnreleased } from "../store/across.ts";
import { type CommitItem, commitGroup } from "../store/commit.ts";
import type { Store } from "../store/store.ts";
import { createCommitter } from "./committer.ts";
import type { SignerLink } from "./signer_link.ts";

/** A signer that releases whatever it is given, after `before` has had its turn. */
function releasing(before: () => Promise<void>): SignerLink {
  const request = async (_kind: string, { rows }: { rows: unknown[] }) => {
    await before();
    return rows.map(() => ({ kind: "released", value: { result: undefined } }));
  };
  return { request: request as unknown as SignerLink["request"], attach: () => undefined, close: () => undefined };
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
}
