import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { account, bringing, changing, deleted, facts, privateKey, renamed, row, wallet } from "../../test/key_items.ts";
import { dialects, openTestStore } from "../../test/open_test_store.ts";
import { birth, nowMs, stateChange } from "../../test/store_items.ts";
import { type Change, put } from "../state/entities.ts";
import type { PrivateKeyRecord, WalletAccountRecord, WalletRecord } from "../state/records.ts";
import { commitGroup } from "./commit.ts";
import type { CommitItem } from "./commit_item.ts";
import { loadState } from "./organizations.ts";
import { listPrivateKeys } from "./private_keys.ts";
import { findRecords } from "./records.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";
import { findAccount, findWallet, listAccounts, listWallets } from "./wallets.ts";

async function commit(store: Store, ...items: CommitItem[]): Promise<boolean[]> {
  return (await commitGroup(store, items, [])).committed;
}

function changesIn({ changes }: CommitItem): readonly Change[] {
  assert.ok(typeof changes !== "string");
  return changes;
}

for (const dialect of dialects) {
  describe(`keys on ${dialect}`, () => {
    const withOrganization = (name: string, run: (store: Store, organizationId: string) => Promise<void>) =>
      test(name, async (t) => {
        const store = await openTestStore(t, dialect);
        if (store === undefined) return;
        const organizationId = randomUUID();
        assert.deepEqual(await commit(store, birth(organizationId)), [true]);
        await run(store, organizationId);
      });

    const count = async (store: Store, table: keyof Tables) =>
      (await store.db.selectFrom(table).selectAll().execute()).length;

    withOrganization(
      "a wallet and its accounts are stored as they were made, and found by all their marks",
      async (store, id) => {
        const own = wallet(id, "Trésor");
        const first = account(own, { name: "Main" });
        const second = account(own, { path: "m/44h/60'/1H/0/0" });
        const [walletRow, firstRow] = [row(own, "blind"), row(first)];
        assert.deepEqual(await commit(store, bringing(id, 1, walletRow, firstRow, row(second))), [true]);
        const stored = await findWallet(store, id, own.walletId);
        assert.deepEqual(
          { ...stored },
          {
            organization_id: id,
            wallet_id: own.walletId,
            wallet_name: "Trésor",
            exported: 0,
            imported: 0,
            created_at_ms: nowMs,
            updated_at_ms: nowMs,
          },
        );
        const expected = { content: walletRow.content, sealed: walletRow.sealed };
        for (const wish of [
          { by: "id", kind: "wallet", id: own.walletId },
          { by: "name", kind: "wallet", name: "TRÉSOR" },
          { by: "blindIndex", kind: "wallet", blindIndex: "blind" },
        ] as const) {
          assert.deepEqual(plain(await findRecords(store, id, wish)), plain([expected]), wish.by);
          assert.deepEqual(await findRecords(store, randomUUID(), wish), []);
        }
        const { curve, addressFormat, address } = first;
        const { walletId } = own;
        for (const wish of [
          { by: "id", kind: "walletAccount", id: first.walletAccountId },
          { by: "name", kind: "walletAccount", name: "main" },
          { by: "address", address: address.toUpperCase().replace("0X", "0x") },
          { by: "signWith", signWith: address },
          { by: "place", walletId, pathKey: "m/44'/60'/0'/0/0", curve, addressFormat },
        ] as const) {
          assert.deepEqual(plain(await findRecords(store, id, wish)), plain([firstRow]), wish.by);
          assert.deepEqual(await findRecords(store, randomUUID(), wish), []);
        }
        const list = await listAccounts(store, id, own.walletId, { limit: 10 });
        assert.deepEqual(
          list.map(({ wallet_account_id, path }) => [wallet_account_id, path]),
          [first, second].map(({ walletAccountId, path }) => [walletAccountId, path]),
        );
      },
    );

    withOrganization(
      "private keys are listed in the order they were asked for, the oldest first",
      async (store, id) => {
        const names = Array.from({ length: 12 }, (_, n) => `Key ${n}`);
        const rows = (some: string[]) => some.map((name) => row(privateKey(id, name), name));
        await commit(store, bringing(id, 1, ...rows(names.slice(0, 11))));
        await commit(store, bringing(id, 2, ...rows(names.slice(11))));
        const listed = await listPrivateKeys(store, id);
        assert.deepEqual(
          listed.map(({ private_key_name }) => private_key_name),
          names,
        );
      },
    );

    withOrganization("a new name, an export and a deletion reach the row, and nothing beside it", async (store, id) => {
      const [own, other] = [wallet(id, "a"), wallet(id, "b")];
      const first = account(own);
      const key = privateKey(id, "k");
      await commit(store, bringing(id, 1, row(own), row(first), row(other), row(account(other)), row(key, "key")));
      const rename = changing(id, 2, renamed("wallet", own.walletId, "Ä"));
      assert.deepEqual(await commit(store, rename), [true]);
      const exported = { name: "Ä", exported: true } as const;
      assert.deepEqual(
        await commit(
          store,
          changing(
            id,
            3,
            facts("wallet", own.walletId, exported),
            facts("walletAccount", first.walletAccountId, { exported: true }),
          ),
        ),
        [true],
      );
      const found = await findWallet(store, id, own.walletId);
      assert.deepEqual([found?.wallet_name, found?.exported, found?.updated_at_ms], ["Ä", 1, nowMs + 7]);
      assert.equal((await findAccount(store, id, first.walletAccountId))?.updated_at_ms, nowMs + 7);
      assert.equal((await findRecords(store, id, { by: "name", kind: "wallet", name: "ä" })).length, 1);
      assert.equal((await findRecords(store, id, { by: "name", kind: "wallet", name: "a" })).length, 0);
      const untouched = await findWallet(store, id, other.walletId);
      assert.deepEqual([untouched?.wallet_name, untouched?.exported, untouched?.updated_at_ms], ["b", 0, nowMs]);

      assert.equal(await count(store, "private_key_addresses"), 2);
      const gone = changing(id, 4, deleted("wallet", own.walletId), deleted("privateKey", key.privateKeyId));
      assert.deepEqual(await commit(store, gone), [true]);
      assert.deepEqual(
        (await listWallets(store, id)).map(({ wallet_id }) => wallet_id),
        [other.walletId],
      );
      assert.deepEqual(
        (await listAccounts(store, id, undefined, { limit: 10 })).map(({ wallet_id }) => wallet_id),
        [other.walletId],
      );
      assert.deepEqual([await count(store, "private_keys"), await count(store, "private_key_addresses")], [0, 0]);
    });

    withOrganization("what one group makes, renames and deletes never existed", async (store, id) => {
      const [own, kept] = [wallet(id, "a"), wallet(id, "b")];
      const first = account(kept);
      const chain = [
        bringing(id, 1, row(own), row(account(own)), row(kept), row(first)),
        changing(id, 2, facts("wallet", kept.walletId, { exported: true })),
        changing(id, 3, deleted("wallet", own.walletId)),
        changing(id, 4, renamed("wallet", kept.walletId, "c")),
      ];
      assert.deepEqual(await commit(store, ...chain.slice(0, 3)), [true, true, true]);
      assert.deepEqual(await commit(store, ...chain.slice(3)), [true]);
      const wallets = await listWallets(store, id);
      assert.deepEqual(
        wallets.map(({ wallet_name, exported }) => [wallet_name, exported]),
        [["c", 1]],
      );
      assert.deepEqual(
        (await listAccounts(store, id, undefined, { limit: 10 })).map(({ wallet_account_id }) => wallet_account_id),
        [first.walletAccountId],
      );
    });

    withOrganization(
      "a deleted organization leaves no key behind, whenever it was made, and takes none of another's",
      async (store, id) => {
        const neighbour = randomUUID();
        const keysOf = (organizationId: string, name: string) => {
          const own = wallet(organizationId, name);
          return { own, rows: [row(own), row(account(own)), row(privateKey(organizationId, name))] };
        };
        const { own, rows } = keysOf(id, "early");
        await commit(store, birth(neighbour));
        await commit(store, bringing(id, 1, ...rows), bringing(neighbour, 1, ...keysOf(neighbour, "theirs").rows));
        const settings = { organizationName: "Acme", features: [], createdAtMs: nowMs, updatedAtMs: nowMs };
        const deletion = (version: number) =>
          stateChange(id, version, { changes: [put("settings", { ...settings, deleted: true })] });
        const counts = () =>
          Promise.all(
            (["wallets", "wallet_accounts", "private_keys", "private_key_addresses"] as const).map((table) =>
              count(store, table),
            ),
          );
        // On a version that is not there, nothing is deleted.
        assert.deepEqual(await commit(store, deletion(7)), [false]);
        assert.deepEqual(await counts(), [2, 2, 2, 4]);
        const group = [
          bringing(id, 2, ...keysOf(id, "late").rows),
          changing(id, 3, renamed("wallet", own.walletId, "x")),
          deletion(4),
        ];
        assert.deepEqual(await commit(store, ...group), [true, true, true]);
        assert.deepEqual(await counts(), [1, 1, 1, 2]);
        assert.equal((await listWallets(store, neighbour)).length, 1);
      },
    );

    withOrganization(
      "of accounts with one address that were made together, the first asked for stands",
      async (store, id) => {
        for (let turn = 0; turn < 8; turn++) {
          const own = wallet(id, `wallet ${turn}`);
          const address = `tb1q${randomUUID()}`;
          const accounts = (
            ["ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH", "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH"] as const
          ).map((addressFormat) => row(account(own, { addressFormat, address })));
          assert.deepEqual(await commit(store, bringing(id, turn + 1, row(own), ...accounts)), [true]);
          for (const wish of [
            { by: "address", address },
            { by: "signWith", signWith: address },
          ] as const) {
            assert.deepEqual(plain(await findRecords(store, id, wish)), plain(accounts.slice(0, 1)));
          }
        }
      },
    );

    /** Pairs that meet in a unique column, each made of the organization's wallet, account and key. */
    type Standing = { own: WalletRecord; other: WalletRecord; first: WalletAccountRecord; key: PrivateKeyRecord };
    const standingKeys = (id: string): { made: CommitItem; standing: Standing } => {
      const [own, other] = [wallet(id, "own"), wallet(id, "other")];
      const first = account(own, { name: "first" });
      const key = privateKey(id, "key");
      const rows = [row(own, "own"), row(first), row(other, "other"), row(key, "key")];
      return { made: bringing(id, 1, ...rows), standing: { own, other, first, key } };
    };
    const clashes: [what: string, pair: (id: string, standing: Standing) => [CommitItem, CommitItem]][] = [
      [
        "two wallets of one name",
        (id) => [bringing(id, 2, row(wallet(id, "new"))), bringing(id, 3, row(wallet(id, "NEW")))],
      ],
      [
        "two wallets of one seed",
        (id) => [bringing(id, 2, row(wallet(id, "x"), "seed")), bringing(id, 3, row(wallet(id, "y"), "seed"))],
      ],
      [
        "two accounts at one place",
        (id, { own }) => [
          bringing(id, 2, row(account(own, { path: "m/1'" }))),
          bringing(id, 3, row(account(own, { path: "m/1h" }))),
        ],
      ],
      [
        "two accounts of one name",
        (id, { own }) => [
          bringing(id, 2, row(account(own, { path: "m/1", name: "n" }))),
          bringing(id, 3, row(account(own, { path: "m/2", name: "N" }))),
        ],
      ],
      [
        "two private keys of one name",
        (id) => [bringing(id, 2, row(privateKey(id, "n"))), bringing(id, 3, row(privateKey(id, "N")))],
      ],
      [
        "two private keys of one secret",
        (id) => [bringing(id, 2, row(privateKey(id, "n"), "s")), bringing(id, 3, row(privateKey(id, "m"), "s"))],
      ],
      [
        "a new name and a new wallet of that name",
        (id, { own }) => [changing(id, 2, renamed("wallet", own.walletId, "n")), bringing(id, 3, row(wallet(id, "N")))],
      ],
      [
        "an export of an account and the deletion of its wallet",
        (id, { own, first }) => [
          changing(id, 2, facts("walletAccount", first.walletAccountId, { exported: true })),
          changing(id, 3, deleted("wallet", own.walletId)),
        ],
      ],
    ];
    for (const [what, pair] of clashes) {
      withOrganization(`${what}: the first commits, the second waits and does not take it back`, async (store, id) => {
        const { made, standing } = standingKeys(id);
        assert.deepEqual(await commit(store, made), [true]);
        const neighbour = randomUUID();
        assert.deepEqual(await commit(store, birth(neighbour)), [true]);
        const [earlier, later] = pair(id, standing);
        const group = [earlier, stateChange(neighbour, 1), later, stateChange(id, 4), stateChange(neighbour, 2)];
        assert.deepEqual(await commit(store, ...group), [true, true, false, false, true]);
        assert.equal((await loadState(store, id))?.version, 3);
        // Alone, whatever became free is there for the second, and what is taken is not.
        const frees = changesIn(earlier).some((change) => change.kind === "keyFacts");
        const isTaken = what === "a new name and a new wallet of that name";
        assert.deepEqual(await commit(store, later), [frees && !isTaken]);
        assert.deepEqual(await commit(store, stateChange(id, frees && !isTaken ? 4 : 3)), [true]);
        if (
          changesIn(later).some((change) => change.kind === "keyFacts" && change.op === "put" && change.value.deleted)
        ) {
          assert.equal(await findAccount(store, id, standing.first.walletAccountId), undefined);
        }
      });
    }

    /** Pairs of which the second takes what the first frees. Whether one transaction can do both is the database's affair. */
    const passings: typeof clashes = [
      [
        "a wallet that takes the name of one deleted before it",
        (id, { own }) => [changing(id, 2, deleted("wallet", own.walletId)), bringing(id, 3, row(wallet(id, "own")))],
      ],
      [
        "a wallet that takes the name another has given up",
        (id, { own, other }) => [
          changing(id, 2, renamed("wallet", own.walletId, "free")),
          changing(id, 3, renamed("wallet", other.walletId, "own")),
        ],
      ],
      [
        "an account that takes the name of one deleted with its wallet",
        (id, { own, other }) => [
          changing(id, 2, deleted("wallet", own.walletId)),
          bringing(id, 3, row(account(other, { path: "m/9", name: "first" }))),
        ],
      ],
      [
        "an account at the place of one deleted before it",
        (id, { own, first }) => [
          changing(id, 2, deleted("walletAccount", first.walletAccountId)),
          bringing(id, 3, row(account(own))),
        ],
      ],
      [
        "a private key that takes the secret of one deleted before it",
        (id, { key }) => [
          changing(id, 2, deleted("privateKey", key.privateKeyId)),
          bringing(id, 3, row(privateKey(id, "key"), "key")),
        ],
      ],
    ];
    for (const [what, pair] of passings) {
      withOrganization(`${what}: the first commits in any case, the second then or next`, async (store, id) => {
        const { made, standing } = standingKeys(id);
        assert.deepEqual(await commit(store, made), [true]);
        const [earlier, later] = pair(id, standing);
        const [first, second] = await commit(store, earlier, later);
        assert.equal(first, true);
        if (second !== true) assert.deepEqual(await commit(store, later), [true]);
        assert.equal((await loadState(store, id))?.version, 4);
      });
    }

    withOrganization("names that pass in a circle end up with their last bearers", async (store, id) => {
      const { made, standing } = standingKeys(id);
      await commit(store, made);
      const { own, other } = standing;
      let waiting = [
        changing(id, 2, renamed("wallet", own.walletId, "aside")),
        changing(id, 3, renamed("wallet", other.walletId, "own")),
        changing(id, 4, renamed("wallet", own.walletId, "other")),
      ];
      while (waiting.length > 0) {
        const committed = await commit(store, ...waiting);
        assert.equal(committed[0], true);
        waiting = waiting.filter((_, index) => committed[index] !== true);
      }
      const names = (await listWallets(store, id)).map(({ wallet_id, wallet_name }) => [wallet_id, wallet_name]);
      assert.deepEqual(
        new Map(names as [string, string][]),
        new Map([
          [own.walletId, "other"],
          [other.walletId, "own"],
        ]),
      );
    });

    withOrganization("what does not meet is written together", async (store, id) => {
      const [own, other] = [wallet(id, "own"), wallet(id, "other")];
      assert.deepEqual(await commit(store, bringing(id, 1, row(own, "own"), row(account(own)))), [true]);
      const chain = [
        changing(id, 2, facts("wallet", own.walletId, { exported: true })),
        bringing(id, 3, row(other, "other"), row(account(other))),
        bringing(
          id,
          4,
          row(account(own, { addressFormat: "ADDRESS_FORMAT_TRON" })),
          row(account(own, { path: "m/1" })),
        ),
        bringing(id, 5, row(privateKey(id, "own"), "own"), row(privateKey(id, "Other"))),
        changing(id, 6, renamed("wallet", own.walletId, "new")),
        changing(id, 7, renamed("wallet", own.walletId, "newer")),
        changing(id, 8, facts("wallet", own.walletId, { name: "newer", exported: true })),
        bringing(id, 9, row(account(own, { path: "m/2" }))),
        changing(id, 10, renamed("wallet", other.walletId, "newest")),
        bringing(id, 11, row(wallet(id, "third"))),
      ];
      assert.deepEqual(
        await commit(store, ...chain),
        chain.map(() => true),
      );
      assert.equal((await findWallet(store, id, own.walletId))?.wallet_name, "newer");
      assert.equal((await listAccounts(store, id, undefined, { limit: 10 })).length, 5);
      assert.equal(await count(store, "private_keys"), 2);
    });

    withOrganization("another organization may have the same names and secrets", async (store, id) => {
      const other = randomUUID();
      await commit(store, birth(other));
      const items = [id, other].map((each) =>
        bringing(each, 1, row(wallet(each, "w"), "seed"), row(privateKey(each, "k"), "s")),
      );
      assert.deepEqual(await commit(store, ...items), [true, true]);
    });

    withOrganization("a birth brings its wallet with it", async (store, id) => {
      const child = randomUUID();
      const own = wallet(child, "w");
      const born = { ...birth(child, [], id), records: [row(own, "seed"), row(account(own))] };
      assert.deepEqual(await commit(store, stateChange(id, 1, { births: [born] })), [true]);
      assert.equal((await listAccounts(store, child, own.walletId, { limit: 10 })).length, 1);
      assert.deepEqual(await listWallets(store, id), []);
    });

    withOrganization("a record of another organization is never stored", async (store, id) => {
      await assert.rejects(commit(store, bringing(id, 1, row(wallet(randomUUID(), "w")))), { code: "internal" });
      assert.equal(await count(store, "wallets"), 0);
    });
  });
}

function plain(rows: readonly { content: Uint8Array; sealed: Uint8Array }[]) {
  return rows.map(({ content, sealed }) => [Buffer.from(content).toString("hex"), Buffer.from(sealed).toString("hex")]);
}
