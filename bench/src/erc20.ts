/** A transfer of a token, as policies of a treasury look at it. */
import { randomBytes } from "node:crypto";
import { type EthereumTransaction, serialiseEthereum } from "@keystead/core/chains/ethereum.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";

export const token = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48";

function describe(name: string, ...inputs: [name: string, type: string][]) {
  return { type: "function", name, inputs: inputs.map(([name, type]) => ({ name, type })) };
}

/** What an organization uploads for the token. */
export const abiText = JSON.stringify([
  describe("transfer", ["to", "address"], ["amount", "uint256"]),
  describe("transferFrom", ["from", "address"], ["to", "address"], ["amount", "uint256"]),
  describe("approve", ["spender", "address"], ["amount", "uint256"]),
  describe("balanceOf", ["owner", "address"]),
  describe("allowance", ["owner", "address"], ["spender", "address"]),
]);

const transferSelector = "a9059cbb";

/** An unsigned transaction in hex: a transfer of 250 to an address drawn by lot. */
export function unsignedTransfer(): string {
  const words = [randomBytes(20).toString("hex"), 250n.toString(16)].map((word) => word.padStart(64, "0"));
  const transaction: EthereumTransaction = {
    type: "TYPE_2",
    chainId: 1n,
    nonce: 7n,
    gas: 65_000n,
    gasPrice: 0n,
    maxFeePerGas: 30_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    to: fromHex(token.slice(2)),
    value: 0n,
    data: fromHex(`${transferSelector}${words.join("")}`),
    accessList: [],
    maxFeePerBlobGas: 0n,
    blobVersionedHashes: [],
    authorizationList: [],
  };
  return toHex(serialiseEthereum(transaction));
}
