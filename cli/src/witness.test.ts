/** `keystead witness` as a real process over HTTP. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { verifyCosignature } from "@keystead/core/tlog/cosignature.ts";
import { parseNote, parseSignatureLines } from "@keystead/core/tlog/note.ts";
import { parseVkey } from "@keystead/core/tlog/vkey.ts";
import { formatAddCheckpoint } from "@keystead/core/tlog/witness.ts";
import { seededRandom } from "../../core/test/seeded_random.ts";
import { testCurves } from "../../core/test/test_curves.ts";
import { testLog } from "../../core/test/tlog/test_log.ts";
import {
  startWitness,
  startWitnessAlone,
  startWitnessWithNpx,
  type WitnessProcess,
} from "../../server/test/witness_process.ts";
import { runKeystead } from "../test/run_keystead.ts";

const log = testLog("log.example/one");
const other = testLog("log.example/two");
const fork = testLog("log.example/one", { seed: 1, shared: 20 });

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "keystead-witness-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, "data");
}

/** The time of the one cosignature in an answer, which must verify. */
function checkCosignature({ vkey }: WitnessProcess, checkpoint: string, body: string): number {
  const [line, ...rest] = parseSignatureLines(body);
  assert.ok(line !== undefined && rest.length === 0);
  return verifyCosignature(testCurves, parseVkey(vkey), parseNote(checkpoint).text, line);
}

test("a witness says its key, answers every status over HTTP, and keeps its key and place over a restart", async (t) => {
  const data = folderFor(t);
  const first = await startWitness({ data, logs: [log.vkey, other.vkey] });
  t.after(() => first.stop());
  assert.equal(parseVkey(first.vkey).type, 4);
  assert.equal(parseVkey(first.vkey).name, first.name);
  assert.deepEqual(first.lines.slice(0, 4), [
    `vkey ${first.vkey}`,
    `url http://127.0.0.1:${first.port}`,
    "log log.example/one, cosigned up to 0",
    "log log.example/two, cosigned up to 0",
  ]);
  assert.equal(statSync(join(data, "witness.key")).mode & 0o777, 0o600);
  assert.equal(readFileSync(join(data, ".gitignore"), "utf8"), "*\n");

  const ok = await first.post(log.request(0, 50));
  assert.equal(ok.status, 200);
  const now = Date.now() / 1000;
  assert.ok(Math.abs(checkCosignature(first, log.checkpoint(50), ok.body) - now) < 60);
  assert.equal((await first.post("nonsense")).status, 400);
  const foreign = formatAddCheckpoint({
    oldSize: 50,
    proof: log.consistency(50, 60),
    checkpoint: `${parseNote(log.checkpoint(60)).text}\n— stranger rwz+eAA=\n`,
  });
  assert.equal((await first.post(foreign)).status, 403);
  assert.equal((await first.post(testLog("log.example/three").request(0, 1))).status, 404);
  assert.deepEqual(await first.post(log.request(0, 60)), { status: 409, type: "text/x.tlog.size", body: "50\n" });
  assert.equal((await first.post(fork.request(50, 60))).status, 422);
  assert.equal((await first.post(other.request(0, 3))).status, 200);

  assert.equal((await first.post("x".repeat(40_000))).status, 413);
  assert.equal((await fetch(`${first.url}/add-checkpoint`)).status, 405);
  assert.equal((await fetch(`${first.url}/`)).status, 404);
  assert.equal((await fetch(`${first.url}/add-checkpoint`, { method: "POST", body: Buffer.from([255]) })).status, 400);
  await first.stop();

  const second = await startWitness({ data, logs: [log.vkey] });
  t.after(() => second.stop());
  assert.equal(second.vkey, first.vkey);
  assert.equal(second.lines[2], "log log.example/one, cosigned up to 50");
  assert.deepEqual(await second.post(fork.request(0, 30)), { status: 409, type: "text/x.tlog.size", body: "50\n" });
  assert.equal((await second.post(fork.request(50, 60))).status, 422);
  assert.equal((await second.post(log.request(50, 60))).status, 200);
});

test("of many requests at once from one size, all cosignatures are of one history", async (t) => {
  const witness = await startWitnessAlone({ data: folderFor(t), logs: [log.vkey] });
  t.after(() => witness.stop());
  assert.equal((await witness.post(log.request(0, 20))).status, 200);
  // Half of them are of a fork; the first to come decides.
  const requests = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? log : fork).request(20, 21 + i));
  const statuses = (await Promise.all(requests.map((body) => witness.post(body)))).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join());
  assert.equal(statuses.filter((status) => status === 409).length, 39);
});

