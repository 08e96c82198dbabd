/** Wallets and their accounts: as they are asked for, and as they are shown. */
import { addressFormatNames } from "@keystead/core/keys/address_formats.ts";
import { curveNames } from "@keystead/core/keys/key_curves.ts";
import { component } from "./component.ts";
import { optional } from "./credentials.ts";
import { name } from "./names.ts";
import { type Static, Type } from "./schema.ts";
import { timestamp } from "./timestamp.ts";

export const addressFormat = Type.Enum([...addressFormatNames], { description: "How the address is written." });
export const curve = Type.Enum([...curveNames], { description: "Curve of the key." });
const pathFormat = Type.Enum(["PATH_FORMAT_BIP32"], { description: "How the path is written." });
const path = Type.String({ maxLength: 1_000, description: "Path of the account below the wallet's seed." });

/** An account to be derived. */
export const walletAccountParams = Type.Object({
  curve,
  pathFormat,
  path,
  addressFormat,
  name: optional(name("Human-readable name of the account, unique in the organization.")),
});

export type WalletAccountParams = Static<typeof walletAccountParams>;

export const walletName = name("Human-readable name of the wallet, unique in the organization.");

export const walletAccounts = Type.Array(walletAccountParams, {
  maxItems: 100,
  description: "Accounts, may be empty.",
});

export const walletParams = Type.Object({
  walletName,
  accounts: walletAccounts,
  mnemonicLength: optional(Type.Enum([12, 15, 18, 21, 24], { description: "Words; 12 when left out." })),
});

export type WalletParams = Static<typeof walletParams>;

/** One address per account that was asked for, in the same order. */
export const addresses = Type.Array(Type.String(), { description: "The accounts' addresses, in the order asked for." });

export const walletResult = Type.Object({
  walletId: Type.String({ description: "Unique identifier of the wallet." }),
  addresses,
});

const text = (description: string) => Type.String({ description });

export const walletRecord = Type.Object(
  {
    walletId: text("Unique identifier of the wallet."),
    walletName: text("Human-readable name of the wallet."),
    createdAt: timestamp,
    updatedAt: timestamp,
    exported: Type.Boolean({ description: "Whether its mnemonic has been exported." }),
    imported: Type.Boolean({ description: "Whether its mnemonic came from outside." }),
  },
  { description: "A mnemonic from which accounts are derived." },
);

export const wallet = component<Static<typeof walletRecord>>("Wallet");

export const walletAccountRecord = Type.Object(
  {
    walletAccountId: text("Unique identifier of the account."),
    organizationId: text("The organization it belongs to."),
    walletId: text("The wallet it is derived from."),
    curve,
    pathFormat,
    path: text("Path below the wallet's seed, as it was asked for."),
    addressFormat,
    address: text("The address."),
    createdAt: timestamp,
    updatedAt: timestamp,
    publicKey: Type.Optional(text("Public key in hex, compressed.")),
    walletDetails: Type.Optional(wallet),
    name: Type.Optional(text("Human-readable name of the account.")),
    caip2Prefix: Type.Optional(text("CAIP-2 namespace of the chains that use such addresses.")),
  },
  { description: "A key pair that is derived from a wallet, with its address." },
);

export const walletAccount = component<Static<typeof walletAccountRecord>>("WalletAccount");
