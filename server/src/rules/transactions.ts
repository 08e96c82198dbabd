/** The transaction types: which keys sign each, what they sign of it, and where the signatures go. */
import {
  addingBitcoinSignatures,
  digestingInputs,
  type SpendableScript,
} from "@keystead/core/chains/bitcoin_signing.ts";
import { ethereumDigest, withEthereumSignature } from "@keystead/core/chains/ethereum.ts";
import { getSolanaSlot, solanaMessage, withSolanaSignature } from "@keystead/core/chains/solana.ts";
import { tempoDigest, withTempoSignature } from "@keystead/core/chains/tempo.ts";
import {
  readingTransaction,
  type Transaction,
  type TransactionRequest,
  type TransactionType,
} from "@keystead/core/chains/transactions.ts";
import { tronDigest, withTronSignature } from "@keystead/core/chains/tron.ts";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import type { Signature } from "@keystead/core/crypto/signing.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type AddressFormat, type AddressFormatRow, addressFormats } from "@keystead/core/keys/address_formats.ts";
import type { BitcoinScriptType } from "@keystead/core/keys/addresses/bitcoin.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import type { Work } from "@keystead/core/work.ts";
import { maxTransactionSignatures } from "../endpoints/cost.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { getSigningResource, type SigningResource } from "./keys.ts";
import { signAll, type ToSign } from "./signing.ts";

/** The key that is to sign a transaction. */
type TransactionKey = {
  /** Compressed, or the 32 bytes of an Ed25519 key. Most chains do not ask. */
  publicKey(): Uint8Array;
  /** Undefined for a private key that was named by its id. */
  addressFormat: AddressFormat | undefined;
};

/** A transaction that was read, before it is signed. */
type Readied = {
  items: readonly ToSign[];
  /** The transaction with one signature for each item, in their order. */
  withSignatures(signatures: readonly Signature[]): Uint8Array | Work<Uint8Array>;
};

type Hashes = Pick<Curves, "sha256" | "keccak256">;

type TransactionTypeRow = {
  curve: Curve;
  /** Whether addresses of this format live on the chain. */
  isFor(format: AddressFormat): boolean;
  reading(request: TransactionRequest, key: TransactionKey, hashes: Hashes): Work<Readied>;
};

/** A chain whose transactions take one recoverable ECDSA signature of secp256k1 over one digest. */
function recoverable<T extends TransactionType>(
  type: T,
  format: AddressFormat,
  digest: (transaction: Transaction<T>, hashes: Hashes) => Uint8Array,
  withSignature: (transaction: Transaction<T>, signature: Signature) => Uint8Array,
): TransactionTypeRow {
  return {
    curve: "CURVE_SECP256K1",
    isFor: (other) => other === format,
    *reading(request, _, hashes) {
      const transaction = yield* readingTransaction(type, request);
      return {
        items: [{ scheme: "ecdsa", bytes: digest(transaction, hashes) }],
        withSignatures: ([only]) => withSignature(transaction, present(only)),
      };
    },
  };
}

/** One row per `type` of the wire. */
const transactionTypes = {
  TRANSACTION_TYPE_ETHEREUM: recoverable(
    "TRANSACTION_TYPE_ETHEREUM",
    "ADDRESS_FORMAT_ETHEREUM",
    ethereumDigest,
    withEthereumSignature,
  ),
  TRANSACTION_TYPE_TEMPO: recoverable(
    "TRANSACTION_TYPE_TEMPO",
    "ADDRESS_FORMAT_ETHEREUM",
    tempoDigest,
    withTempoSignature,
  ),
  TRANSACTION_TYPE_TRON: recoverable("TRANSACTION_TYPE_TRON", "ADDRESS_FORMAT_TRON", tronDigest, withTronSignature),
  TRANSACTION_TYPE_SOLANA: {
    curve: "CURVE_ED25519",
    isFor: (format) => format === "ADDRESS_FORMAT_SOLANA",
    *reading(request, key) {
      const publicKey = key.publicKey();
      const transaction = yield* readingTransaction("TRANSACTION_TYPE_SOLANA", request);
      // Asked before anything is signed: the key may not be one of its signers.
      getSolanaSlot(transaction, publicKey);
      return {
        items: [{ scheme: "ed25519", bytes: solanaMessage(transaction) }],
        withSignatures: ([only]) => withSolanaSignature(transaction, publicKey, joined(present(only))),
      };
    },
  },
  TRANSACTION_TYPE_BITCOIN: {
    curve: "CURVE_SECP256K1",
    isFor: (format) => scriptOf(format) !== undefined,
    *reading(request, { publicKey: publicKeyOf, addressFormat }, { sha256 }) {
      const publicKey = publicKeyOf();
      const psbt = yield* readingTransaction("TRANSACTION_TYPE_BITCOIN", request);
      const inputs = yield* digestingInputs(psbt, publicKey, spendableBy(addressFormat), sha256);
      return {
        items: inputs.map(({ scheme, digest }) => ({ scheme, bytes: digest })),
        withSignatures(signatures) {
          const signed = inputs.map((input, index) => ({ input, signature: joined(present(signatures[index])) }));
          return addingBitcoinSignatures(psbt, publicKey, signed);
        },
      };
    },
  },
} as const satisfies Record<TransactionType, TransactionTypeRow>;

