/** Calls of a token on Ethereum and of a program on Solana, and the interfaces that read them. */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { toRlp, toRlpInteger } from "@keystead/core/encoding/rlp.ts";

/** As its issuer writes it; the state keeps it in lower case. */
export const token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
export const payee = `0x${"5e".repeat(20)}`;

const word = (value: bigint) => value.toString(16).padStart(64, "0");

/** An unsigned EIP-1559 transaction in hex that moves so much of the token to an address. */
export function transferOf(amount: bigint, to = payee, contract = token): string {
  const data = fromHex(`a9059cbb${word(BigInt(to))}${word(amount)}`);
  const fees = [1n, 0n, 1n, 2n, 100_000n].map((value) => toRlpInteger(value));
  const call = [fromHex(contract.slice(2).toLowerCase()), toRlpInteger(0n), data, []];
  return `02${toHex(toRlp([...fees, ...call]))}`;
}

const input = (name: string, type: string) => ({ name, type });
export const tokenInterface = JSON.stringify([
  { type: "function", name: "transfer", inputs: [input("to", "address"), input("amount", "uint256")], outputs: [] },
]);

/** A program whose one instruction is the byte 7 and an amount. */
export const program = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4";
export const programInterface = JSON.stringify({
  instructions: [{ name: "pay", discriminator: [7], accounts: [], args: [{ name: "amount", type: "u64" }] }],
  types: [],
});

/** An unsigned Solana transaction in hex, by this key, that calls the program. */
export function payOf(amount: bigint, publicKey: Uint8Array, programKey: Uint8Array): string {
  const data = new Uint8Array(9);
  data[0] = 7;
  new DataView(data.buffer).setBigUint64(1, amount, true);
  const message = `01000102${toHex(publicKey)}${toHex(programKey)}${"09".repeat(32)}01010009${toHex(data)}`;
  return `01${"00".repeat(64)}${message}`;
}
