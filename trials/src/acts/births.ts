/** A sub-organization that is born with a wallet: two organizations, keys and a sealed seed in one transaction. */
import assert from "node:assert/strict";
import type { ActivityEntry } from "@keystead/e2e/matrix/entry.ts";
import type { Json } from "@keystead/e2e/matrix/fixture.ts";
import { ethereum, solana } from "@keystead/e2e/matrix/keys.ts";
import { activityTable } from "@keystead/e2e/matrix/table.ts";
import { type Act, ownAct } from "./act.ts";

const plain = activityTable.create_sub_organization;

const born: ActivityEntry = {
  ...plain,
  good: async (fixture) => ({
    ...(await plain.good(fixture)),
    wallet: { walletName: "Wallet", accounts: [ethereum, solana] },
  }),
  result: (sent, seen, fixture) => ({ ...plain.result(sent, seen, fixture), wallet: seen.result.wallet }),
  async shows(sent, seen, fixture) {
    await plain.shows(sent, seen, fixture);
    const { subOrganizationId, wallet } = seen.result;
    const at = { ...fixture.place, organizationId: subOrganizationId };
    const { wallets } = await fixture.ask("list_wallets", {}, fixture.place.root, at);
    assert.deepEqual(
      wallets.map(({ walletId }: Json) => walletId),
      [wallet.walletId],
    );
    const { accounts } = await fixture.ask("list_wallet_accounts", {}, fixture.place.root, at);
    assert.deepEqual(
      accounts.map(({ address }: Json) => address),
      wallet.addresses,
    );
  },
};

export const bearWithWallet: Act = ownAct("create_sub_organization", born);
