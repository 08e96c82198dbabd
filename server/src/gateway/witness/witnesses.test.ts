import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { openCheckpointNote } from "@keystead/core/tlog/checkpoint.ts";
import { cosign, findCosignature } from "@keystead/core/tlog/cosignature.ts";
import { formatSignatureLine, parseNote } from "@keystead/core/tlog/note.ts";
import { encodeVkey, parseVkey } from "@keystead/core/tlog/vkey.ts";
import { patienceMs } from "../../../../core/test/patience.ts";
import { keyOf } from "../../../../core/test/tlog/note_keys.ts";
import { testLog } from "../../../../core/test/tlog/test_log.ts";
import { startMisbehavingWitness } from "../../../test/misbehaving_witness.ts";
import { startWitnessAlone, type WitnessProcess } from "../../../test/witness_process.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import type { WitnessSetting } from "./witness_settings.ts";
import { createWitnesses, type WitnessesOptions } from "./witnesses.ts";

const log = testLog("log.example/one");

function settingOf({ name, vkey, url }: { name: string; vkey: string; url: string }): WitnessSetting {
  return { name, vkey: parseVkey(vkey), url };
}

function start(t: TestContext, witnesses: readonly WitnessSetting[], options: Partial<WitnessesOptions> = {}) {
  /** By size, every line that came. */
  const cosigned = new Map<number, string[]>();
  const said: string[] = [];
  const proofs: string[] = [];
  const say = (level: string) => (message: unknown) => void said.push(`${level}: ${message}`);
  const running = createWitnesses({
    witnesses,
    curves: nodeCurves,
    log: { info: say("info"), warn: say("warn"), error: say("error") },
    async consistency(oldSize, newSize) {
      proofs.push(`${oldSize}-${newSize}`);
      return log.consistency(oldSize, newSize);
    },
    onCosigned: (size, line) => void cosigned.set(size, [...(cosigned.get(size) ?? []), line]),
    firstRetryMs: 20,
    longestRetryMs: 100,
    deadlineMs: 500,
    ...options,
  });
  t.after(() => running.close());
  return { ...running, cosigned, said, proofs };
}

async function until(condition: () => boolean, what: string): Promise<void> {
  const end = Date.now() + patienceMs;
  while (!condition()) {
    assert.ok(Date.now() < end, `waited in vain: ${what}`);
    await pause(5);
  }
}

async function realWitness(t: TestContext, data?: string, port?: number): Promise<WitnessProcess & { data: string }> {
  const folder = data ?? mkdtempSync(join(tmpdir(), "keystead-witness-"));
  if (data === undefined) t.after(() => rmSync(folder, { recursive: true }));
  const witness = await startWitnessAlone({ data: folder, logs: [log.vkey], ...(port === undefined ? {} : { port }) });
  t.after(() => witness.stop());
  return { ...witness, data: folder };
}

test("real witnesses cosign every pushed checkpoint, each from where it was, and the lines open below the note", async (t) => {
  const [first, second] = [await realWitness(t), await realWitness(t)];
  const { push, cosigned, said, proofs } = start(t, [settingOf(first), settingOf(second)]);
  for (const size of [1, 7, 50, 200]) {
    push(log.checkpoint(size));
    await until(() => cosigned.get(size)?.length === 2, `two cosignatures of ${size}`);
    const note = log.checkpoint(size) + cosigned.get(size)?.join("");
    const opened = openCheckpointNote(nodeCurves, parseVkey(log.vkey), note);
    for (const { vkey } of [first, second]) {
      assert.ok(Math.abs((findCosignature(nodeCurves, parseVkey(vkey), opened.note) ?? 0) - Date.now() / 1000) < 60);
    }
  }
  assert.deepEqual(proofs, ["1-7", "1-7", "7-50", "7-50", "50-200", "50-200"]);
  assert.deepEqual(said, []);
});

test("a new gateway goes on from the size that the witness names", async (t) => {
  const witness = await realWitness(t);
  assert.equal((await witness.post(log.request(0, 50))).status, 200);
  const { push, cosigned, proofs, said } = start(t, [settingOf(witness)]);
  push(log.checkpoint(60));
  await until(() => cosigned.has(60), "60 is cosigned");
  assert.deepEqual(proofs, ["50-60"]);
  // A checkpoint that was cosigned before a crash, and whose cosignature was lost, is cosigned again.
  const again = start(t, [settingOf(witness)]);
  again.push(log.checkpoint(60));
  await until(() => again.cosigned.has(60), "60 is cosigned again");
  assert.deepEqual([...said, ...again.said, ...again.proofs], []);
});

