/**
 * Signing a PSBT: which of its inputs a key can spend, what to sign for each, and where the signatures go. It is never
 * finalized here; whoever gathers the signatures does that.
 */
import { sameBytes } from "../encoding/bytes.ts";
import { toEcdsaDer } from "../encoding/der.ts";
import { Fault } from "../fault.ts";
import { bitcoinScripts } from "../keys/addresses/bitcoin.ts";
import { finish, mapWithPauses, type Work } from "../work.ts";
import { p2sh } from "./bitcoin.ts";
import { type BitcoinOutput, serialiseWithoutWitnesses } from "./bitcoin_transaction.ts";
import {
  maxTransactionLength,
  type Psbt,
  type PsbtInput,
  type PsbtPair,
  psbtIn,
  serialisingPsbt,
  withInputPairs,
} from "./psbt.ts";
import { type Sighashes, sighashAll, sighashDefault, sighashesOf } from "./sighash.ts";
import { checkSignature } from "./signature.ts";
import { unparsable } from "./strict_parsing.ts";

/** The address types of one key, and P2SH around the two scripts from before SegWit. */
export type SpendableScript = keyof typeof spendings;

type SpentScripts = { output: Uint8Array; redeem?: Uint8Array; witness?: Uint8Array };

type Spending = {
  /** The scripts of a compressed public key. */
  scripts(key: Uint8Array): SpentScripts;
  kind: "legacy" | "segwit" | "taproot";
  /** The script that the digest commits to. */
  scriptCode(scripts: SpentScripts, key: Uint8Array): Uint8Array;
};

/** BIP-143 gives a bare key hash the script code of P2PKH. */
const keyHashCode: Spending["scriptCode"] = (_, key) => bitcoinScripts.p2pkh(key).output;

function insideP2sh(script: (key: Uint8Array) => Uint8Array): Spending["scripts"] {
  return (key) => {
    const redeem = script(key);
    return { output: p2sh(redeem), redeem };
  };
}

const spendings = {
  p2pkh: { scripts: bitcoinScripts.p2pkh, kind: "legacy", scriptCode: ({ output }) => output },
  p2sh: { scripts: bitcoinScripts.p2sh, kind: "segwit", scriptCode: keyHashCode },
  p2wpkh: { scripts: bitcoinScripts.p2wpkh, kind: "segwit", scriptCode: keyHashCode },
  p2wsh: { scripts: bitcoinScripts.p2wsh, kind: "segwit", scriptCode: ({ witness, output }) => witness ?? output },
  p2tr: { scripts: bitcoinScripts.p2tr, kind: "taproot", scriptCode: ({ output }) => output },
  p2sh_p2pkh: {
    scripts: insideP2sh((key) => bitcoinScripts.p2pkh(key).output),
    kind: "legacy",
    scriptCode: ({ redeem, output }) => redeem ?? output,
  },
  p2sh_p2pk: {
    scripts: insideP2sh((key) => bitcoinScripts.p2wsh(key).witness),
    kind: "legacy",
    scriptCode: ({ redeem, output }) => redeem ?? output,
  },
} as const satisfies Record<string, Spending>;

/** Every script that can be asked for. */
export const spendableScripts = Object.keys(spendings) as readonly SpendableScript[];

/** One input to sign. */
export type BitcoinSigningInput = {
  index: number;
  /** Taproot is signed with the tweaked key. */
  scheme: "ecdsa" | "bip340_taproot";
  hashType: number;
  digest: Uint8Array;
};

/**
 * The inputs that lock to this compressed key by one of these scripts, with their digests. Finalized ones are left alone,
 * foreign ones too; one that is ours but cannot be signed safely refuses the whole, and so does there being none.
 */
export function getSigningInputs(
  psbt: Psbt,
  publicKey: Uint8Array,
  types: readonly SpendableScript[],
): readonly BitcoinSigningInput[] {
  return finish(digestingInputs(psbt, publicKey, types));
}

/** The same with a pause after each digest; `sha256` may be a faster one than runs everywhere. */
export function* digestingInputs(
  psbt: Psbt,
  publicKey: Uint8Array,
  types: readonly SpendableScript[],
  sha256?: (bytes: Uint8Array) => Uint8Array,
): Work<readonly BitcoinSigningInput[]> {
  const candidates = types.map((type) => {
    const spending: Spending = spendings[type];
    return { spending, scripts: spending.scripts(publicKey) };
  });
  const ours = psbt.inputs.flatMap((input, index) => {
    const output = input.spent;
    if (output === undefined || input.isFinal) return [];
    const found = candidates.find(({ scripts }) => sameBytes(scripts.output, output.scriptPubKey));
    return found === undefined ? [] : [{ index, input, output, ...found }];
  });
  if (ours.length === 0) throw unparsable("no input of it can be signed with this key");
  checkSignedLength(psbt, ours.filter(({ spending }) => spending.kind === "legacy").length);
  const sighashes = sighashesOf(psbt.transaction, sha256);
  const spent = psbt.inputs.map((input) => input.spent);
  return yield* mapWithPauses(ours, ({ index, input, output, spending, scripts }) => {
    checkOwn(input, spending, scripts, publicKey, `input ${index}`);
    const hashType = input.sighashType ?? (spending.kind === "taproot" ? sighashDefault : sighashAll);
    const scriptCode = spending.scriptCode(scripts, publicKey);
    const digest = digests[spending.kind](sighashes, { index, scriptCode, amount: output.value, spent, hashType });
    return { index, scheme: spending.kind === "taproot" ? "bip340_taproot" : "ecdsa", hashType, digest };
  });
}

