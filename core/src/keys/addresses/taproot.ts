/** Taproot outputs without a script tree (BIP-341, BIP-86): a key that commits to having no scripts. */
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import type { KeyMaths } from "../key_maths.ts";

const { taggedHash } = schnorr.utils;

function xOnly(compressed: Uint8Array): Uint8Array {
  return compressed.subarray(1);
}

/** What is added to the internal key; without scripts it depends on that key alone. */
function tweakOf(compressed: Uint8Array): Uint8Array {
  return taggedHash("TapTweak", xOnly(compressed));
}

/** A key is often wanted on several networks at once: the sum of points behind all of them is the same, and takes milliseconds. */
let last: { compressed: string; output: Uint8Array } | undefined;

/** The 32 bytes that stand in the output's script. */
export function taprootOutputKey(compressed: Uint8Array): Uint8Array {
  const name = toHex(compressed);
  if (last?.compressed !== name) last = { compressed: name, output: outputKeyOf(compressed) };
  return Uint8Array.from(last.output);
}

/** Only public values, so noble will do everywhere. */
function outputKeyOf(compressed: Uint8Array): Uint8Array {
  const { Point } = secp256k1;
  const internal = Point.fromBytes(Uint8Array.of(2, ...xOnly(compressed)));
  const tweak = Point.Fn.fromBytes(tweakOf(compressed));
  return xOnly(internal.add(Point.BASE.multiply(tweak)).toBytes(true));
}

/** The private key of the output: signing with it is a key-path spend. The caller wipes it. */
export function taprootPrivateKey(maths: KeyMaths, privateKey: Uint8Array, compressed: Uint8Array): Uint8Array {
  // BIP-340 knows a key by its x alone and takes y as even, so a key with odd y counts as its negative.
  const even = compressed[0] === 2 ? Uint8Array.from(privateKey) : maths.secp256k1.negateScalar(privateKey);
  const tweaked = maths.secp256k1.addScalars(even, tweakOf(compressed));
  even.fill(0);
  if (tweaked === undefined) throw new Fault("internal", "the tweaked key is zero");
  return tweaked;
}