test("a witness that is away holds up no other, is reported once, and cosigns the newest when it is back", async (t) => {
  const [present, away] = [await realWitness(t), await realWitness(t)];
  const { push, cosigned, said } = start(t, [settingOf(present), settingOf(away)]);
  push(log.checkpoint(1));
  await until(() => cosigned.get(1)?.length === 2, "both cosign");
  await away.stop("SIGKILL");
  for (const size of [2, 3, 4]) {
    push(log.checkpoint(size));
    await until(() => cosigned.get(size)?.length === 1, `${size} is cosigned by one`);
  }
  await until(() => said.length === 1, "it is reported");
  assert.match(
    said[0] ?? "",
    new RegExp(`^warn: the witness ${away.name} does not cosign and is tried again: .*ECONNREFUSED`),
  );
  await realWitness(t, away.data, away.port);
  await until(() => cosigned.get(4)?.length === 2, "the newest is cosigned by both");
  assert.equal(cosigned.get(3)?.length, 1);
  await until(() => said.length === 2, "its return is reported");
  assert.equal(said[1], `info: the witness ${away.name} cosigns again`);
});

test("a witness that has seen another history is an alarm, and nothing of it is kept", async (t) => {
  const witness = await realWitness(t);
  const fork = testLog(log.origin, { seed: 1, shared: 20 });
  assert.equal((await witness.post(fork.request(0, 50))).status, 200);
  const { push, cosigned, said } = start(t, [settingOf(witness)]);
  push(log.checkpoint(60));
  await until(() => said.length > 0, "the alarm");
  const alarm = `error: the witness ${witness.name} has seen another history of this log and cosigns no more: `;
  assert.deepEqual(said, [`${alarm}it does not accept the proof from size 50 to 60`]);
  const other = start(t, [settingOf(witness)]);
  other.push(log.checkpoint(50));
  await until(() => other.said.length > 0, "the alarm");
  assert.deepEqual(other.said, [`${alarm}it has cosigned another root of size 50`]);
  assert.equal(cosigned.size + other.cosigned.size, 0);
});

test("a witness that is ahead is left alone until the log is as large", async (t) => {
  const witness = await realWitness(t);
  assert.equal((await witness.post(log.request(0, 50))).status, 200);
  const { push, cosigned, said } = start(t, [settingOf(witness)]);
  push(log.checkpoint(40));
  await until(() => said.length > 0, "it is said");
  const text = `warn: the witness ${witness.name} has cosigned size 50 of this log, which has 40; it waits until the log is larger`;
  push(log.checkpoint(45));
  push(log.checkpoint(60));
  await until(() => cosigned.has(60), "60 is cosigned");
  assert.deepEqual(said, [text]);
});

test("garbage, foreign keys, errors, endless and silent answers are refused, bounded in time, and hold up nobody", async (t) => {
  const standIn = await startMisbehavingWitness(t);
  const good = await realWitness(t);
  const key = keyOf("w.example/bad", 4);
  const bad = settingOf({ name: "bad", vkey: encodeVkey(key.name, key.publicKey, 4), url: `${standIn.url}/` });
  const textOf = (size: number) => parseNote(log.checkpoint(size)).text;
  const line = (size: number, signer = key) =>
    formatSignatureLine(cosign(textOf(size), signer, 1_763_000_000, signer.sign));
  type Answer = Parameters<typeof standIn.answerWith>[0];
  const text =
    (body: string, status = 200, type = "text/plain"): Answer =>
    (response) =>
      void response.writeHead(status, { "content-type": type }).end(body);
  const misbehaviours: [what: string, answer: Answer, said: RegExp][] = [
    ["status 500", text("", 500), /it answers 500/],
    ["another log's witness", text("", 404), /it answers 404: it does not follow this log, whose vkey it needs/],
    ["a redirect", (response) => void response.writeHead(302, { location: good.url }).end(), /it answers 302/],
    ["status 101", (response) => void response.writeHead(101).end(), /./],
    ["nothing", text(""), /malformed signed note/],
    ["no signature", text("thank you\n"), /malformed signed note/],
    ["no line break", text(line(2).slice(0, -1)), /malformed signed note/],
    ["another key", text(line(2, keyOf("w.example/other", 4))), /no cosignature by its configured key/],
    [
      "another key under its name",
      text(line(2, { ...keyOf("x", 4), name: key.name })),
      /no cosignature by its configured key/,
    ],
    ["a cosignature of another size", text(line(3)), /cosignature of `w.example\/bad` does not verify/],
    ["a good and a bad line", text(line(2) + line(3)), /does not verify/],
    [
      "a line without time",
      text(formatSignatureLine({ ...key, signature: key.sign(Buffer.from(textOf(2))) })),
      /does not verify/,
    ],
    ["409 without a size", text("1\n", 409), /answers 409 and names no size/],
    ["409 with nonsense", text("one\n", 409, "text/x.tlog.size"), /malformed answer of a witness/],
    ["silence", () => undefined, /./],
    ["a body that hangs", (response) => void response.writeHead(200).write("— "), /./],
    ["an endless body", (response) => endless(response), /more than 16384 bytes/],
    ["a cut connection", (response) => void response.destroy(), /./],
  ];
  for (const [what, answer, expected] of misbehaviours) {
    standIn.answerWith(answer);
    const { push, cosigned, said, close } = start(t, [bad, settingOf(good)]);
    push(log.checkpoint(2));
    await until(() => said.length > 0 && cosigned.has(2), what);
    assert.equal(said.length, 1, what);
    assert.match(said[0] ?? "", /^warn: the witness bad does not cosign and is tried again: /, what);
    assert.match(said[0] ?? "", expected, what);
    assert.equal(cosigned.get(2)?.length, 1, what);
    assert.ok(cosigned.get(2)?.[0]?.startsWith(`— ${good.name} `), what);
    await close();
  }
  assert.ok(standIn.asked.length >= misbehaviours.length);
});

