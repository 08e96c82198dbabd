/**
 * The address formats: which curves each stands on, how a public key becomes the address, and how an account of that
 * format signs. Resolve a row at the edge with `getAddressUse` and pass it down; nothing below asks for names.
 */
import { Fault } from "../fault.ts";
import { type AddressSpelling, bech32Spelling, exactSpelling, hexSpelling, tonSpelling } from "./address_spelling.ts";
import { type BitcoinNetwork, type BitcoinScriptType, bitcoinAddress, bitcoinScripts } from "./addresses/bitcoin.ts";
import { cometAddress, cosmosAddress } from "./addresses/cosmos.ts";
import { dogecoinAddress } from "./addresses/dogecoin.ts";
import { aptosAddress, solanaAddress, stellarAddress, suiAddress } from "./addresses/ed25519_ledgers.ts";
import { ethereumAddress, tronAddress } from "./addresses/ethereum.ts";
import { compressedHex, uncompressedHex } from "./addresses/public_key_hex.ts";
import { sparkAddress } from "./addresses/spark.ts";
import { tonAddress } from "./addresses/ton.ts";
import { xrpAddress } from "./addresses/xrp.ts";
import { type Curve, keyCurves, type PublicKey, type SignatureScheme } from "./key_curves.ts";

/** In the order of their numbers in stored records: only ever added to at the end. */
export const addressFormatNames = [
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

export type AddressFormat = (typeof addressFormatNames)[number];

/** What a format does with keys of one curve. */
export type AddressUse = {
  encode(publicKey: PublicKey): string;
  scheme: SignatureScheme;
};

export type AddressFormatRow = {
  /** A curve that is missing here is refused. */
  curves: Readonly<Partial<Record<Curve, AddressUse>>>;
  /** What a client's spelling of such an address may look like. */
  spelling: AddressSpelling;
  /** The CAIP-2 namespace of the chains that use such addresses; bare keys and Spark have none. */
  caip2Prefix?: string;
  /** For the formats whose transactions are Bitcoin's. */
  bitcoin?: { network: BitcoinNetwork; script: BitcoinScriptType };
};

type Encoder = AddressUse["encode"];

function on(curve: Curve, encode: Encoder): AddressFormatRow["curves"] {
  return { [curve]: { encode, scheme: keyCurves[curve].scheme } };
}

function secp256k1(caip2Prefix: string, spelling: AddressSpelling, encode: Encoder): AddressFormatRow {
  return { caip2Prefix, spelling, curves: on("CURVE_SECP256K1", encode) };
}

function ed25519(caip2Prefix: string, spelling: AddressSpelling, encode: Encoder): AddressFormatRow {
  return { caip2Prefix, spelling, curves: on("CURVE_ED25519", encode) };
}

function bitcoin(network: BitcoinNetwork, script: BitcoinScriptType): AddressFormatRow {
  const encode: Encoder = ({ compressed }) => {
    const address = bitcoinAddress(network, bitcoinScripts[script](compressed).output);
    if (address === undefined) throw new Fault("internal", `a ${script} script without an address`);
    return address;
  };
  return {
    caip2Prefix: "bip122",
    spelling: script === "p2pkh" || script === "p2sh" ? exactSpelling : bech32Spelling,
    curves: { CURVE_SECP256K1: { encode, scheme: script === "p2tr" ? "bip340_taproot" : "ecdsa" } },
    bitcoin: { network, script },
  };
}

/** Spark signs with its identity key as it is, so its Schnorr signatures are not tweaked. */
function spark(prefix: string): AddressFormatRow {
  return { spelling: bech32Spelling, curves: { CURVE_SECP256K1: { encode: sparkAddress(prefix), scheme: "bip340" } } };
}

/** One row per `addressFormat` of the wire. */
export const addressFormats = {
  ADDRESS_FORMAT_UNCOMPRESSED: {
    spelling: hexSpelling,
    curves: { ...on("CURVE_SECP256K1", uncompressedHex), ...on("CURVE_P256", uncompressedHex) },
  },
  ADDRESS_FORMAT_COMPRESSED: {
    spelling: hexSpelling,
    curves: {
      ...on("CURVE_SECP256K1", compressedHex),
      ...on("CURVE_P256", compressedHex),
      ...on("CURVE_ED25519", compressedHex),
    },
  },
  ADDRESS_FORMAT_ETHEREUM: secp256k1("eip155", hexSpelling, ethereumAddress),
  ADDRESS_FORMAT_SOLANA: ed25519("solana", exactSpelling, solanaAddress),
  ADDRESS_FORMAT_COSMOS: secp256k1("cosmos", bech32Spelling, cosmosAddress("cosmos")),
  ADDRESS_FORMAT_TRON: secp256k1("tron", exactSpelling, tronAddress),
  ADDRESS_FORMAT_SUI: ed25519("sui", hexSpelling, suiAddress),
  ADDRESS_FORMAT_APTOS: ed25519("aptos", hexSpelling, aptosAddress),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH: bitcoin("mainnet", "p2pkh"),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2SH: bitcoin("mainnet", "p2sh"),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH: bitcoin("mainnet", "p2wpkh"),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2WSH: bitcoin("mainnet", "p2wsh"),
  ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR: bitcoin("mainnet", "p2tr"),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2PKH: bitcoin("testnet", "p2pkh"),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2SH: bitcoin("testnet", "p2sh"),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2WPKH: bitcoin("testnet", "p2wpkh"),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2WSH: bitcoin("testnet", "p2wsh"),
  ADDRESS_FORMAT_BITCOIN_TESTNET_P2TR: bitcoin("testnet", "p2tr"),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2PKH: bitcoin("signet", "p2pkh"),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2SH: bitcoin("signet", "p2sh"),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2WPKH: bitcoin("signet", "p2wpkh"),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2WSH: bitcoin("signet", "p2wsh"),
  ADDRESS_FORMAT_BITCOIN_SIGNET_P2TR: bitcoin("signet", "p2tr"),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2PKH: bitcoin("regtest", "p2pkh"),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2SH: bitcoin("regtest", "p2sh"),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WPKH: bitcoin("regtest", "p2wpkh"),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2WSH: bitcoin("regtest", "p2wsh"),
  ADDRESS_FORMAT_BITCOIN_REGTEST_P2TR: bitcoin("regtest", "p2tr"),
  ADDRESS_FORMAT_SEI: {
    caip2Prefix: "cosmos",
    spelling: bech32Spelling,
    // The published client derives Sei accounts on secp256k1, the published table says Ed25519: both are taken.
    curves: { ...on("CURVE_SECP256K1", cosmosAddress("sei")), ...on("CURVE_ED25519", cometAddress("sei")) },
  },
  ADDRESS_FORMAT_XLM: ed25519("stellar", exactSpelling, stellarAddress),
  ADDRESS_FORMAT_DOGE_MAINNET: secp256k1("bip122", exactSpelling, dogecoinAddress("mainnet")),
  ADDRESS_FORMAT_DOGE_TESTNET: secp256k1("bip122", exactSpelling, dogecoinAddress("testnet")),
  ADDRESS_FORMAT_TON_V3R2: ed25519("tvm", tonSpelling, tonAddress("v3r2")),
  ADDRESS_FORMAT_TON_V4R2: ed25519("tvm", tonSpelling, tonAddress("v4r2")),
  ADDRESS_FORMAT_TON_V5R1: ed25519("tvm", tonSpelling, tonAddress("v5r1")),
  ADDRESS_FORMAT_XRP: secp256k1("xrpl", exactSpelling, xrpAddress),
  ADDRESS_FORMAT_SPARK_MAINNET: spark("spark"),
  ADDRESS_FORMAT_SPARK_REGTEST: spark("sparkrt"),
} as const satisfies Record<AddressFormat, AddressFormatRow>;

/** The row of a format that a client named; refuses with the published text. */
export function getAddressFormat(name: string): AddressFormatRow {
  if (!Object.hasOwn(addressFormats, name)) throw new Fault("invalid_argument", "invalid address format");
  return addressFormats[name as AddressFormat];
}

/** What a format does on a curve; a pair that does not go together is refused with the published text, and then with the right curve. */
export function getAddressUse(format: string, curve: string): AddressUse {
  const { curves } = getAddressFormat(format);
  const use = Object.hasOwn(curves, curve) ? curves[curve as Curve] : undefined;
  if (use === undefined) {
    throw new Fault("invalid_argument", `invalid curve: ${format} needs ${Object.keys(curves).join(" or ")}`);
  }
  return use;
}

/** Whether a client's text means this address of the format. */
export function isSameAddress(format: AddressFormat, text: string, address: string): boolean {
  const { spelling } = addressFormats[format];
  return text === address || (spelling.toKey(text) ?? text) === (spelling.toKey(address) ?? address);
}
