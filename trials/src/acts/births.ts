/** A sub-organization that is born with a wallet: two organizations, keys and a sealed seed in one transaction. */
import assert from "node:assert/strict";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import { ethereum, solana } from "@keystead/e2e/matrix/keys.ts";
import type { Json } from "@keystead/e2e/matrix/scene.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import { type Act, ownAct } from "./act.ts";

const plain = activityTable.create_sub_organization;

const born: ActivityEntry = {
  ...plain,
  good: async (scene) => ({
    ...(await plain.good(scene)),
    wallet: { walletName: "Wallet", accounts: [ethereum, solana] },
  }),
  result: (sent, seen, scene) => ({ ...plain.result(sent, seen, scene), wallet: seen.result.wallet }),
  async shows(sent, seen, scene) {
    await plain.shows(sent, seen, scene);
    const { subOrganizationId, wallet } = seen.result;
    const at = { ...scene.place, organizationId: subOrganizationId };
    const { wallets } = await scene.ask("list_wallets", {}, scene.place.root, at);
    assert.deepEqual(
      wallets.map(({ walletId }: Json) => walletId),
      [wallet.walletId],
    );
    const { accounts } = await scene.ask("list_wallet_accounts", {}, scene.place.root, at);
    assert.deepEqual(
      accounts.map(({ address }: Json) => address),
      wallet.addresses,
    );
  },
};

export const bearWithWallet: Act = ownAct("create_sub_organization", born);
