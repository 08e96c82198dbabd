/** Signing up and in with a wallet in the browser, by `@turnkey/core`. */
import { Chain, type WalletProvider } from "@turnkey/core";
import { announceWallets } from "./injected_wallets.ts";
import { client, createSubOrgParams, signedInSteps } from "./proxy_client.ts";
import { offerSteps } from "./steps.ts";

const addresses = announceWallets();

export type WalletChain = keyof typeof addresses;
const chains: Record<WalletChain, Chain> = { ethereum: Chain.Ethereum, solana: Chain.Solana };

async function provider(chain: WalletChain): Promise<WalletProvider> {
  const [found, ...others] = await client.fetchWalletProviders(chains[chain]);
  if (found === undefined || others.length > 0) throw new Error("not exactly one wallet was found");
  return found;
}

const steps = {
  ...signedInSteps,
  address: async (chain: WalletChain) => addresses[chain],
  async signUpOrIn(chain: WalletChain) {
    const walletProvider = await provider(chain);
    const { action, address, sessionToken } = await client.loginOrSignupWithWallet({
      walletProvider,
      createSubOrgParams,
    });
    return { action, address, sessionToken };
  },
  signUp: async (chain: WalletChain) =>
    client.signUpWithWallet({ walletProvider: await provider(chain), createSubOrgParams }),
  logIn: async (chain: WalletChain) => client.loginWithWallet({ walletProvider: await provider(chain) }),
};

export type ExternalWalletSteps = typeof steps;
offerSteps(steps);
