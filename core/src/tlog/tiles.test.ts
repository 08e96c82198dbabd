import assert from "node:assert/strict";
import { test } from "node:test";
import {
  decodeEntries,
  encodeEntries,
  hashTilesAt,
  newEntryTiles,
  newHashTiles,
  parseTilePath,
  rootOfRow,
  type Tile,
  tileHashReader,
  tileOf,
  tilePath,
  widthAt,
} from "./tiles.ts";
import { consistencyProof, hashReaderOf, inclusionNodes, inclusionProof, leafHash, rootOf } from "./tree.ts";

const entries = Array.from({ length: 70_000 }, (_, i) => {
  const entry = new Uint8Array(32);
  new DataView(entry.buffer).setUint32(0, i);
  return entry;
});
const leaves = entries.map((entry) => leafHash(entry));
const memory = hashReaderOf(leaves);

/** The bytes of a tile as a log would have stored them. */
function tileBytes({ level, n, width }: Tile): Uint8Array {
  const row = Array.from({ length: width }, (_, i) => memory(8 * Number(level), 256 * n + i));
  return new Uint8Array(Buffer.concat(row));
}

test("the path has the number in groups of three digits", () => {
  const paths: [Tile, string][] = [
    [{ level: 0, n: 0, width: 256 }, "tile/0/000"],
    [{ level: 0, n: 1_234_067, width: 256 }, "tile/0/x001/x234/067"],
    [{ level: 1, n: 999, width: 17 }, "tile/1/999.p/17"],
    [{ level: "entries", n: 1_000, width: 255 }, "tile/entries/x001/000.p/255"],
    [{ level: 63, n: 2 ** 53 - 1, width: 1 }, "tile/63/x009/x007/x199/x254/x740/991.p/1"],
  ];
  for (const [tile, path] of paths) {
    assert.equal(tilePath(tile.level, tile.n, tile.width), path);
    assert.deepEqual(parseTilePath(path), tile);
  }
});

test("every tile has one path, and all others are refused", () => {
  for (const path of [
    ...["", "tile", "tile/0", "tile/0/", "tile/0/0", "tile/0/00", "tile/0/0000", "/tile/0/000", "tile/0/000/"],
    ...["tile/00/000", "tile/01/000", "tile/64/000", "tile/-1/000", "tile/data/000", "tile/Entries/000"],
    ...["tile/0/x000/000", "tile/0/x000/001", "tile/0/001/002", "tile/0/x001", "tile/0/x001/x002", "tile/0/X001/002"],
    ...["tile/0/000.p", "tile/0/000.p/", "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/300", "tile/0/000.p/01"],
    ...["tile/0/000.p/1/", "tile/0/000.p/1.p/1", "tile/0/x001.p/1", "tile/0/000?", "tile/0/0%30", "tile/0/../0/000"],
    ...["tile/0/x009/x007/x199/x254/x740/992", "tile/0/x001/x000/x000/x000/x000/x000/000", "tile/0/000\n"],
  ]) {
    assert.throws(() => parseTilePath(path), { code: "invalid_argument", message: /^malformed tile path: / }, path);
  }
});

test("70,000 entries: 273 full tiles and one of 112, then one full and one of 17, then one of 1", () => {
  const tiles = hashTilesAt(70_000);
  const byLevel = (level: number) => tiles.filter((tile) => tile.level === level).map(({ width }) => width);
  assert.deepEqual(byLevel(0), [...Array<number>(273).fill(256), 112]);
  assert.deepEqual(byLevel(1), [256, 17]);
  assert.deepEqual(byLevel(2), [1]);
  assert.equal(tiles.length, 277);
  assert.equal(widthAt(0, 273, 70_000), 112);
  assert.equal(widthAt(0, 274, 70_000), 0);
  assert.equal(widthAt("entries", 273, 70_000), 112);
  assert.deepEqual(hashTilesAt(0), []);
});

