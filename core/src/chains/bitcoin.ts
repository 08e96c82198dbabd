/** A PSBT before it is signed: whether it can be, and what it says to a policy. */
import { sha256 } from "@noble/hashes/sha2.js";
import { sameBytes } from "../encoding/bytes.ts";
import { toHex } from "../encoding/hex.ts";
import { type BitcoinNetwork, bitcoinAddress } from "../keys/addresses/bitcoin.ts";
import { hash160 } from "../keys/addresses/hash160.ts";
import { finish, mapWithPauses, type Work } from "../work.ts";
import { type BitcoinOutput, checkAmounts, checkBitcoinTransaction, toTxId } from "./bitcoin_transaction.ts";
import { type Psbt, type PsbtInput, parsingPsbt } from "./psbt.ts";
import { unparsable } from "./strict_parsing.ts";

/** Reads a PSBT that is worth signing, or refuses it with the reason. */
export function parseBitcoin(bytes: Uint8Array): Psbt {
  return finish(parsingBitcoin(bytes));
}

/** Inputs that are checked, or outputs whose addresses are written, between two pauses. */
const partsAtOnce = 50;

/** The same with pauses. */
export function* parsingBitcoin(bytes: Uint8Array): Work<Psbt> {
  const psbt = yield* parsingPsbt(bytes);
  checkBitcoinTransaction(psbt.transaction);
  yield* mapWithPauses(psbt.inputs, (input, i) => checkInput(input, `input ${i}`), partsAtOnce);
  const { fee } = feeOf(psbt);
  if (fee !== undefined && fee < 0n) throw unparsable("it pays more than it spends");
  return psbt;
}

/** What BIP-174 asks of a signer before anything is signed: scripts and outputs of an input must belong together. */
function checkInput({ spent, witnessUtxo, redeemScript, witnessScript }: PsbtInput, where: string): void {
  if (spent === undefined) return;
  const isScriptHash = isP2sh(spent.scriptPubKey);
  if (redeemScript !== undefined && !sameBytes(spent.scriptPubKey, p2sh(redeemScript))) {
    throw unparsable(`${where}: redeem_script is not the one of the output that is spent`);
  }
  const inner = redeemScript ?? spent.scriptPubKey;
  if (witnessScript !== undefined && !sameBytes(inner, p2wsh(witnessScript))) {
    throw unparsable(`${where}: witness_script is not the one of the output that is spent`);
  }
  // Outside SegWit the amount is not signed, so a claim about it must come with the transaction that proves it.
  const mayHaveWitness = isWitnessProgram(inner) || (isScriptHash && redeemScript === undefined);
  if (witnessUtxo !== undefined && !mayHaveWitness) throw unparsable(`${where}: witness_utxo, but it has no witness`);
}

/** The output script that pays to the hash of another script. */
export function p2sh(script: Uint8Array): Uint8Array {
  return Uint8Array.of(0xa9, 0x14, ...hash160(script), 0x87);
}

function p2wsh(script: Uint8Array): Uint8Array {
  return Uint8Array.of(0x00, 0x20, ...sha256(script));
}

function isP2sh(script: Uint8Array): boolean {
  return script.length === 23 && script[0] === 0xa9 && script[1] === 0x14 && script[22] === 0x87;
}

/** BIP-141: a version opcode and one push of two to forty bytes. */
function isWitnessProgram(script: Uint8Array): boolean {
  const [version = 1, length = 0] = script;
  const isVersion = version === 0 || (version >= 0x51 && version <= 0x60);
  return isVersion && length >= 2 && length <= 40 && script.length === 2 + length;
}

/** What policies see of a transaction. */
export type BitcoinFacts = {
  version: string;
  inputs: readonly { txId: string; vout: number; sequence: number }[];
  /** `address` and `addressType` are empty where the script has no address: data, bare keys, multi-signatures. */
  outputs: readonly { value: bigint; scriptPubKey: string; address: string; addressType: string }[];
  lockTime: { amount: number; type: "Seconds" | "Blocks" };
  /** Undefined when an input does not say what it spends. */
  fee: bigint | undefined;
  /**
   * Whether every input comes with the transaction it spends from. Otherwise amounts are claims: a SegWit signature is
   * void under a false one, but two of them made under different claims can be joined into one transaction.
   */
  isFeeProven: boolean;
};

/** Output scripts by their first bytes and length. */
const addressTypes = [
  { type: "P2PKH", head: "76a914", length: 25 },
  { type: "P2SH", head: "a914", length: 23 },
  { type: "P2WPKH", head: "0014", length: 22 },
  { type: "P2WSH", head: "0020", length: 34 },
  { type: "P2TR", head: "5120", length: 34 },
] as const;

/** Lock times below this count blocks, all others seconds. */
const firstLockTimeInSeconds = 500_000_000;

/** The facts of a PSBT, with addresses as the given network writes them. */
export function bitcoinFacts(psbt: Psbt, network: BitcoinNetwork): BitcoinFacts {
  return finish(readingBitcoinFacts(psbt, network));
}

/** The same with pauses: an address is two hashes, and there may be thousands. */
export function* readingBitcoinFacts(psbt: Psbt, network: BitcoinNetwork): Work<BitcoinFacts> {
  const { version, inputs, outputs, lockTime } = psbt.transaction;
  const shown = ({ value, scriptPubKey }: BitcoinOutput) => outputFacts(value, scriptPubKey, network);
  return {
    version: String(version),
    inputs: inputs.map(({ previousId, vout, sequence }) => ({ txId: toTxId(previousId), vout, sequence })),
    outputs: yield* mapWithPauses(outputs, shown, partsAtOnce),
    lockTime: { amount: lockTime, type: lockTime < firstLockTimeInSeconds ? "Blocks" : "Seconds" },
    ...feeOf(psbt),
  };
}

function outputFacts(value: bigint, script: Uint8Array, network: BitcoinNetwork): BitcoinFacts["outputs"][number] {
  const scriptPubKey = toHex(script);
  const address = bitcoinAddress(network, script) ?? "";
  const row = addressTypes.find(({ head, length }) => script.length === length && scriptPubKey.startsWith(head));
  return { value, scriptPubKey, address, addressType: address === "" ? "" : (row?.type ?? "") };
}

function feeOf({ transaction, inputs }: Psbt): Pick<BitcoinFacts, "fee" | "isFeeProven"> {
  const spent = inputs.flatMap((input) => input.spent ?? []);
  const isKnown = spent.length === inputs.length;
  return {
    fee: isKnown ? checkAmounts(spent) - checkAmounts(transaction.outputs) : undefined,
    isFeeProven: inputs.every(({ nonWitnessUtxo }) => nonWitnessUtxo !== undefined),
  };
}
