/**
 * From seed and path to a key pair: BIP-32 on secp256k1, SLIP-10 on P-256 and Ed25519. The three differ in their rows
 * of `keyCurves` only. Every intermediate key is wiped as soon as its child is there.
 */
import { Fault } from "../fault.ts";
import { finish, type Work } from "../work.ts";
import {
  type Curve,
  isBelowOrder,
  isPrivateKey,
  keyCurves,
  type PublicKey,
  privateKeyLength,
  publicKeyOf,
} from "./key_curves.ts";
import type { KeyMaths } from "./key_maths.ts";
import { derivedPath, hardened, type Path } from "./path.ts";

/** A key and its chain code, 32 bytes each, in one array so that wiping cannot forget half of it. */
type Node = Uint8Array;

export type KeyPair = { privateKey: Uint8Array; publicKey: PublicKey };

/** The key pair at the end of the path. The caller wipes the private key. */
export function deriveKeyPair(maths: KeyMaths, curve: Curve, seed: Uint8Array, path: Path): KeyPair {
  return finish(derivingKeyPair(maths, curve, seed, path));
}

/** The same, with a pause after each component of the path. */
export function* derivingKeyPair(maths: KeyMaths, curve: Curve, seed: Uint8Array, path: Path): Work<KeyPair> {
  const node = yield* derivingNode(maths, curve, seed, path);
  try {
    const privateKey = Uint8Array.from(keyOf(node));
    return { privateKey, publicKey: publicKeyOf(maths, curve, privateKey) };
  } finally {
    node.fill(0);
  }
}

/** Key and chain code at the end of the path, for whoever derives on from there. The caller wipes it. */
export function deriveNode(maths: KeyMaths, curve: Curve, seed: Uint8Array, path: Path): Node {
  return finish(derivingNode(maths, curve, seed, path));
}

function* derivingNode(maths: KeyMaths, curve: Curve, seed: Uint8Array, path: Path): Work<Node> {
  let node = masterNode(maths, curve, seed);
  for (const index of derivedPath(curve, path)) {
    const parent = node;
    try {
      // Also when it is dropped here.
      yield;
      node = childNode(maths, curve, parent, index);
    } finally {
      parent.fill(0);
    }
  }
  return node;
}

function masterNode(maths: KeyMaths, curve: Curve, seed: Uint8Array): Node {
  const { masterSecret, whenNoKey } = keyCurves[curve];
  let node = maths.hmacSha512(masterSecret, seed);
  while (!isPrivateKey(curve, keyOf(node))) {
    if (whenNoKey === "refuse") throw noKey();
    const rejected = node;
    node = maths.hmacSha512(masterSecret, rejected);
    rejected.fill(0);
  }
  return node;
}

function childNode(maths: KeyMaths, curve: Curve, parent: Node, index: number): Node {
  const data = childData(maths, curve, parent, index);
  try {
    for (;;) {
      const node = maths.hmacSha512(chainCodeOf(parent), data);
      const key = childKey(maths, curve, keyOf(parent), keyOf(node));
      if (key !== undefined) {
        node.set(key);
        key.fill(0);
        return node;
      }
      data[0] = 1;
      data.set(chainCodeOf(node), 1);
      node.fill(0);
      if (keyCurves[curve].whenNoKey === "refuse") throw noKey();
    }
  } finally {
    data.fill(0);
  }
}

/** What the child is hashed from: the private key for a hardened one, the public key for the others, then the index. */
function childData(maths: KeyMaths, curve: Curve, parent: Node, index: number): Uint8Array {
  const data = new Uint8Array(1 + privateKeyLength + 4);
  if (index < hardened) data.set(publicKeyOf(maths, curve, keyOf(parent)).compressed);
  else data.set(keyOf(parent), 1);
  new DataView(data.buffer).setUint32(1 + privateKeyLength, index);
  return data;
}

/** The child's key, fresh: the sum of the parent's and the hash's left half, or on Ed25519 that half itself. */
function childKey(maths: KeyMaths, curve: Curve, parent: Uint8Array, left: Uint8Array): Uint8Array | undefined {
  const { points, order } = keyCurves[curve];
  if (points === undefined) return Uint8Array.from(left);
  return isBelowOrder(left, order) ? maths[points].addScalars(parent, left) : undefined;
}

function keyOf(node: Node): Uint8Array {
  return node.subarray(0, privateKeyLength);
}

function chainCodeOf(node: Node): Uint8Array {
  return node.subarray(privateKeyLength);
}

function noKey(): Fault {
  return new Fault("invalid_argument", "invalid path: BIP-32 defines no key there; choose another index");
}