/**
 * A signature and a key take at least this much in an input without witness. Each such digest hashes the whole
 * transaction, so thousands of them would take seconds; what nodes still relay takes a fraction of one.
 */
const leastScriptSig = 100;

function checkSignedLength({ transaction }: Psbt, legacyInputs: number): void {
  const length = serialiseWithoutWitnesses(transaction).length + leastScriptSig * legacyInputs;
  if (length > maxTransactionLength) throw unparsable(`over ${maxTransactionLength} bytes once it is signed`);
}

type DigestInput = {
  index: number;
  scriptCode: Uint8Array;
  amount: bigint;
  spent: readonly (BitcoinOutput | undefined)[];
  hashType: number;
};

const digests: Record<Spending["kind"], (sighashes: Sighashes, input: DigestInput) => Uint8Array> = {
  legacy: (sighashes, { index, scriptCode, hashType }) => sighashes.legacy(index, scriptCode, hashType),
  segwit: (sighashes, { index, scriptCode, amount, hashType }) => sighashes.segwit(index, scriptCode, amount, hashType),
  taproot(sighashes, { index, spent, hashType }) {
    const isComplete = (outputs: DigestInput["spent"]): outputs is readonly BitcoinOutput[] =>
      !outputs.includes(undefined);
    if (!isComplete(spent)) throw unparsable("Taproot signs what every input spends, and some do not say");
    return sighashes.taproot(index, spent, hashType);
  },
};

/** The documented rules for what must and must not stand beside an input that we sign. */
function checkOwn(
  input: PsbtInput,
  { kind }: Spending,
  { redeem, witness }: SpentScripts,
  publicKey: Uint8Array,
  where: string,
): void {
  checkScript(`${where}: redeem_script`, redeem, input.redeemScript);
  checkScript(`${where}: witness_script`, witness, input.witnessScript);
  if (kind === "legacy" && input.nonWitnessUtxo === undefined) throw unparsable(`${where}: needs its non_witness_utxo`);
  if (kind === "legacy" && input.witnessUtxo !== undefined) throw unparsable(`${where}: witness_utxo without witness`);
  const hashTypes: readonly number[] = kind === "taproot" ? [sighashDefault, sighashAll] : [sighashAll];
  if (input.sighashType !== undefined && !hashTypes.includes(input.sighashType)) {
    throw unparsable(`${where}: only SIGHASH_ALL, and SIGHASH_DEFAULT for Taproot, are signed`);
  }
  if (kind !== "taproot") return;
  if (input.hasTapScripts) throw unparsable(`${where}: Taproot scripts are not signed, only key spends`);
  if (input.tapInternalKey !== undefined && !sameBytes(input.tapInternalKey, publicKey.subarray(1))) {
    throw unparsable(`${where}: tap_internal_key is not the key of the output that is spent`);
  }
}

function checkScript(what: string, needed: Uint8Array | undefined, given: Uint8Array | undefined): void {
  if (needed === undefined && given === undefined) return;
  if (given === undefined) throw unparsable(`${what} is missing`);
  if (needed === undefined || !sameBytes(needed, given)) throw unparsable(`${what} is not the one of its output`);
}

type SignedInput = { input: BitcoinSigningInput; signature: Uint8Array };

/** The PSBT with a signature of 64 bytes for each input: r‖s, or BIP-340's. Everything else stays as it came. */
export function withBitcoinSignatures(
  psbt: Psbt,
  publicKey: Uint8Array,
  signed: readonly SignedInput[],
): Uint8Array<ArrayBuffer> {
  return finish(addingBitcoinSignatures(psbt, publicKey, signed));
}

/** Signatures that are written between two pauses. */
const signaturesAtOnce = 50;

/** The same with pauses. */
export function* addingBitcoinSignatures(
  psbt: Psbt,
  publicKey: Uint8Array,
  signed: readonly SignedInput[],
): Work<Uint8Array<ArrayBuffer>> {
  const pairOf = ({ input: { index, scheme, hashType }, signature }: SignedInput): [number, PsbtPair] => [
    index,
    { key: keys[scheme](publicKey), value: values[scheme](signature, hashType) },
  ];
  const pairs = yield* mapWithPauses(signed, pairOf, signaturesAtOnce);
  return yield* serialisingPsbt(withInputPairs(psbt, new Map(pairs)));
}

type Scheme = BitcoinSigningInput["scheme"];

const keys: Record<Scheme, (publicKey: Uint8Array) => Uint8Array> = {
  ecdsa: (publicKey) => Uint8Array.of(psbtIn.partialSig, ...publicKey),
  bip340_taproot: () => Uint8Array.of(psbtIn.tapKeySig),
};

const values: Record<Scheme, (signature: Uint8Array, hashType: number) => Uint8Array> = {
  ecdsa(signature, hashType) {
    checkSignature({ r: signature.subarray(0, 32), s: signature.subarray(32), yParity: 0 });
    return Uint8Array.of(...toEcdsaDer(signature), hashType);
  },
  bip340_taproot(signature, hashType) {
    if (signature.length !== 64) throw new Fault("internal", "unusable signature: BIP-340's have 64 bytes");
    // BIP-341: the default type is said by leaving it out.
    return Uint8Array.of(...signature, ...(hashType === sighashDefault ? [] : [hashType]));
  },
};
