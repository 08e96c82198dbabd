/** Wallets and their accounts as clients see them. */
import { type AddressFormat, type AddressFormatRow, addressFormats } from "@keystead/core/keys/address_formats.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import type { WalletAccountRow, WalletRow } from "../store/wallets.ts";
import { timestamp } from "./dialect.ts";

export function walletView(row: WalletRow) {
  return {
    walletId: row.wallet_id,
    walletName: row.wallet_name,
    createdAt: timestamp(row.created_at_ms),
    updatedAt: timestamp(row.updated_at_ms),
    exported: row.exported === 1,
    imported: row.imported === 1,
  };
}

/** With its wallet, where that is asked for. */
export function walletAccountView(row: WalletAccountRow, wallet?: WalletRow) {
  const addressFormat = row.address_format as AddressFormat;
  const { caip2Prefix }: AddressFormatRow = addressFormats[addressFormat];
  return {
    walletAccountId: row.wallet_account_id,
    organizationId: row.organization_id,
    walletId: row.wallet_id,
    curve: row.curve as Curve,
    pathFormat: "PATH_FORMAT_BIP32" as const,
    path: row.path,
    addressFormat,
    address: row.address,
    createdAt: timestamp(row.created_at_ms),
    updatedAt: timestamp(row.updated_at_ms),
    publicKey: row.public_key,
    ...(wallet !== undefined && { walletDetails: walletView(wallet) }),
    ...(row.account_name !== null && { name: row.account_name }),
    ...(caip2Prefix !== undefined && { caip2Prefix }),
  };
}