test("of a witness that cosigns many times over, one line is kept: a note of too many is nobody's to read", async (t) => {
  const standIn = await startMisbehavingWitness(t);
  const key = keyOf("w.example/many", 4);
  const { text } = parseNote(log.checkpoint(2));
  const times = Array.from({ length: 64 }, (_, second) => 1_763_000_000 + second);
  const lines = times.map((seconds) => formatSignatureLine(cosign(text, key, seconds, key.sign))).join("");
  standIn.answerWith((response) => void response.writeHead(200, { "content-type": "text/plain" }).end(lines));
  const vkey = encodeVkey(key.name, key.publicKey, 4);
  const { push, cosigned } = start(t, [settingOf({ name: "many", vkey, url: standIn.url })]);
  push(log.checkpoint(2));
  await until(() => cosigned.has(2), "it is cosigned");
  assert.equal(cosigned.get(2)?.length, 1);
  const { note } = openCheckpointNote(nodeCurves, parseVkey(log.vkey), log.checkpoint(2) + cosigned.get(2)?.join(""));
  assert.equal(findCosignature(nodeCurves, parseVkey(vkey), note), times.at(-1), "the newest");
});

function endless(response: import("node:http").ServerResponse): void {
  const chunk = Buffer.alloc(4_096, 0x41);
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response
    .writeHead(200)
    .on("drain", write)
    .on("error", () => undefined);
  write();
}

test("a witness that names another size each time is not asked for ever", async (t) => {
  const standIn = await startMisbehavingWitness(t);
  const key = keyOf("w.example/bad", 4);
  const setting = settingOf({ name: "bad", vkey: encodeVkey(key.name, key.publicKey, 4), url: standIn.url });
  let size = 1;
  standIn.answerWith((response) => {
    size = size === 1 ? 2 : 1;
    response.writeHead(409, { "content-type": "text/x.tlog.size" }).end(`${size}\n`);
  });
  const { push, said } = start(t, [setting], { firstRetryMs: 60_000, longestRetryMs: 60_000 });
  push(log.checkpoint(9));
  await until(() => said.length > 0, "it is said");
  assert.match(said[0] ?? "", /it names another size each time/);
  assert.equal(standIn.asked.length, 3);
});

test("only lines of the configured key are kept, and of a flood of checkpoints the newest is sent", async (t) => {
  const standIn = await startMisbehavingWitness(t);
  const key = keyOf("w.example/w", 4);
  const other = keyOf("w.example/other", 4);
  const setting = settingOf({ name: "w", vkey: encodeVkey(key.name, key.publicKey, 4), url: standIn.url });
  standIn.answerWith(async (response, body) => {
    await pause(50);
    const { text } = parseNote(body.slice(body.indexOf("\n\n") + 2));
    const [own, foreign] = [key, other].map((each) => formatSignatureLine(cosign(text, each, 5, each.sign)));
    response.end(`${foreign}${own}`);
  });
  const { push, cosigned } = start(t, [setting]);
  for (let size = 1; size <= 100; size++) push(log.checkpoint(size));
  await until(() => cosigned.has(100), "the newest is cosigned");
  assert.ok(standIn.asked.length <= 2, `${standIn.asked.length} requests`);
  assert.equal(cosigned.get(100)?.length, 1);
  assert.ok(cosigned.get(100)?.[0]?.startsWith("— w.example/w "));
});

test("a cosignature that cannot be stored, and a proof that cannot be read, are tried again", async (t) => {
  const witness = await realWitness(t);
  let [stored, read] = [0, 0];
  const sizes: number[] = [];
  const { push, said } = start(t, [settingOf(witness)], {
    async consistency(oldSize, newSize) {
      if (++read === 1) throw new Error("the database is away");
      return log.consistency(oldSize, newSize);
    },
    async onCosigned(size) {
      if (++stored === 1) throw new Error("the database is away");
      sizes.push(size);
    },
  });
  push(log.checkpoint(5));
  await until(() => sizes.includes(5), "5 is stored");
  push(log.checkpoint(9));
  await until(() => sizes.includes(9), "9 is stored");
  assert.ok(said.some((line) => line.endsWith("the database is away")));
});

test("closing ends a request that hangs", async (t) => {
  const standIn = await startMisbehavingWitness(t);
  standIn.answerWith(() => undefined);
  const key = keyOf("w.example/w", 4);
  const setting = settingOf({ name: "w", vkey: encodeVkey(key.name, key.publicKey, 4), url: standIn.url });
  const { push, close, said } = start(t, [setting], { deadlineMs: 60_000 });
  push(log.checkpoint(5));
  await until(() => standIn.asked.length === 1, "it is asked");
  await close();
  assert.deepEqual(said, []);
});
