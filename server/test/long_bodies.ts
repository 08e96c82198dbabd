/**
 * Parameters that are as long as a body may be, each of them dear in another way: to parse, to hash, to compile or to derive. What
 * they ask for is done, not refused: a refusal ends early.
 */
import { randomUUID } from "node:crypto";
import {
  type BitcoinInput,
  type BitcoinTransaction,
  bitcoinId,
  serialiseWithoutWitnesses,
} from "@keystead/core/chains/bitcoin_transaction.ts";
import { type PsbtPair, serialisePsbt } from "@keystead/core/chains/psbt.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { toRlp } from "@keystead/core/encoding/rlp.ts";
import { bitcoinScripts } from "@keystead/core/keys/addresses/bitcoin.ts";

const bytes = (length: number, byte = 1) => new Uint8Array(length).fill(byte);
const nothing = new Uint8Array();

function spending(previousId: Uint8Array, vout = 0): BitcoinInput {
  return { previousId, vout, scriptSig: nothing, sequence: 0, witness: [] };
}

function psbtOf(transaction: BitcoinTransaction, inputs: readonly (readonly PsbtPair[])[]): string {
  const global = [{ key: bytes(1, 0), value: serialiseWithoutWitnesses(transaction) }];
  const outputs = transaction.outputs.map(() => []);
  const written = { transaction, global, inputs: inputs.map((pairs) => ({ pairs })), outputs };
  return toHex(serialisePsbt(written as unknown as Parameters<typeof serialisePsbt>[0]));
}

/** Inputs from before SegWit, and outputs: each digest hashes the whole transaction. */
export function legacyPsbt(publicKey: string, inputs: number, outputs: number): string {
  const script = bitcoinScripts.p2pkh(fromHex(publicKey)).output;
  const previous = Array.from({ length: inputs }, (_, vout): BitcoinTransaction => {
    const paid = { value: 100_000n, scriptPubKey: script };
    return { version: 2, inputs: [spending(bytes(32), vout)], outputs: [paid], lockTime: 0 };
  });
  const paid = Array.from({ length: outputs }, () => ({ value: 1n, scriptPubKey: script }));
  const spent = previous.map((transaction) => spending(bitcoinId(transaction)));
  const whole = (transaction: BitcoinTransaction) => serialiseWithoutWitnesses(transaction);
  return psbtOf(
    { version: 2, inputs: spent, outputs: paid, lockTime: 0 },
    previous.map((transaction) => [{ key: bytes(1, 0), value: whole(transaction) }]),
  );
}

/** Fields that mean nothing, in an input that is signed and in others that are not. */
export function psbtOfManyFields(publicKey: string, maps: number, fields: number): string {
  const script = bitcoinScripts.p2wpkh(fromHex(publicKey)).output;
  const claimed = { key: bytes(1), value: Uint8Array.of(16, 0, 0, 0, 0, 0, 0, 0, script.length, ...script) };
  const unknown = Array.from({ length: fields }, (_, i) => ({
    key: Uint8Array.of(0xf0, i >> 8, i & 0xff),
    value: nothing,
  }));
  const inputs = Array.from({ length: maps }, (_, vout) => spending(bytes(32), vout));
  const paid = [{ value: 1n, scriptPubKey: script }];
  return psbtOf(
    { version: 2, inputs, outputs: paid, lockTime: 0 },
    inputs.map(() => [claimed, ...unknown]),
  );
}

/** One input, which spends from a transaction of so many outputs. */
export function psbtOfManyOutputs(publicKey: string, outputs: number): string {
  const script = bitcoinScripts.p2pkh(fromHex(publicKey)).output;
  const others = Array.from({ length: outputs }, () => ({ value: 1n, scriptPubKey: nothing }));
  const own = { value: 100_000n, scriptPubKey: script };
  const previous = { version: 2, inputs: [spending(bytes(32))], outputs: [own, ...others], lockTime: 0 };
  const paid = [{ value: 1n, scriptPubKey: script }];
  const pairs = [{ key: bytes(1, 0), value: serialiseWithoutWitnesses(previous) }];
  return psbtOf({ version: 2, inputs: [spending(bitcoinId(previous))], outputs: paid, lockTime: 0 }, [pairs]);
}

/** EIP-1559, with an access list of so many addresses, or with data. */
export function ethereumTransaction({ addresses = 0, dataLength = 0 }): string {
  const accessList = Array.from({ length: addresses }, () => [bytes(20), []]);
  const [one, data] = [bytes(1), bytes(dataLength)];
  return `02${toHex(toRlp([one, one, one, one, one, bytes(20), nothing, data, accessList]))}`;
}

/** Typed data of almost as many values as there may be, and almost as long. */
export function longTypedData(): string {
  const types = { EIP712Domain: [], Message: [{ name: "texts", type: "string[]" }] };
  const texts = Array.from({ length: 4_000 }, () => "abcdefghijklmnopqrstuvwxyz");
  return JSON.stringify({ types, primaryType: "Message", domain: {}, message: { texts } });
}

/** An ABI of almost 400 KiB. */
export function longAbi(): string {
  const inputs = Array.from({ length: 30 }, () => ({ type: "uint256[][][]" }));
  return JSON.stringify(Array.from({ length: 480 }, (_, i) => ({ name: `f${i}`, inputs })));
}

/** An IDL of almost 400 KiB. */
export function longIdl(): string {
  const fields = Array.from({ length: 3 }, (_, j) => ({ name: `a${j}`, type: "u8" }));
  const types = Array.from({ length: 2_600 }, (_, i) => ({ name: `T${i}`, type: { kind: "struct", fields } }));
  const args = (i: number) => [{ name: "a", type: { defined: `T${i}` } }];
  const instructions = Array.from({ length: 500 }, (_, i) => ({ name: `i${i}`, accounts: [], args: args(i) }));
  return JSON.stringify({ instructions, types });
}

const taproot = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"].map((net) => `ADDRESS_FORMAT_BITCOIN_${net}_P2TR`);

export function privateKeys(curve: string, addressFormats: readonly string[] = taproot) {
  const one = { curve, privateKeyTags: [], addressFormats };
  return { privateKeys: Array.from({ length: 100 }, () => ({ privateKeyName: randomUUID(), ...one })) };
}

export function deepAccounts() {
  return Array.from({ length: 100 }, (_, index) => ({
    curve: "CURVE_SECP256K1",
    pathFormat: "PATH_FORMAT_BIP32",
    path: `m/1/2/3/4/5/6/7/8/9/${index}`,
    addressFormat: taproot[0],
  }));
}
