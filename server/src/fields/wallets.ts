/** Wallets and private keys as the creation of a sub-organization may ask for them. */
import Type from "typebox";
import { optional } from "./credentials.ts";
import { ids } from "./ids.ts";
import { name } from "./names.ts";

const addressFormats = [
  "ADDRESS_FORMAT_UNCOMPRESSED",
  "ADDRESS_FORMAT_COMPRESSED",
  "ADDRESS_FORMAT_ETHEREUM",
  "ADDRESS_FORMAT_SOLANA",
  "ADDRESS_FORMAT_COSMOS",
  "ADDRESS_FORMAT_TRON",
  "ADDRESS_FORMAT_SUI",
  "ADDRESS_FORMAT_APTOS",
  "ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH",
  "ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH",
  "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH",
  "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH",
  "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR",
  "ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH",
  "ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH",
  "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH",
  "ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH",
  "ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR",
  "ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH",
  "ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH",
  "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH",
  "ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH",
  "ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR",
  "ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH",
  "ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH",
  "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH",
  "ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH",
  "ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR",
  "ADDRESS_FORMAT_SEI",
  "ADDRESS_FORMAT_XLM",
  "ADDRESS_FORMAT_DOGE_MAINNET",
  "ADDRESS_FORMAT_DOGE_TESTNET",
  "ADDRESS_FORMAT_TON_V3R2",
  "ADDRESS_FORMAT_TON_V4R2",
  "ADDRESS_FORMAT_TON_V5R1",
  "ADDRESS_FORMAT_XRP",
  "ADDRESS_FORMAT_SPARK_MAINNET",
  "ADDRESS_FORMAT_SPARK_REGTEST",
] as const;

const addressFormat = Type.Enum(addressFormats, { description: "How the address is written." });
const curve = Type.Enum(["CURVE_SECP256K1", "CURVE_ED25519", "CURVE_P256"], { description: "Curve of the key." });

export const walletParams = Type.Object({
  walletName: name("Human-readable name of the wallet."),
  accounts: Type.Array(
    Type.Object({
      curve,
      pathFormat: Type.Literal("PATH_FORMAT_BIP32"),
      path: Type.String({ maxLength: 1_000, description: "Path of the account below the wallet's seed." }),
      addressFormat,
      name: optional(name("Human-readable name of the account.")),
    }),
    { maxItems: 100 },
  ),
  mnemonicLength: optional(Type.Enum([12, 15, 18, 21, 24], { description: "Words; 12 when left out." })),
});

export const walletResult = Type.Object({
  walletId: Type.String({ description: "Unique identifier of the wallet." }),
  addresses: Type.Array(Type.String()),
});

export const privateKeyParams = Type.Object({
  privateKeyName: name("Human-readable name of the private key."),
  curve,
  privateKeyTags: ids,
  addressFormats: Type.Array(addressFormat, { maxItems: 100 }),
});
