import assert from "node:assert/strict";
import { test } from "node:test";
import { type Checkpoint, formatCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { verifyCosignature } from "@keystead/core/tlog/cosignature.ts";
import { formatNote, parseNote, parseSignatureLines, signNote } from "@keystead/core/tlog/note.ts";
import { emptyRoot } from "@keystead/core/tlog/tree.ts";
import { parseVkey } from "@keystead/core/tlog/vkey.ts";
import { formatAddCheckpoint } from "@keystead/core/tlog/witness.ts";
import { keyOf } from "../../../core/test/tlog/note_keys.ts";
import { testLog } from "../../../core/test/tlog/test_log.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { addCheckpoint, type Witness } from "./add_checkpoint.ts";

const log = testLog("log.example/one");
const fork = testLog("log.example/one", { seed: 1, shared: 20 });
const key = keyOf("witness.example/w1", 4);

function witnessOf(...vkeys: string[]): Witness & { kept: Map<string, Checkpoint> } {
  const kept = new Map<string, Checkpoint>();
  const keys = vkeys.map(parseVkey);
  return {
    curves: nodeCurves,
    logs: new Map(keys.map(({ name }) => [name, keys.filter((each) => each.name === name)])),
    folder: { find: (origin) => kept.get(origin), keep: (checkpoint) => void kept.set(checkpoint.origin, checkpoint) },
    key,
    nowSeconds: () => 1_763_000_000,
    kept,
  };
}

/** Status, and the body of a refusal. */
function verdict(witness: Witness, body: string): string {
  const { status, body: text } = addCheckpoint(witness, body);
  return status === 200 ? "200" : `${status} ${text.trimEnd()}`;
}

test("each checkpoint that goes on from the one before is cosigned, with its whole text and the time", () => {
  const witness = witnessOf(log.vkey);
  for (const [oldSize, size] of [
    [0, 1],
    [1, 7],
    [7, 8],
    [8, 200],
    [200, 200],
  ] as const) {
    const { status, contentType, body } = addCheckpoint(witness, log.request(oldSize, size));
    assert.deepEqual([status, contentType], [200, "text/plain; charset=utf-8"]);
    const [line, ...rest] = parseSignatureLines(body);
    assert.ok(line !== undefined && rest.length === 0);
    assert.equal(verifyCosignature(nodeCurves, key, parseNote(log.checkpoint(size)).text, line), 1_763_000_000);
    assert.equal(witness.kept.get(log.origin)?.size, size);
  }
});

test("400: malformed, or an old size above the checkpoint's", () => {
  const witness = witnessOf(log.vkey);
  assert.match(verdict(witness, ""), /^400 malformed add-checkpoint request: /);
  assert.match(verdict(witness, `old 00\n\n${log.checkpoint(3)}`), /^400 malformed add-checkpoint request: /);
  assert.match(verdict(witness, "old 0\n\nnothing"), /^400 malformed signed note: /);
  assert.match(verdict(witness, `old 0\n\nlog.example/one\n\n— a rwz+eAA=\n`), /^400 malformed checkpoint: /);
  assert.equal(verdict(witness, log.request(0, 5)), "200");
  const above = formatAddCheckpoint({ oldSize: 5, proof: [], checkpoint: log.checkpoint(4) });
  assert.equal(verdict(witness, above), "400 the old size is above the checkpoint's");
});

test("403: no signature by a key that is believed for this log, or one that does not verify", () => {
  const witness = witnessOf(log.vkey, testLog("log.example/two").vkey);
  const text = parseNote(log.checkpoint(5)).text;
  const no = "403 no signature by a key of that log";
  for (const signatures of [
    [signNote(text, keyOf("stranger"), keyOf("stranger").sign)],
    // The key of another log that the witness follows.
    [signNote(text, keyOf("log.example/two"), keyOf("log.example/two").sign)],
    // The right name and id, and another key's signature.
    [signNote(text, keyOf("log.example/one"), keyOf("stranger").sign)],
    [
      signNote(text, keyOf("log.example/one"), keyOf("log.example/one").sign),
      signNote(text, keyOf("log.example/one"), keyOf("stranger").sign),
    ],
  ]) {
    const checkpoint = formatNote({ text, signatures });
    assert.equal(verdict(witness, formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint })), no);
  }
  assert.equal(witness.kept.size, 0);
});