test("empty partial tiles do not exist", () => {
  assert.deepEqual(hashTilesAt(256), [
    { level: 0, n: 0, width: 256 },
    { level: 1, n: 0, width: 1 },
  ]);
  assert.deepEqual(hashTilesAt(1), [{ level: 0, n: 0, width: 1 }]);
});

test("the new tiles of each step are the difference of what both sizes have", () => {
  const key = ({ level, n, width }: Tile) => `${level} ${n} ${width}`;
  const sizes = [0, 1, 2, 255, 256, 257, 511, 512, 600, 65_535, 65_536, 65_537, 65_792, 70_000];
  for (const oldSize of sizes) {
    const old = new Set(hashTilesAt(oldSize).map(key));
    for (const newSize of sizes.filter((size) => size >= oldSize)) {
      const all = hashTilesAt(newSize).map(key);
      assert.deepEqual(
        newHashTiles(oldSize, newSize).map(key),
        all.filter((tile) => !old.has(tile)),
        `${oldSize} ${newSize}`,
      );
      assert.equal(
        newEntryTiles(oldSize, newSize).length,
        newHashTiles(oldSize, newSize).filter(({ level }) => level === 0).length,
      );
    }
  }
});

test("proofs out of tiles are the proofs out of memory, and only the log's own tiles are read", () => {
  for (const size of [1, 255, 256, 257, 65_536, 65_537, 69_999, 70_000]) {
    const known = new Set(hashTilesAt(size).map(({ level, n, width }) => tilePath(level, n, width)));
    const read = tileHashReader(size, (tile) => {
      assert.ok(known.has(tilePath(tile.level, tile.n, tile.width)));
      return tileBytes(tile);
    });
    for (const index of [0, 1, 254, 255, 256, 300, 65_535, 65_536, size - 1].filter((at) => at < size)) {
      assert.deepEqual(inclusionProof(index, size, read), inclusionProof(index, size, memory));
      for (const node of inclusionNodes(index, size)) {
        const { level, n, width } = tileOf(node, size);
        assert.ok(known.has(tilePath(level, n, width)));
      }
    }
    for (const oldSize of [1, 255, 256, 257, 65_535, size].filter((at) => at <= size)) {
      assert.deepEqual(consistencyProof(oldSize, size, read), consistencyProof(oldSize, size, memory));
    }
  }
});

test("a tile of another length, and a subtree that is not full, are refused", () => {
  const short = tileHashReader(300, (tile) => tileBytes(tile).subarray(32));
  assert.throws(() => short(0, 0), { code: "invalid_argument", message: "malformed tile: not 256 hashes" });
  const read = tileHashReader(300, tileBytes);
  assert.throws(() => read(6, 4), { code: "internal" });
  assert.throws(() => rootOfRow(new Uint8Array(96)), { code: "internal" });
});

test("a full tile's root is its hash one level up", () => {
  const row = tileBytes({ level: 0, n: 0, width: 256 });
  assert.deepEqual(rootOfRow(row), memory(8, 0));
  assert.deepEqual(rootOfRow(row), rootOf(entries.slice(0, 256)));
});

test("entries are read back, and nothing else is read as entries", () => {
  for (const list of [[], [entries[3]], entries.slice(0, 256), [new Uint8Array(0), new Uint8Array(65_535).fill(9)]]) {
    const bytes = encodeEntries(list as Uint8Array[]);
    assert.deepEqual(decodeEntries(bytes), list);
  }
  assert.deepEqual(encodeEntries([Uint8Array.of(5, 6)]), Uint8Array.of(0, 2, 5, 6));
  const refusal = (why: string) => ({ code: "invalid_argument", message: `malformed tile of entries: ${why}` });
  for (const bytes of [[0], [0, 1], [0, 2, 5], [1, 0, ...new Uint8Array(255)], [0, 1, 5, 0]]) {
    assert.throws(() => decodeEntries(Uint8Array.from(bytes)), refusal("too short"));
  }
  assert.throws(() => decodeEntries(encodeEntries(entries.slice(0, 257))), refusal("more than 256"));
  assert.throws(() => encodeEntries([new Uint8Array(65_536)]), { code: "internal" });
});
