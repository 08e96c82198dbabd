import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { sha256 } from "../state/digest.ts";
import { cuttingContent, joinPieces, pieceOwner, piecesIn, rowsOfContent } from "./context_pieces.ts";

/** Like a page: a list of users with random ids. */
function pageOf(users: readonly string[]): Uint8Array {
  return Buffer.from(JSON.stringify({ format: 2, users: users.map((userId) => ({ userId, userName: "somebody" })) }));
}

function newPage(count: number): string[] {
  return Array.from({ length: count }, () => randomBytes(64).toString("hex"));
}

function joined(content: Uint8Array): Uint8Array | undefined {
  const [whole, ...pieces] = rowsOfContent(content, "owner");
  const digests = piecesIn(whole?.content ?? new Uint8Array()) ?? assert.fail("it is not cut");
  return joinPieces(digests, new Map(pieces.map((piece) => [piece.digest, piece.content])));
}

test("short content is one row with its digest", () => {
  for (const length of [0, 1, 8_191]) {
    const content = new Uint8Array(randomBytes(length));
    assert.deepEqual(rowsOfContent(content, "owner"), [{ digest: toHex(sha256(content)), ownerId: "owner", content }]);
  }
});

test("others are let in while megabytes are cut", () => {
  const content = randomBytes(3 * 1024 * 1024);
  const work = cuttingContent(content, "owner");
  let pauses = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) pauses += 1;
  assert.deepEqual(step.value, rowsOfContent(content, "owner"));
  assert.ok(pauses >= 10, `${pauses}`);
});

test("no two rows of one content have the same digest, unless they are the same piece", () => {
  for (let round = 0; round < 300; round++) {
    // Around the length of one piece.
    const content = randomBytes(8_192 + round);
    const [whole, ...pieces] = rowsOfContent(content, "owner");
    assert.ok(pieces.every(({ digest }) => digest !== whole?.digest));
    assert.equal(pieces.length === 0, whole?.content === content);
  }
});

test("long content is cut into pieces of nobody's that join to it, none of them long", () => {
  for (const content of [randomBytes(40_000), randomBytes(300_000), new Uint8Array(500_000), pageOf(newPage(3_000))]) {
    const [whole, ...pieces] = rowsOfContent(content, "owner");
    assert.deepEqual([whole?.digest, whole?.ownerId], [toHex(sha256(content)), "owner"]);
    for (const { digest, ownerId, content: piece } of pieces) {
      assert.deepEqual([digest, ownerId], [toHex(sha256(piece)), pieceOwner]);
      assert.ok(piece.length > 0 && piece.length <= 16_384);
    }
    assert.deepEqual(Buffer.from(joined(content) ?? []), Buffer.from(content));
  }
});

test("a page with one change shares nearly all its pieces with the page before, wherever the change is", () => {
  const random = seededRandom(7);
  let users = newPage(4_000);
  const kept = new Set(rowsOfContent(pageOf(users), "owner").map(({ digest }) => digest));
  for (let round = 0; round < 50; round++) {
    const at = random.below(users.length);
    const changes = [
      () => users.with(at, `${users[at]} and more`),
      () => users.toSpliced(at, 0, "one more"),
      () => users.toSpliced(at, 1),
    ];
    users = random.pick(changes)();
    const page = pageOf(users);
    const added = rowsOfContent(page, "owner").filter(({ digest }) => !kept.has(digest));
    const bytes = added.reduce((sum, { content }) => sum + content.length, 0);
    assert.ok(added.length > 0 && bytes < page.length / 10, `${bytes} of ${page.length} bytes`);
    for (const { digest } of added) kept.add(digest);
  }
});

test("a piece that is missing leaves nothing, and what is no list of pieces is content", () => {
  const [whole, first, ...others] = rowsOfContent(randomBytes(50_000), "owner");
  const digests = piecesIn(whole?.content ?? new Uint8Array()) ?? assert.fail();
  assert.equal(first?.digest, digests[0]);
  assert.equal(joinPieces(digests, new Map(others.map((piece) => [piece.digest, piece.content]))), undefined);
  const mark = Buffer.from("keystead pieces\n");
  for (const content of [new Uint8Array(0), mark, Buffer.concat([mark, randomBytes(31)]), randomBytes(48)]) {
    assert.equal(piecesIn(content), undefined);
  }
});
