import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { testLog } from "../../../../core/test/tlog/test_log.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { openCheckpointFile } from "./checkpoint_file.ts";
import { createCheckpointOutlets } from "./checkpoint_outlets.ts";
import { parseWitnesses } from "./witness_settings.ts";

const log = testLog("log.example/one");

function start(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "keystead-checkpoints-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const said: string[] = [];
  const say = (message: unknown) => void said.push(String(message));
  const path = join(folder, "checkpoints");
  return { path, said, logger: { error: say, info: say, warn: say } };
}

/** The notes of a file: an empty line parts text from signatures, and one note from the next. */
function notesIn(path: string): string[] {
  const blocks = readFileSync(path, "utf8").split(/\n\n+/);
  return blocks.flatMap((block, i) => (block.startsWith("— ") ? [`${blocks[i - 1]}\n\n${block}\n`] : []));
}

test("every checkpoint is appended in its order, over a restart too", async (t) => {
  const { path, said, logger } = start(t);
  for (const sizes of [[1, 2, 3], [], [7, 9]]) {
    const file = openCheckpointFile(path, logger);
    for (const size of sizes) file.append(log.checkpoint(size));
    await file.close();
  }
  const notes = [1, 2, 3, 7, 9].map((size) => log.checkpoint(size));
  assert.deepEqual(notesIn(path), notes);
  assert.equal(readFileSync(path, "utf8"), notes.map((note) => `${note}\n`).join(""));
  assert.deepEqual(said, []);
});

test("the permission model, which the gateway runs in, lets it write", (t) => {
  const { path } = start(t);
  const program = `
    import { openCheckpointFile } from ${JSON.stringify(join(import.meta.dirname, "checkpoint_file.ts"))};
    const file = openCheckpointFile(${JSON.stringify(path)}, console);
    file.append(${JSON.stringify(log.checkpoint(1))});
    file.append(${JSON.stringify(log.checkpoint(2))});
    await file.close();`;
  const permissions = ["--permission", "--allow-fs-read=*", `--allow-fs-write=${path}`];
  const { stdout, stderr, status } = spawnSync(process.execPath, [
    ...permissions,
    ...["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program],
  ]);
  assert.deepEqual([status, `${stdout}${stderr}`], [0, ""]);
  assert.deepEqual(notesIn(path), [log.checkpoint(1), log.checkpoint(2)]);
});

test("a checkpoint that was cut short stays apart from the next", async (t) => {
  const { path, logger } = start(t);
  for (const length of [5, 30, 90]) {
    appendFileSync(path, log.checkpoint(1).slice(0, length));
    const file = openCheckpointFile(path, logger);
    file.append(log.checkpoint(2));
    await file.close();
  }
  assert.equal(notesIn(path).filter((note) => note === log.checkpoint(2)).length, 3);
});

test("a file that cannot be written is said once and tried again, and nothing else waits for it", async (t) => {
  const { path, said, logger } = start(t);
  mkdirSync(path);
  const file = openCheckpointFile(path, logger);
  file.append(log.checkpoint(1));
  file.append(log.checkpoint(2));
  await file.close();
  assert.equal(said.length, 1);
  assert.match(said[0] ?? "", /^KEYSTEAD_CHECKPOINT_FILE cannot be written: .*EISDIR/);
  rmSync(path, { recursive: true });
  file.append(log.checkpoint(3));
  await file.close();
  assert.equal(said[1], "KEYSTEAD_CHECKPOINT_FILE is written again");
  assert.deepEqual(notesIn(path), [log.checkpoint(3)]);
});

test("one call sends a checkpoint to the file and to the witnesses, of which there may be none", async (t) => {
  const { path, logger } = start(t);
  const outlets = createCheckpointOutlets({
    witnesses: [],
    checkpointFile: path,
    curves: nodeCurves,
    log: logger,
    consistency: async () => [],
    onCosigned: () => undefined,
  });
  outlets.push(log.checkpoint(4));
  await outlets.close();
  assert.deepEqual(notesIn(path), [log.checkpoint(4)]);
});

test("the keys of witnesses are read, and a wrong one is named", () => {
  const vkey = "w.example/1";
  const entry = (key: string) => JSON.stringify([{ name: "w1", vkey: key, url: "http://w" }]);
  assert.deepEqual(parseWitnesses(undefined), []);
  assert.deepEqual(parseWitnesses(""), []);
  const witness = "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
  assert.throws(() => parseWitnesses(entry(witness)), {
    message: "KEYSTEAD_WITNESSES: the vkey of `w1` is the key of a log, not of a witness",
  });
  assert.throws(() => parseWitnesses(entry(vkey)), {
    message: "KEYSTEAD_WITNESSES: the vkey of `w1` is wrong: malformed verifier key: not of the form name+id+key",
  });
});
