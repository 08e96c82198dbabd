/**
 * Bitcoin's output scripts and their addresses. One key makes each script; `redeem` and `witness` are the scripts that
 * a P2SH or P2WSH output only shows the hash of, which a spender has to know.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { fromBase58check, toBase58check } from "../../encoding/base58.ts";
import { fromSegwitAddress, isWitnessProgram, toSegwitAddress } from "../../encoding/bech32.ts";
import { Fault } from "../../fault.ts";
import { hash160 } from "./hash160.ts";
import { taprootOutputKey } from "./taproot.ts";

export type BitcoinNetworkRow = { prefix: string; p2pkh: number; p2sh: number };

/** Signet's addresses are testnet's, and regtest differs from both in its prefix only. */
export const bitcoinNetworks = {
  mainnet: { prefix: "bc", p2pkh: 0x00, p2sh: 0x05 },
  testnet: { prefix: "tb", p2pkh: 0x6f, p2sh: 0xc4 },
  signet: { prefix: "tb", p2pkh: 0x6f, p2sh: 0xc4 },
  regtest: { prefix: "bcrt", p2pkh: 0x6f, p2sh: 0xc4 },
} as const satisfies Record<string, BitcoinNetworkRow>;

export type BitcoinNetwork = keyof typeof bitcoinNetworks;

export type BitcoinScripts = {
  /** The script in the output itself. */
  output: Uint8Array;
  redeem?: Uint8Array;
  witness?: Uint8Array;
};

const op = { zero: 0x00, one: 0x51, dup: 0x76, equal: 0x87, equalVerify: 0x88, hash160: 0xa9, checkSig: 0xac } as const;

/** One row per script type: the scripts of a compressed key. */
export const bitcoinScripts = {
  p2pkh: (key) => ({ output: keyHashScript(hash160(key)) }),
  /** The script inside is that of P2WPKH: `sh(wpkh(K))`, what BIP-49 wallets mean by an address of this kind. */
  p2sh(key) {
    const redeem = witnessScript(0, hash160(key));
    return { output: scriptHashScript(hash160(redeem)), redeem };
  },
  p2wpkh: (key) => ({ output: witnessScript(0, hash160(key)) }),
  /** The script inside is the key and a check: `wsh(pk(K))`. */
  p2wsh(key) {
    const witness = Uint8Array.of(key.length, ...key, op.checkSig);
    return { output: witnessScript(0, sha256(witness)), witness };
  },
  p2tr: (key) => ({ output: witnessScript(1, taprootOutputKey(key)) }),
} as const satisfies Record<string, (compressed: Uint8Array) => BitcoinScripts>;

export type BitcoinScriptType = keyof typeof bitcoinScripts;

function keyHashScript(hash: Uint8Array): Uint8Array {
  return Uint8Array.of(op.dup, op.hash160, hash.length, ...hash, op.equalVerify, op.checkSig);
}

function scriptHashScript(hash: Uint8Array): Uint8Array {
  return Uint8Array.of(op.hash160, hash.length, ...hash, op.equal);
}

function witnessScript(version: number, program: Uint8Array): Uint8Array {
  return Uint8Array.of(version === 0 ? op.zero : op.one + version - 1, program.length, ...program);
}

/** The version that an opcode pushes: OP_0, or OP_1 and up. Between them lie opcodes that push no version. */
function witnessVersionOf(opcode: number): number | undefined {
  if (opcode === op.zero) return 0;
  return opcode >= op.one ? opcode - op.one + 1 : undefined;
}

/** The address of an output script on a network; undefined for scripts that have none (bare keys, data, multisig). */
export function bitcoinAddress(network: BitcoinNetwork, script: Uint8Array): string | undefined {
  const { prefix, p2pkh, p2sh } = bitcoinNetworks[network];
  const keyHash = script.subarray(3, 23);
  if (isSame(script, keyHashScript(keyHash))) return toBase58check(Uint8Array.of(p2pkh, ...keyHash));
  const scriptHash = script.subarray(2, 22);
  if (isSame(script, scriptHashScript(scriptHash))) return toBase58check(Uint8Array.of(p2sh, ...scriptHash));
  const [first = -1, length] = script;
  const version = witnessVersionOf(first);
  const program = script.subarray(2);
  if (version === undefined || length !== program.length || !isWitnessProgram(version, length)) return undefined;
  return toSegwitAddress(prefix, version, program);
}

/** The output script that pays an address of this network. */
export function parseBitcoinAddress(network: BitcoinNetwork, address: string): Uint8Array {
  const { prefix, p2pkh, p2sh } = bitcoinNetworks[network];
  try {
    if (address.toLowerCase().startsWith(`${prefix}1`)) {
      const { version, program } = fromSegwitAddress(prefix, address);
      return witnessScript(version, program);
    }
    const [version, ...hash] = fromBase58check(address);
    if (hash.length === 20 && version === p2pkh) return keyHashScript(Uint8Array.from(hash));
    if (hash.length === 20 && version === p2sh) return scriptHashScript(Uint8Array.from(hash));
  } catch (cause) {
    throw notAnAddress(network, cause);
  }
  throw notAnAddress(network);
}

function notAnAddress(network: BitcoinNetwork, cause?: unknown): Fault {
  return new Fault("invalid_argument", `malformed address: not one of bitcoin ${network}`, { cause });
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
