import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sha256 } from "../../../server/src/state/digest.ts";
import { entryOf } from "./entry.ts";
import {
  consistencyNodes,
  consistencyProof,
  emptyRoot,
  Frontier,
  hashReaderOf,
  inclusionNodes,
  inclusionProof,
  leafHash,
  nodeHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from "./tree.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const digest = (...parts: Uint8Array[]) => new Uint8Array(createHash("sha256").update(Buffer.concat(parts)).digest());
const entryAt = (i: number) => digest(Buffer.from(`entry ${i}`));
const entries = Array.from({ length: 300 }, (_, i) => entryAt(i));
const leaves = entries.map((entry) => leafHash(entry));
const read = hashReaderOf(leaves);

/** The root by the definition of RFC 6962, section 2.1, which shares no code with ours. */
function defined(list: readonly Uint8Array[]): Uint8Array {
  const [only] = list;
  if (only === undefined) return digest();
  if (list.length === 1) return digest(Uint8Array.of(0), only);
  const k = 2 ** (31 - Math.clz32(list.length - 1));
  return digest(Uint8Array.of(1), defined(list.slice(0, k)), defined(list.slice(k)));
}

/** The tree of RFC 6962's and Certificate Transparency's own tests. */
const known = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const knownRoots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

test("the known tree has the known roots at every size", () => {
  const list = known.map((text) => Uint8Array.fromHex(text));
  assert.deepEqual(
    knownRoots.map((_, size) => hex(rootOf(list.slice(0, size)))),
    knownRoots,
  );
  assert.equal(hex(emptyRoot), knownRoots[0]);
});

test("roots are those of the definition, at every size and from a copied or stored edge", () => {
  const frontier = new Frontier();
  for (let size = 0; size <= entries.length; size++) {
    const expected = hex(defined(entries.slice(0, size)));
    assert.equal(frontier.size, size);
    assert.equal(hex(frontier.root()), expected);
    assert.equal(hex(Frontier.fromBytes(frontier.toBytes()).root()), expected);
    assert.equal(hex(Frontier.at(size, read).root()), expected);
    const copy = frontier.copy();
    const next = entries[size];
    if (next === undefined) break;
    frontier.append(next);
    assert.equal(hex(copy.root()), expected, "appending changes no copy");
    copy.append(next);
    assert.deepEqual(copy.toBytes(), frontier.toBytes());
  }
});

test("an edge is stored as its size and one hash for each bit of it, and nothing else is read", () => {
  const frontier = new Frontier();
  for (const entry of entries.slice(0, 11)) frontier.append(entry);
  const bytes = frontier.toBytes();
  assert.equal(bytes.length, 8 + 3 * 32);
  assert.equal(hex(bytes.subarray(0, 8)), "000000000000000b");
  const refusal = (why: string) => ({ code: "invalid_argument", message: `malformed edge of a tree: ${why}` });
  assert.throws(() => Frontier.fromBytes(bytes.with(1, 32)), refusal("too large a size"));
  assert.throws(() => Frontier.fromBytes(bytes.subarray(1)), refusal("not the hashes of its size"));
  assert.throws(() => Frontier.fromBytes(bytes.subarray(0, 7)), refusal("too short"));
  assert.throws(() => Frontier.fromBytes(bytes.subarray(0, -1)), refusal("not the hashes of its size"));
  assert.throws(() => Frontier.fromBytes(Uint8Array.of(...bytes, 0)), refusal("not the hashes of its size"));
  assert.throws(() => Frontier.fromBytes(bytes.with(7, 12)), refusal("not the hashes of its size"));
});

test("every entry is proved in every tree up to 70, and at no other place", () => {
  for (let size = 1; size <= 70; size++) {
    const root = defined(entries.slice(0, size));
    for (let index = 0; index < size; index++) {
      const proof = inclusionProof(index, size, read);
      const leaf = leaves[index] as Uint8Array;
      assert.ok(verifyInclusion(index, size, leaf, proof, root));
      for (const other of [index - 1, index + 1, index ^ 1, size]) {
        assert.ok(!verifyInclusion(other, size, leaf, proof, root), `${index} of ${size} as ${other}`);
      }
      assert.ok(!verifyInclusion(index, size, leaf, [...proof, root], root));
      if (proof.length > 0) assert.ok(!verifyInclusion(index, size, leaf, proof.slice(1), root));
      assert.ok(inclusionNodes(index, size).length >= proof.length);
    }
  }
});

test("every tree up to 70 is proved to begin with every smaller one, and with no other", () => {
  const roots = Array.from({ length: 71 }, (_, size) => defined(entries.slice(0, size)));
  const rootAt = (size: number) => roots[size] as Uint8Array;
  for (let newSize = 1; newSize <= 70; newSize++) {
    for (let oldSize = 1; oldSize <= newSize; oldSize++) {
      const proof = consistencyProof(oldSize, newSize, read);
      assert.ok(verifyConsistency(oldSize, newSize, proof, rootAt(oldSize), rootAt(newSize)), `${oldSize} ${newSize}`);
      assert.ok(!verifyConsistency(oldSize, newSize, proof, rootAt(oldSize - 1), rootAt(newSize)));
      assert.ok(!verifyConsistency(oldSize, newSize, proof, rootAt(oldSize), rootAt(newSize - 1)) || oldSize < 1);
      assert.ok(!verifyConsistency(oldSize, newSize, [...proof, rootAt(1)], rootAt(oldSize), rootAt(newSize)));
      if (proof.length > 0) {
        assert.ok(!verifyConsistency(oldSize, newSize, proof.slice(0, -1), rootAt(oldSize), rootAt(newSize)));
      }
      assert.equal(consistencyNodes(oldSize, newSize).length >= proof.length, true);
    }
    assert.ok(!verifyConsistency(0, newSize, [], emptyRoot, rootAt(newSize)), "nothing is shown from size 0");
  }
});

test("changing any bit of a proof, leaf or root fails it", () => {
  const root = defined(entries.slice(0, 45));
  const oldRoot = defined(entries.slice(0, 19));
  const flip = (bytes: Uint8Array, bit: number) =>
    Uint8Array.from(bytes, (byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
  const inclusion = inclusionProof(37, 45, read);
  const consistency = consistencyProof(19, 45, read);
  const leaf = leaves[37] as Uint8Array;
  for (let bit = 0; bit < 256; bit += 5) {
    assert.ok(!verifyInclusion(37, 45, flip(leaf, bit), inclusion, root));
    assert.ok(!verifyInclusion(37, 45, leaf, inclusion, flip(root, bit)));
    assert.ok(!verifyConsistency(19, 45, consistency, flip(oldRoot, bit), root));
    assert.ok(!verifyConsistency(19, 45, consistency, oldRoot, flip(root, bit)));
    inclusion.forEach((hash, at) => {
      assert.ok(!verifyInclusion(37, 45, leaf, inclusion.with(at, flip(hash, bit)), root));
    });
    consistency.forEach((hash, at) => {
      assert.ok(!verifyConsistency(19, 45, consistency.with(at, flip(hash, bit)), oldRoot, root));
    });
  }
});

test("hashes of other lengths prove nothing, even where they fill a node together", () => {
  const [left, right] = [leaves[0], leaves[1]] as [Uint8Array, Uint8Array];
  const root = nodeHash(left, right);
  assert.ok(verifyInclusion(0, 2, left, [right], root));
  const both = Uint8Array.of(...left, ...right);
  assert.ok(!verifyInclusion(0, 2, both.subarray(0, 31), [both.subarray(31)], root));
  assert.ok(!verifyInclusion(0, 2, both.subarray(0, 33), [both.subarray(33)], root));
  assert.ok(!verifyConsistency(1, 2, [both.subarray(31)], both.subarray(0, 31), root));
  assert.throws(() => nodeHash(both.subarray(0, 31), both.subarray(31)), { code: "internal" });
});

test("proofs of what is not there are refused, and numbers that are no positions verify nothing", () => {
  const refusal = (what: string, size: number) => ({
    code: "invalid_argument",
    message: `a tree of size ${size} has no proof of ${what}`,
  });
  assert.throws(() => inclusionProof(5, 5, read), refusal("entry 5", 5));
  assert.throws(() => inclusionProof(-1, 5, read), refusal("entry -1", 5));
  assert.throws(() => inclusionProof(0.5, 5, read), refusal("entry 0.5", 5));
  assert.throws(() => consistencyProof(6, 5, read), refusal("size 6", 5));
  assert.throws(() => consistencyProof(0, 5, read), refusal("size 0", 5));
  assert.throws(() => inclusionProof(0, 400, read), { code: "internal" }, "the reader has no such subtree");
  const leaf = leaves[0] as Uint8Array;
  for (const size of [-1, 0, 0.5, Number.NaN, 2 ** 53]) {
    assert.ok(!verifyInclusion(0, size, leaf, [], leaf));
    assert.ok(!verifyConsistency(size, size, [], leaf, leaf));
  }
});

test("one entry among a million, and among 2^52, is proved by at most 21 and 52 hashes", () => {
  // A tree whose entries are all the same has one hash for each level: as large as one likes, without its entries.
  const levels = [leafHash(entryAt(0))];
  for (let level = 1; level < 54; level++) {
    const below = levels[level - 1] as Uint8Array;
    levels.push(nodeHash(below, below));
  }
  const same = (level: number) => levels[level] as Uint8Array;
  for (const [size, most] of [
    [1_000_000, 20],
    [1_048_577, 21],
    [2 ** 52, 52],
    [2 ** 53 - 1, 53],
  ] as const) {
    const root = Frontier.at(size, same).root();
    for (const index of [0, 1, 999_999, size - 2, size - 1]) {
      const proof = inclusionProof(index, size, same);
      assert.ok(proof.length <= most, `${proof.length} hashes`);
      assert.ok(verifyInclusion(index, size, same(0), proof, root), `${index} of ${size}`);
    }
    for (const oldSize of [1, 4096, 999_999, size - 1]) {
      const proof = consistencyProof(oldSize, size, same);
      assert.ok(verifyConsistency(oldSize, size, proof, Frontier.at(oldSize, same).root(), root), `${oldSize} ${size}`);
    }
  }
});

test("the server's hash gives the same tree", (t) => {
  const frontier = new Frontier(sha256);
  const count = 20_000;
  const leafDigest = entryAt(0);
  const started = performance.now();
  for (let i = 0; i < count; i++) frontier.append(entryOf(leafDigest, i, sha256));
  const perLeaf = ((performance.now() - started) * 1000) / count;
  t.diagnostic(`${perLeaf.toFixed(2)} µs per leaf with the server's hash, entry hash included`);
  const noble = new Frontier();
  for (let i = 0; i < count; i++) noble.append(entryOf(leafDigest, i));
  assert.equal(hex(frontier.root()), hex(noble.root()));
});

test("an entry is the digest of the leaf's digest and its ordinal in eight bytes", () => {
  const leafDigest = entryAt(7);
  for (const ordinal of [0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]) {
    const number = new Uint8Array(8);
    new DataView(number.buffer).setBigUint64(0, BigInt(ordinal));
    assert.equal(hex(entryOf(leafDigest, ordinal)), hex(digest(leafDigest, number)));
  }
  for (const ordinal of [-1, 0.5, 2 ** 53]) assert.throws(() => entryOf(leafDigest, ordinal), { code: "internal" });
  assert.throws(() => entryOf(leafDigest.subarray(1), 1), { code: "internal" });
});
