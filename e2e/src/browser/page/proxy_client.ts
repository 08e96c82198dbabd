/** `@turnkey/core` with the auth proxy, and what its users do once they are signed in. */
import { type CreateSubOrgParams, TurnkeyClient } from "@turnkey/core";
import { type Hex, serializeTransaction } from "viem";
import { authProxyConfigId, authProxyUrl, baseUrl, parentId, rpId } from "./application.ts";
import { ethereumAccount } from "./wallets.ts";

/** The addresses of this server are all that distinguishes it from a client of the hosted service. */
export const client = new TurnkeyClient({
  apiBaseUrl: baseUrl,
  organizationId: parentId,
  authProxyUrl,
  authProxyConfigId,
  passkeyConfig: { rpId },
  walletConfig: {
    features: { auth: true, connecting: true },
    chains: { ethereum: { native: true }, solana: { native: true } },
  },
});
await client.init();

/** Every sign-up makes a wallet. */
export const createSubOrgParams: CreateSubOrgParams = {
  customWallet: { walletName: "Main", walletAccounts: [ethereumAccount] },
};

const transaction = serializeTransaction({
  type: "eip1559",
  chainId: 11_155_111,
  to: "0x116D8ce3c7E8F6a1f5bB6E7b6A2A0c8d4e0B6f11".toLowerCase() as Hex,
  value: 1n,
  gas: 21_000n,
  maxFeePerGas: 2_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
});

/** The account of the wallet that the sign-up made; not one of a wallet in the browser. */
async function ownAccount() {
  const wallet = (await client.fetchWallets()).find(({ source }) => source === "embedded");
  const account = wallet?.accounts[0];
  if (account === undefined) throw new Error("there is no wallet");
  return account;
}

export const signedInSteps = {
  session: async () => (await client.getSession()) ?? null,
  user: () => client.fetchUser(),
  async sign() {
    const walletAccount = await ownAccount();
    const signature = await client.signMessage({ walletAccount, message: "hello" });
    return { address: walletAccount.address, signature };
  },
  async signTransaction() {
    const walletAccount = await ownAccount();
    const signed = await client.signTransaction({
      walletAccount,
      unsignedTransaction: transaction,
      transactionType: "TRANSACTION_TYPE_ETHEREUM",
    });
    return { address: walletAccount.address, signed };
  },
  refresh: (expirationSeconds: string) => client.refreshSession({ expirationSeconds }),
  logOut: () => client.logout(),
};
