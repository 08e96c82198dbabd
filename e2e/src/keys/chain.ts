/** A local Ethereum chain: Hardhat's own node in this process, which mines a block for each transaction it accepts. */
import type { TestContext } from "node:test";
import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import { type Address, createPublicClient, custom, type Hex, type PublicClient, parseEther, toHex } from "viem";
import { hardhat } from "viem/chains";

type Provider = { request(request: { method: string; params?: unknown[] }): Promise<unknown> };

export type Chain = {
  provider: Provider;
  client: PublicClient;
  /** Sends ether from one of the accounts that the chain was born with. */
  fund(address: Address): Promise<void>;
};

/** Nothing is compiled, so nothing is downloaded: contracts come as bytes. */
export async function startChain(t: TestContext): Promise<Chain> {
  const { network } = await createHardhatRuntimeEnvironment({
    networks: { local: { type: "edr-simulated", chainType: "l1", chainId: hardhat.id, hardfork: "prague" } },
  });
  const connection = await network.connect("local");
  t.after(() => connection.close());
  const provider = connection.provider as Provider;
  const [rich] = (await provider.request({ method: "eth_accounts" })) as Address[];
  return {
    provider,
    client: createPublicClient({ chain: hardhat, transport: custom(provider) }),
    async fund(to) {
      const value = toHex(parseEther("1"));
      await provider.request({ method: "eth_sendTransaction", params: [{ from: rich, to, value }] });
    },
  };
}

/** Runs as `return 42`: PUSH1 42, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN. */
export const fortyTwo: Hex = "0x602a60005260206000f3";

/** Puts `fortyTwo` there: copies the ten bytes behind itself and returns them. */
export const deployFortyTwo: Hex = `0x600a600c600039600a6000f3${fortyTwo.slice(2)}`;