/** What an address of each script type spends. Under a P2SH address that is also what older wallets put there. */
const spendable: Record<BitcoinScriptType, readonly SpendableScript[]> = {
  p2pkh: ["p2pkh"],
  p2sh: ["p2sh", "p2sh_p2pkh", "p2sh_p2pk"],
  p2wpkh: ["p2wpkh"],
  p2wsh: ["p2wsh"],
  p2tr: ["p2tr"],
};

function scriptOf(format: AddressFormat): BitcoinScriptType | undefined {
  return (addressFormats[format] as AddressFormatRow).bitcoin?.script;
}

/** A key without a Bitcoin address spends whatever is locked to it. */
function spendableBy(format: AddressFormat | undefined): readonly SpendableScript[] {
  const script = format && scriptOf(format);
  return script === undefined ? Object.values(spendable).flat() : spendable[script];
}

/** Formats that say nothing but the key, so that they belong to no chain and to all. */
const bareFormats: readonly AddressFormat[] = ["ADDRESS_FORMAT_COMPRESSED", "ADDRESS_FORMAT_UNCOMPRESSED"];

/** Another chain's address refuses: whoever names it means another transaction than this one. */
function checkFits(type: TransactionType, row: TransactionTypeRow, { record, addressFormat }: SigningResource): void {
  if (record.curve !== row.curve) {
    throw new Fault("invalid_argument", `invalid curve: ${type} is signed with a key on ${row.curve}`);
  }
  if (addressFormat === undefined || bareFormats.includes(addressFormat) || row.isFor(addressFormat)) return;
  throw new Fault("invalid_argument", `invalid address format: ${type} is not signed with an ${addressFormat}`);
}

/** Reads a transaction in hex, signs what of it the key may sign, and gives it back in hex. */
export function* signTransactionText(
  { keys, curves }: Pick<ActivityContext, "keys" | "curves">,
  request: TransactionRequest & { signWith: string },
): Work<string> {
  const { type, signWith } = request;
  const resource = getSigningResource(keys, signWith);
  const row: TransactionTypeRow = transactionTypes[type];
  checkFits(type, row, resource);
  const { record, addressFormat } = resource;
  const publicKey = () => {
    const stored = fromHex(record.publicKey);
    return row.curve === "CURVE_ED25519" ? stored : curves.compressPoint("secp256k1", stored);
  };
  const { items, withSignatures } = yield* row.reading(request, { publicKey, addressFormat }, curves);
  if (items.length > maxTransactionSignatures) {
    throw new Fault(
      "invalid_argument",
      `too many inputs: ${items.length} of this transaction are signed by one key, where ${maxTransactionSignatures} are taken`,
    );
  }
  const signed = withSignatures(yield* signAll(keys, resource, items));
  return toHex("next" in signed ? yield* signed : signed);
}

function joined({ r, s }: Signature): Uint8Array {
  const bytes = new Uint8Array(64);
  bytes.set(r);
  bytes.set(s, 32);
  return bytes;
}

function present(signature: Signature | undefined): Signature {
  if (signature === undefined) throw new Fault("internal", "fewer signatures than there are things to sign");
  return signature;
}