test("404: a log that the witness does not follow", () => {
  const witness = witnessOf(log.vkey);
  const stranger = testLog("log.example/three");
  assert.equal(verdict(witness, stranger.request(0, 5)), "404 this witness does not follow that log");
});

test("409: another old size than the one cosigned last, with that size as text/x.tlog.size", () => {
  const witness = witnessOf(log.vkey);
  assert.deepEqual(addCheckpoint(witness, log.request(3, 5)), {
    status: 409,
    contentType: "text/x.tlog.size",
    body: "0\n",
  });
  assert.equal(verdict(witness, log.request(0, 50)), "200");
  for (const [oldSize, size] of [
    [0, 60],
    [49, 60],
    [51, 60],
    [0, 50],
    [0, 10],
    [10, 10],
  ] as const) {
    const expected = { status: 409, contentType: "text/x.tlog.size", body: "50\n" };
    assert.deepEqual(addCheckpoint(witness, log.request(oldSize, size)), expected, `${oldSize} ${size}`);
  }
});

test("409: the same size with another root", () => {
  const witness = witnessOf(log.vkey);
  assert.equal(verdict(witness, log.request(0, 50)), "200");
  assert.deepEqual(addCheckpoint(witness, fork.request(50, 50)), {
    status: 409,
    contentType: "text/x.tlog.size",
    body: "50\n",
  });
});

test("422: a proof that does not verify, of a fork or of nothing", () => {
  const no = "422 the consistency proof does not verify";
  const witness = witnessOf(log.vkey);
  const checkpoint = log.checkpoint(60);
  const hash = new Uint8Array(32);
  assert.equal(verdict(witness, formatAddCheckpoint({ oldSize: 0, proof: [hash], checkpoint })), no);
  assert.equal(verdict(witness, log.request(0, 50)), "200");
  assert.equal(verdict(witness, fork.request(50, 60)), no);
  const proof = log.consistency(50, 60);
  for (const changed of [[], proof.slice(1), [...proof, hash], proof.with(0, hash)]) {
    assert.equal(verdict(witness, formatAddCheckpoint({ oldSize: 50, proof: changed, checkpoint })), no);
  }
  const same = formatAddCheckpoint({ oldSize: 50, proof, checkpoint: log.checkpoint(50) });
  assert.equal(verdict(witness, same), no);
  assert.equal(witness.kept.get(log.origin)?.size, 50);
  assert.equal(verdict(witness, log.request(50, 60)), "200");
});

test("a log without entries can be cosigned, and goes on from there", () => {
  const witness = witnessOf(log.vkey);
  const text = formatCheckpoint({ origin: log.origin, size: 0, root: emptyRoot });
  const logKey = keyOf(log.origin);
  const checkpoint = formatNote({ text, signatures: [signNote(text, logKey, logKey.sign)] });
  assert.equal(verdict(witness, formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint })), "200");
  assert.equal(verdict(witness, log.request(0, 5)), "200");
  assert.equal(verdict(witness, formatAddCheckpoint({ oldSize: 0, proof: [], checkpoint })), "409 5");
});

test("what cannot be kept is not cosigned", () => {
  const witness = witnessOf(log.vkey);
  let signed = 0;
  const full: Witness = {
    ...witness,
    folder: {
      ...witness.folder,
      keep() {
        throw new Error("ENOSPC");
      },
    },
    key: {
      ...key,
      sign(message) {
        signed++;
        return key.sign(message);
      },
    },
  };
  assert.throws(() => addCheckpoint(full, log.request(0, 5)), /ENOSPC/);
  assert.equal(signed, 0);
});

test("each log has its own size", () => {
  const other = testLog("log.example/two");
  const witness = witnessOf(log.vkey, other.vkey);
  assert.equal(verdict(witness, log.request(0, 50)), "200");
  assert.equal(verdict(witness, other.request(0, 10)), "200");
  assert.equal(verdict(witness, log.request(50, 51)), "200");
  assert.equal(verdict(witness, other.request(10, 51)), "200");
});
