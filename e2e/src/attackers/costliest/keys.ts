/** Wallets, accounts and private keys. */
import { randomBytes, randomUUID } from "node:crypto";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { encryptPrivateKeyToBundle, encryptWalletToBundle } from "@turnkey/crypto";
import type { Json } from "../lanes.ts";
import { type ActivityPath, type Lane, resultOf, type Tenant, type TenantUser } from "../tenant.ts";
import { type CourseOf, cycling, type Flood, flood, submitting } from "./flood.ts";
import { accounts, cheapAccounts, cheapPrivateKeys, curve, privateKeys, taproot, target } from "./parts.ts";

/** A wallet for each connection. */
async function wallets({ act, roots }: Tenant): Promise<string[]> {
  return Promise.all(
    roots.map(async () => (await act("create_wallet", { walletName: randomUUID(), accounts: [] })).result.walletId),
  );
}

/** A wallet of the greatest length, whose accounts are derived and stored. */
const deepAccounts: Flood = {
  async begin(tenant) {
    const ids = await wallets(tenant);
    return submitting("create_wallet_accounts", ({ index }, turn) => ({
      ...{ walletId: ids[index], persist: true, accounts: accounts(turn) },
    }));
  },
};

/** What the issue named: nothing is stored, so that nothing but the derivation costs. */
export const toldAccounts: Flood = {
  async begin(tenant) {
    const ids = await wallets(tenant);
    return submitting("create_wallet_accounts", ({ index }, turn) => ({
      ...{ walletId: ids[index], persist: false, accounts: accounts(turn) },
    }));
  },
};

/**
 * A thousand are made, a hundred at a time, and deleted at once. The first of each connection are fewer, so that not all of them
 * delete at the same moment.
 */
function rounds({ index }: Lane, turn: number): number {
  return turn === 0 ? 1 + (index % 10) : 10;
}

const thousandKeys = cycling(async function* (lane, turn) {
  const privateKeyIds: string[] = [];
  for (let round = rounds(lane, turn); round > 0; round--) {
    const made = resultOf(yield lane.submit("create_private_keys", { privateKeys: cheapPrivateKeys() }));
    privateKeyIds.push(...made.privateKeys.map(({ privateKeyId }: Json) => privateKeyId));
  }
  yield lane.submit("delete_private_keys", { privateKeyIds, deleteWithoutExport: true });
});

/**
 * What deleted keys leave behind is spread over 256 pages, of which a deletion of a thousand reads and writes each: the more an organization
 * has ever deleted, the longer they are. It deletes as many beforehand as this takes.
 */
const afterMany: Flood = {
  async begin({ act, roots }) {
    const until = performance.now() + 20_000;
    const deleting = async (by: TenantUser) => {
      while (performance.now() < until) {
        const privateKeyIds: string[] = [];
        for (let round = 0; round < 3; round++) {
          const { result } = await act("create_private_keys", { privateKeys: cheapPrivateKeys() }, { by });
          privateKeyIds.push(...result.privateKeys.map(({ privateKeyId }: Json) => privateKeyId));
        }
        await act("delete_private_keys", { privateKeyIds, deleteWithoutExport: true }, { by });
      }
    };
    // Fewer than all, so that none of them hears that too many wait.
    await Promise.all(roots.slice(0, 8).map(deleting));
    return thousandKeys;
  },
};

const thousandAccounts: Flood = {
  async begin(tenant) {
    const ids = await wallets(tenant);
    let used = 0;
    return cycling(async function* (lane, turn) {
      const walletId = ids[lane.index];
      const walletAccountIds: string[] = [];
      for (let round = rounds(lane, turn); round > 0; round--) {
        yield lane.submit("create_wallet_accounts", { walletId, persist: true, accounts: cheapAccounts(used++) });
        const after = walletAccountIds.at(-1);
        const paginationOptions = { limit: "100", ...(after !== undefined && { after }) };
        const listed = yield lane.ask("list_wallet_accounts", { walletId, paginationOptions });
        walletAccountIds.push(...listed.json().accounts.map(({ walletAccountId }: Json) => walletAccountId));
      }
      yield lane.submit("delete_wallet_accounts", { walletAccountIds, deleteWithoutExport: true });
    });
  },
};

/** A request makes one wallet, so that a deletion of many would take long to prepare: each is named as often as there is room. */
const manyWallets = cycling(async function* (lane) {
  const made: string[] = [];
  for (let left = 8; left > 0; left--) {
    made.push(resultOf(yield lane.submit("create_wallet", { walletName: randomUUID(), accounts: [] })).walletId);
  }
  const walletIds = Array.from({ length: 1_000 }, (_, index) => made[index % made.length]);
  yield lane.submit("delete_wallets", { walletIds, deleteWithoutExport: true });
});

