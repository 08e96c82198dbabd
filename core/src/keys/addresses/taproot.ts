/** Taproot outputs without a script tree (BIP-341, BIP-86): a key that commits to having no scripts. */
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
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

/** The 32 bytes that stand in the output's script. Only public values, so noble will do everywhere. */
export function taprootOutputKey(compressed: Uint8Array): Uint8Array {
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
