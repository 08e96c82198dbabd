/** EIP-7702 authorizations: permission for the code at an address to act for the signing account. */
import { concatBytes } from "@noble/hashes/utils.js";
import { fromHexAt } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { toRlp, toRlpInteger } from "../encoding/rlp.ts";
import { Fault } from "../fault.ts";
import type { Curves } from "./curves.ts";
import { readHex, readInteger } from "./eip712.ts";

/** `address` is lower-case `0x` text; chain 0 means every chain. */
export type Authorization = { address: string; chainId: bigint; nonce: bigint };

const magic = Uint8Array.of(0x05);
const utf8 = new TextEncoder();

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `invalid EIP-7702 authorization: ${why}`);
}

/** Reads the JSON object `{address, chainId, nonce}`; numbers may be text. */
export function parseAuthorization(text: string): Authorization {
  const { address: rawAddress, chainId: rawChainId, nonce: rawNonce } = readObject(text);
  const address = readHex(rawAddress, 20);
  if (address === undefined) throw malformed("`address` is not an address");
  const chainId = readInteger(rawChainId);
  if (chainId === undefined || BigInt.asUintN(256, chainId) !== chainId) throw malformed("`chainId` is not a chain id");
  const nonce = readInteger(rawNonce);
  // The protocol refuses the last nonce of 64 bits: nothing could follow it.
  if (nonce === undefined || nonce < 0n || nonce >= 2n ** 64n - 1n) throw malformed("`nonce` is not a nonce");
  return { address, chainId, nonce };
}

/** keccak256 of `05` and the RLP list of chain id, address and nonce. */
export function authorizationDigest(
  hashes: Pick<Curves, "keccak256">,
  { address, chainId, nonce }: Authorization,
): Uint8Array {
  const list = toRlp([toRlpInteger(chainId), fromHexAt(address, 2), toRlpInteger(nonce)]);
  return hashes.keccak256(concatBytes(magic, list));
}

function readObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = readJson(utf8.encode(text), 4096);
  } catch (error) {
    throw malformed(error instanceof Fault ? (error.detail ?? "not JSON") : "not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed("not an object");
  return value as Record<string, unknown>;
}