test("killed at any moment and started again, it never cosigns an older size or a fork", async (t) => {
  const data = folderFor(t);
  const random = seededRandom(24);
  const stranger = testLog("log.example/one", { seed: 1, shared: 1 });
  let [cosigned, refused] = [0, 0];
  let port = 0;
  const rounds = 8;
  for (let round = 0; round < rounds; round++) {
    const witness = await startWitnessAlone({ data, logs: [log.vkey], port });
    port = witness.port;
    const [, kept = "0"] = /cosigned up to ([0-9]+)/.exec(witness.lines.join("\n")) ?? [];
    assert.ok(Number(kept) >= cosigned, `it answered for ${cosigned} and has kept ${kept}`);
    let size = Number(kept);
    if (size > 1) {
      assert.equal((await witness.post(stranger.request(size, size))).status, 409);
      assert.equal((await witness.post(stranger.request(size, size + 1))).status, 422);
      assert.equal((await witness.post(log.request(1, size))).status, 409);
      refused += 3;
    }
    // However slow the machine, there is something to go back from.
    for (; size < 2; size++) assert.equal((await witness.post(log.request(size, size + 1))).status, 200);
    cosigned = size;
    const killed = new Promise((resolve) => setTimeout(resolve, 20 + random.below(150))).then(() =>
      witness.stop("SIGKILL"),
    );
    while (size < 199) {
      // The log itself may have gone on in a request whose answer was lost.
      const answer = await witness.post(log.request(size, size + 1)).catch(() => undefined);
      if (answer === undefined) break;
      assert.equal(answer.status, 200);
      checkCosignature(witness, log.checkpoint(size + 1), answer.body);
      size += 1;
      cosigned = size;
    }
    await killed;
  }
  t.diagnostic(`${rounds} kills, ${cosigned} sizes cosigned, ${refused} attempts to go back or to fork refused`);
  assert.ok(cosigned > 1 && refused > 10);
});

test("a second witness on the same folder, and a folder that was damaged, are refused", async (t) => {
  const data = folderFor(t);
  const witness = await startWitnessAlone({ data, logs: [log.vkey] });
  t.after(() => witness.stop());
  assert.equal((await witness.post(log.request(0, 5))).status, 200);
  const run = () => runKeystead(["witness", "--log", log.vkey, "--port", "0", "--data", data], { cwd: tmpdir() });
  assert.deepEqual(await run(), { code: 1, stdout: "", stderr: `keystead: another witness is running on ${data}\n` });
  await witness.stop();
  const name = readdirSync(data).find((each) => each.endsWith(".checkpoint")) ?? "";
  writeFileSync(join(data, name), log.checkpoint(5).slice(0, -9));
  const damaged = await run();
  assert.equal(damaged.code, 1);
  assert.match(
    damaged.stderr,
    /^keystead: .*\.checkpoint is not the checkpoint that was written there .*; restore it\n$/,
  );
  writeFileSync(join(data, name), other.checkpoint(5));
  assert.match((await run()).stderr, /\.checkpoint is the checkpoint of another log; restore it\n$/);
});

test("a request that does not end holds up no other", async (t) => {
  const witness = await startWitnessAlone({ data: folderFor(t), logs: [log.vkey] });
  t.after(() => witness.stop());
  const slow = connect(witness.port, "127.0.0.1");
  t.after(() => slow.destroy());
  slow.write("POST /add-checkpoint HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nold ");
  assert.equal((await witness.post(log.request(0, 5))).status, 200);
});

test("SIGTERM to npx ends the witness too: its folder and its port are free again", async (t) => {
  const data = folderFor(t);
  const witness = await startWitnessWithNpx({ data, logs: [log.vkey] });
  assert.equal((await witness.post(log.request(0, 5))).status, 200);
  await witness.stop();
  const isThere = () =>
    fetch(witness.url).then(
      () => true,
      () => false,
    );
  // It looks twice in a second; a busy machine may take longer.
  for (let i = 0; i < 200 && (await isThere()); i++) await new Promise((resolve) => setTimeout(resolve, 50));
  const next = await startWitnessAlone({ data, logs: [log.vkey], port: witness.port });
  t.after(() => next.stop());
  assert.equal(next.lines[2], "log log.example/one, cosigned up to 5");
});

test("misuse of the command is explained", async (t) => {
  const data = folderFor(t);
  const run = (...args: string[]) => runKeystead(["witness", ...args], { cwd: tmpdir() });
  const cases: [args: string[], said: RegExp][] = [
    [["--port", "0"], /^keystead: witness needs --log VKEY, once for each log that it follows; see/],
    [["--log", log.vkey], /^keystead: witness needs --port N, a whole number from 0 to 65535/],
    [["--log", log.vkey, "--port", "70000"], /^keystead: witness needs --port N/],
    [["--log", log.vkey, "--port", "0", "more"], /^keystead: `more` is one argument too many/],
    [
      ["--log", log.vkey.replace("one", "two"), "--port", "0", "--data", data],
      /^keystead: --log `.*`: malformed verifier key: the id is not that of the name and the key\n$/,
    ],
  ];
  for (const [args, said] of cases) {
    const { code, stderr } = await run(...args);
    assert.match(stderr, said);
    assert.equal(code, 2);
  }
  assert.equal(existsSync(data), false);
  assert.match((await run("--help")).stdout, /usage: npx keystead witness --log VKEY… --port N/);
});
