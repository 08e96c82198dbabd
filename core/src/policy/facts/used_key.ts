/** What policies see of the key that an activity uses. */
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { accountBytes } from "../../keys/addresses/ethereum.ts";
import type { Curve } from "../../keys/key_curves.ts";
import { derivedPath, hardened, parsePath } from "../../keys/path.ts";
import { EvmText, type Struct, type Value } from "../values/values.ts";
import { once } from "./once.ts";

export type WalletView = { walletId: string; walletName: string; imported: boolean; exported: boolean };

/** A key that an activity uses, as its owner knows it. `publicKey` is hex, in either form of its curve. */
export type KeyView =
  | {
      kind: "walletAccount";
      wallet: WalletView;
      address: string;
      addressFormat: string;
      path: string;
      curve: string;
      publicKey: string;
    }
  | {
      kind: "privateKey";
      privateKeyId: string;
      privateKeyName: string;
      tags: readonly string[];
      imported: boolean;
      exported: boolean;
      /** Those by which it was named; absent when that was its id. */
      addressFormat?: string;
      address?: string;
      curve: string;
      publicKey: string;
    };

type AccountView = Extract<KeyView, { kind: "walletAccount" }>;

export function walletStruct({ walletId, walletName, imported, exported }: WalletView): Struct {
  return { id: walletId, label: walletName, imported, exported };
}

/** Either a wallet and its account, or a private key: never both. */
export function keyNamespaces(key: KeyView): { wallet: Struct; wallet_account: Struct } | { private_key: Struct } {
  if (key.kind === "walletAccount") return { wallet: walletStruct(key.wallet), wallet_account: new AccountFacts(key) };
  const { privateKeyId, privateKeyName, tags, imported, exported } = key;
  return { private_key: { id: privateKeyId, label: privateKeyName, tags, imported, exported } };
}

/** The path is read when a policy asks for it. */
class AccountFacts {
  readonly [field: string]: Value | undefined;
  readonly address: EvmText | string;
  readonly #account: AccountView;

  constructor(account: AccountView) {
    const { address, addressFormat } = account;
    this.address = isEvm(addressFormat) ? new EvmText(address) : address;
    this.#account = account;
  }

  get path_indexes(): readonly bigint[] | undefined {
    return findPath(this.#account)?.map((index) => BigInt(index % hardened));
  }

  get path_hardened(): readonly boolean[] | undefined {
    return findPath(this.#account)?.map((index) => index >= hardened);
  }
}

/** The path that is derived: on Ed25519 that is all hardened, however it was written, so that one key has one answer. */
function findPath({ curve, path }: AccountView): readonly number[] | undefined {
  try {
    return derivedPath(curve as Curve, parsePath(path));
  } catch {
    // Evaluation does not throw. Records hold only real paths and curves; hand-written test cases may not.
    return undefined;
  }
}

function isEvm(addressFormat: string | undefined): boolean {
  return addressFormat === "ADDRESS_FORMAT_ETHEREUM";
}

/**
 * The EVM account of the key: `from` of a transaction, which does not say it itself. A key that was not named by its EVM
 * address has one all the same, computed when first asked for. Undefined for keys on other curves.
 */
export function evmAccount({ address, addressFormat, curve, publicKey }: KeyView): () => EvmText | undefined {
  if (isEvm(addressFormat) && address !== undefined) {
    const account = new EvmText(address);
    return () => account;
  }
  return once(() => (curve === "CURVE_SECP256K1" ? accountOf(publicKey) : undefined));
}

function accountOf(publicKey: string): EvmText | undefined {
  try {
    const point = secp256k1.Point.fromBytes(fromHex(publicKey));
    const key = { compressed: point.toBytes(true), uncompressed: point.toBytes(false) };
    return new EvmText(`0x${toHex(accountBytes(key))}`);
  } catch {
    // As with paths.
    return undefined;
  }
}
