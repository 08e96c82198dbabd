/** `bitcoin.tx`, from the transaction in the PSBT whose inputs are signed. */
import { type BitcoinFacts, bitcoinFacts, readingBitcoinFacts } from "../../chains/bitcoin.ts";
import type { Psbt } from "../../chains/psbt.ts";
import { type AddressFormat, type AddressFormatRow, addressFormats } from "../../keys/address_formats.ts";
import type { BitcoinNetwork } from "../../keys/addresses/bitcoin.ts";
import type { Work } from "../../work.ts";
import type { Struct } from "../values/values.ts";

/** A transaction does not say its network: the signing address does, and without one it is the main network's. */
export function networkOf(addressFormat: string | undefined): BitcoinNetwork {
  if (addressFormat === undefined || !Object.hasOwn(addressFormats, addressFormat)) return "mainnet";
  return (addressFormats[addressFormat as AddressFormat] as AddressFormatRow).bitcoin?.network ?? "mainnet";
}

// A transaction that is read is never changed.
const known = new WeakMap<Psbt, { network: BitcoinNetwork; facts: BitcoinFacts }>();

function findFacts(psbt: Psbt, network: BitcoinNetwork): BitcoinFacts | undefined {
  const before = known.get(psbt);
  return before?.network === network ? before.facts : undefined;
}

/** Reads the facts of a transaction with pauses, so that `bitcoinStruct` has them at hand. */
export function* readyingBitcoin(psbt: Psbt, network: BitcoinNetwork): Work<void> {
  if (findFacts(psbt, network) !== undefined) return;
  known.set(psbt, { network, facts: yield* readingBitcoinFacts(psbt, network) });
}

/** The facts of a transaction. Outputs that no address can be written for have empty ones. */
export function bitcoinStruct(psbt: Psbt, network: BitcoinNetwork): Struct {
  const facts = findFacts(psbt, network) ?? bitcoinFacts(psbt, network);
  const { version, inputs, outputs, lockTime } = facts;
  return {
    version,
    inputs: inputs.map(({ txId, vout, sequence }) => ({ tx_id: txId, vout: BigInt(vout), sequence: BigInt(sequence) })),
    outputs: outputs.map(({ value, scriptPubKey, address, addressType }) => ({
      value,
      script_pubkey: scriptPubKey,
      address,
      address_type: addressType,
    })),
    locktime: { amount: BigInt(lockTime.amount), type: lockTime.type },
    fee: trustedFee(psbt, facts),
  };
}

/**
 * The fee, if no signature can be had with a false one. An input that brings the transaction it spends from proves its
 * amount; the others only claim theirs, and a SegWit signature is void under a false claim about its own input alone. So
 * whoever asks twice, with a lie about another input each time, holds two good signatures and never showed the true fee.
 * Left are: all amounts proven; one input, whose own signature commits to the claim; Taproot throughout, where each
 * signature commits to the amounts of all.
 */
function trustedFee({ inputs }: Psbt, { fee, isFeeProven }: BitcoinFacts): bigint | undefined {
  const isTaproot = inputs.every(({ spent }) => spent !== undefined && isTaprootScript(spent.scriptPubKey));
  return isFeeProven || inputs.length === 1 || isTaproot ? fee : undefined;
}

function isTaprootScript(script: Uint8Array): boolean {
  return script.length === 34 && script[0] === 0x51 && script[1] === 0x20;
}
