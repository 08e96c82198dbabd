/**
 * TON addresses. An account is the hash of the contract's first state, so a wallet contract's version decides the
 * address of a key. Cells are hashed by hand here: one data cell and the state cell over it are all a wallet needs.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { fromBase64url, toBase64url } from "../../encoding/base64url.ts";
import { crc16 } from "../../encoding/crc16.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import type { PublicKey } from "../key_curves.ts";

type WalletContract = {
  /** Hash and depth of the published code cell. */
  codeHash: Uint8Array;
  codeDepth: number;
  /** The data cell: how many bits, and their bytes, the last one filled up with a one and zeros when it is not whole. */
  dataBits: number;
  data(publicKey: Uint8Array): Uint8Array;
};

/** Keeps one key's wallets on different networks and workchains apart; the defaults of every wallet for mainnet. */
const subwalletOfV3AndV4 = [0x29, 0xa9, 0xa3, 0x17] as const;
const subwalletOfV5 = [0x7f, 0xff, 0xff, 0x11] as const;
const noSequenceYet = [0, 0, 0, 0] as const;

/** One row per wallet contract that an address format names. */
export const tonWallets = {
  v3r2: {
    codeHash: fromHex("84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599"),
    codeDepth: 0,
    dataBits: 320,
    data: (publicKey) => Uint8Array.of(...noSequenceYet, ...subwalletOfV3AndV4, ...publicKey),
  },
  v4r2: {
    codeHash: fromHex("feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0"),
    codeDepth: 7,
    dataBits: 321,
    // Behind the key one bit: no plugins.
    data: (publicKey) => Uint8Array.of(...noSequenceYet, ...subwalletOfV3AndV4, ...publicKey, 0x40),
  },
  v5r1: {
    codeHash: fromHex("20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f"),
    codeDepth: 6,
    dataBits: 322,
    // In front one bit: signing allowed. Behind, one bit: no extensions. All between is moved by that first bit.
    data: (publicKey) => afterOneBit(Uint8Array.of(...noSequenceYet, ...subwalletOfV5, ...publicKey, 0x40)),
  },
} as const satisfies Record<string, WalletContract>;

export type TonWallet = keyof typeof tonWallets;

const workchain = 0;
const bounceable = 0x11;
const notBounceable = 0x51;

/** The bounceable form `EQ…`, the default of the common libraries. */
export function tonAddress(version: TonWallet): (publicKey: PublicKey) => string {
  return ({ compressed }) => friendly(accountOf(tonWallets[version], compressed));
}

function accountOf(wallet: WalletContract, publicKey: Uint8Array): Uint8Array {
  const data = wallet.data(publicKey);
  // A cell is hashed after two descriptors: its references, and its length in half bytes (odd when not whole).
  const dataHash = sha256(Uint8Array.of(0, (wallet.dataBits >> 3) + Math.ceil(wallet.dataBits / 8), ...data));
  // The state has two references, code and data, and five bits 00110: only those two are there.
  const stateBits = [2, 1, 0x34] as const;
  return sha256(Uint8Array.of(...stateBits, 0, wallet.codeDepth, 0, 0, ...wallet.codeHash, ...dataHash));
}

/** The bytes one bit further right behind a one; the padding bit of the last byte moves along. */
function afterOneBit(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, i) => (byte >> 1) | ((i === 0 ? 1 : (bytes[i - 1] ?? 0) & 1) << 7));
}

function friendly(account: Uint8Array): string {
  const body = Uint8Array.of(bounceable, workchain, ...account);
  const crc = crc16(body);
  return toBase64url(Uint8Array.of(...body, crc >> 8, crc & 0xff));
}

const raw = /^0:([0-9a-f]{64})$/i;
const friendlyLength = 48;

/** The account that a text names in any of its forms (`EQ…`, `UQ…`, `0:…`) as `0:` and hex; undefined for other texts. */
export function tonAccountKey(text: string): string | undefined {
  if (raw.test(text)) return text.toLowerCase();
  if (text.length !== friendlyLength) return undefined;
  const bytes = decoded(text);
  if (bytes === undefined || bytes[1] !== workchain) return undefined;
  if (bytes[0] !== bounceable && bytes[0] !== notBounceable) return undefined;
  const crc = crc16(bytes.subarray(0, 34));
  if (bytes[34] !== crc >> 8 || bytes[35] !== (crc & 0xff)) return undefined;
  return `0:${toHex(bytes.subarray(2, 34))}`;
}

function decoded(text: string): Uint8Array | undefined {
  try {
    return fromBase64url(text);
  } catch {
    return undefined;
  }
}
