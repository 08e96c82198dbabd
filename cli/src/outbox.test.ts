import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runKeystead } from "../test/run_keystead.ts";

const id = "5b5f3c1e-7d0a-4b7e-9a57-0123456789ab";

test("outbox shows the newest message or as many as asked for, and no control characters", async (t) => {
  const data = mkdtempSync(join(tmpdir(), "keystead-cli-"));
  t.after(() => rmSync(data, { recursive: true }));
  const run = (...args: string[]) => runKeystead(["outbox", ...args], { cwd: data, env: { KEYSTEAD_DATA: data } });
  assert.match((await run()).stderr, /cannot read .*outbox \(ENOENT\); set KEYSTEAD_DATA/);
  mkdirSync(join(data, "outbox"));
  assert.match((await run()).stdout, /^there is no message in /);
  for (const [createdAtMs, code] of [
    [999, "OLD"],
    [1_763_000_000_000, "NEW\u001b[2J"],
  ] as const) {
    const createdAt = new Date(createdAtMs).toISOString();
    const message = {
      channel: "email",
      purpose: "code",
      to: "ann@example.com",
      subject: "Code",
      text: `It is\n${code}\n`,
      code,
      createdAt,
    };
    writeFileSync(join(data, "outbox", `${createdAtMs}-${id}.json`), JSON.stringify(message));
  }
  writeFileSync(join(data, "outbox", `.1763000000001-${id}.json.tmp`), "{");
  const { stdout } = await run();
  assert.equal(
    stdout,
    "2025-11-13T02:13:20.000Z  email to ann@example.com\nsubject: Code\ncode: NEW\\u{1b}[2J\n\nIt is\nNEW\\u{1b}[2J\n",
  );
  const later = { channel: "sms", purpose: "login", to: "+15551234567", subject: "Code", text: "It is B", code: "B" };
  const createdAt = new Date(1_763_000_000_002).toISOString();
  writeFileSync(join(data, "outbox", `1763000000002-${id}.json`), JSON.stringify({ ...later, createdAt }));
  assert.equal((await run()).stdout, `${createdAt}  sms to +15551234567\nbundle: B\n\nIt is B\n`);
  const both = (await run("5")).stdout;
  assert.ok(both.indexOf("NEW") < both.indexOf("OLD"));
  assert.match((await run("0")).stderr, /`0` is not how many messages to show/);
});