/** An organization has ten such tags at most, and each connection one; each is every key's. */
function keyTags(count: number): Flood {
  return {
    connections: 8,
    async begin(tenant) {
      const privateKeyIds = await privateKeys(tenant);
      return cycling(async function* (lane) {
        const made: string[] = [];
        for (let left = count; left > 0; left--) {
          const asked = { privateKeyTagName: randomUUID(), privateKeyIds };
          made.push(resultOf(yield lane.submit("create_private_key_tag", asked)).privateKeyTagId);
        }
        yield lane.submit("delete_private_key_tags", { privateKeyTagIds: made });
      });
    },
  };
}

const keyTagOfAll: Flood = {
  async begin(tenant) {
    const ids = await privateKeys(tenant);
    const tags: string[] = [];
    for (let left = 10; left > 0; left--) {
      const asked = { privateKeyTagName: randomUUID(), privateKeyIds: [] };
      tags.push((await tenant.act("create_private_key_tag", asked)).result.privateKeyTagId);
    }
    return submitting("update_private_key_tag", ({ index }, turn) => {
      const isAdded = turn % 2 === 0;
      return {
        ...{ privateKeyTagId: tags[index % tags.length], newPrivateKeyTagName: randomUUID() },
        ...{ addPrivateKeyIds: isAdded ? ids : [], removePrivateKeyIds: isAdded ? [] : ids },
      };
    });
  },
};

/** Each import has a target of its own, and a user has five at most. */
function importing(path: "wallet" | "private_key", make: (encryptedBundle: string, lane: Lane) => object): Flood {
  return {
    begin({ organizationId }) {
      return cycling(async function* (lane) {
        const { userId } = lane.user;
        const { importBundle } = resultOf(yield lane.submit(`init_import_${path}`, { userId }));
        const common = {
          ...{ importBundle, userId, organizationId },
          dangerouslyOverrideSignerPublicKey: JSON.parse(importBundle).enclaveQuorumPublic as string,
        };
        const bundle = await (path === "wallet"
          ? encryptWalletToBundle({ ...common, mnemonic: words() })
          : encryptPrivateKeyToBundle({
              ...common,
              privateKey: randomBytes(32).toString("hex"),
              keyFormat: "HEXADECIMAL",
            }));
        yield lane.submit(`import_${path}`, { userId, ...make(bundle, lane) });
      });
    },
  };
}

function words(): string {
  const entropy = new Uint8Array(randomBytes(32));
  return Buffer.from(toSentence(nobleKeyMaths, { entropy, language: "MNEMONIC_LANGUAGE_ENGLISH" })).toString();
}

/** Of everything that can be exported, one. */
const exported = (
  courseOf: (made: { walletId: string; address: string; privateKeyId: string }) => CourseOf,
): Flood => ({
  async begin(tenant) {
    const made = (
      await tenant.act("create_wallet", { walletName: randomUUID(), accounts: accounts(0), mnemonicLength: 24 })
    ).result;
    const [privateKeyId = ""] = await privateKeys(tenant, 1);
    return courseOf({ walletId: made.walletId, address: made.addresses[0], privateKeyId });
  },
});

export const keyFloods = {
  create_wallet: flood(
    submitting("create_wallet", (_, turn) => ({
      ...{ walletName: randomUUID(), accounts: accounts(turn), mnemonicLength: 24 },
    })),
  ),
  create_wallet_accounts: deepAccounts,
  create_private_keys: flood(
    submitting("create_private_keys", () => ({
      privateKeys: Array.from({ length: 100 }, () => {
        return { privateKeyName: randomUUID(), curve, privateKeyTags: [], addressFormats: taproot };
      }),
    })),
  ),
  delete_wallets: flood(manyWallets),
  delete_wallet_accounts: thousandAccounts,
  delete_private_keys: flood(thousandKeys),
  create_private_key_tag: keyTags(1),
  delete_private_key_tags: keyTags(1),
  update_private_key_tag: keyTagOfAll,
  export_wallet: exported(({ walletId }) => submitting("export_wallet", () => ({ walletId, ...target() }))),
  export_wallet_account: exported(({ address }) =>
    submitting("export_wallet_account", () => ({ address, ...target() })),
  ),
  export_private_key: exported(({ privateKeyId }) =>
    submitting("export_private_key", () => ({ privateKeyId, ...target() })),
  ),
  init_import_wallet: flood(submitting("init_import_wallet", ({ user: { userId } }) => ({ userId }))),
  init_import_private_key: flood(submitting("init_import_private_key", ({ user: { userId } }) => ({ userId }))),
  import_wallet: importing("wallet", (encryptedBundle) => ({
    ...{ walletName: randomUUID(), encryptedBundle, accounts: accounts(0) },
  })),
  import_private_key: importing("private_key", (encryptedBundle) => ({
    ...{ privateKeyName: randomUUID(), encryptedBundle, curve, addressFormats: taproot },
  })),
  update_wallet: {
    async begin(tenant) {
      const ids = await wallets(tenant);
      return submitting("update_wallet", ({ index }) => ({ walletId: ids[index], walletName: randomUUID() }));
    },
  },
} satisfies Partial<Record<ActivityPath, Flood>>;

/** Beside those of the endpoints, with more that happened before. */
export const laterKeyFloods = { "delete_private_keys after many": afterMany } satisfies Record<string, Flood>;
