/** SHA-256 as the tree takes it. Without an argument it is noble's; the server passes the faster one of its platform. */
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";

/** It must not keep its argument: the tree writes what it hashes into one buffer, again and again. */
export type Hash = (bytes: Uint8Array) => Uint8Array;

export const sha256: Hash = nobleSha256;

/** Of every hash, key and root here. */
export const hashLength = 32;
