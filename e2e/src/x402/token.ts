/** The token of `eip3009_token.sol` on a local chain. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type Address, createWalletClient, custom, type Hex, parseAbi } from "viem";
import { hardhat } from "viem/chains";
import type { Chain } from "../keys/chain.ts";

export const tokenAbi = parseAbi([
  "constructor(address[] holders, uint256 each)",
  "function name() view returns (string)",
  "function version() view returns (string)",
  "function balanceOf(address holder) view returns (uint256)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);

const code: Hex = `0x${readFileSync(new URL("eip3009_token.bin", import.meta.url), "utf8").replaceAll("\n", "")}`;

/** Pays for the gas: the first of the accounts that the chain was born with. */
export async function richWallet({ provider }: Chain) {
  const [account] = (await provider.request({ method: "eth_accounts" })) as Address[];
  assert.ok(account !== undefined);
  return createWalletClient({ account, chain: hardhat, transport: custom(provider) });
}

export async function deployToken(chain: Chain, holders: readonly Address[], each: bigint): Promise<Address> {
  const rich = await richWallet(chain);
  const hash = await rich.deployContract({ abi: tokenAbi, bytecode: code, args: [holders, each] });
  const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
  assert.ok(contractAddress);
  return contractAddress;
}

export function balanceOf({ client }: Chain, token: Address, holder: Address): Promise<bigint> {
  return client.readContract({ address: token, abi: tokenAbi, functionName: "balanceOf", args: [holder] });
}
