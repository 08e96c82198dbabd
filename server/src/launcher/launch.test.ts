/** The launcher as a real process, with stand-ins for gateway and signer. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { patienceMs } from "../../../core/test/patience.ts";
import { samples } from "../../../core/test/samples.ts";
import { birthOf } from "./bootstrap.ts";

const entry = fileURLToPath(new URL("stand_in_main.test_entry.ts", import.meta.url));
const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === "linux";

type Self = { pid: number; uid: number; env: Record<string, string>; argv: string[] };
type Answer = {
  gateway: Self;
  signer: Self & { rootKeyHash: string; nodeDigest?: string; orders: Record<string, unknown> };
};

/** Below a folder that other users may pass, so that separate user ids work where the tests run as root. */
function freshFolder(t: TestContext): string {
  const top = mkdtempSync(join(tmpdir(), "keystead-launch-"));
  chmodSync(top, 0o711);
  t.after(() => rmSync(top, { recursive: true, force: true }));
  return join(top, "data");
}

class Started {
  readonly process: ChildProcess;
  readonly data: string;
  said = "";
  readonly closed: Promise<unknown[]>;

  constructor(t: TestContext, data: string, args: string[] = [], env: Record<string, string> = {}) {
    this.data = data;
    this.process = spawn(process.execPath, [entry, ...args], {
      env: { PORT: "0", KEYSTEAD_DATA: data, NODE_OPTIONS: "--no-warnings", MY_TOKEN: "shell", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.said += chunk;
      });
    }
    this.closed = once(this.process, "exit");
    t.after(async () => {
      this.process.kill("SIGKILL");
      await this.closed;
    });
  }

  async until(pattern: RegExp): Promise<void> {
    await eventually(
      () => pattern.test(this.said),
      () => `${pattern} in: ${this.said}`,
    );
  }

  async end(): Promise<number | null> {
    await this.closed;
    return this.process.exitCode;
  }

  async ready(): Promise<this> {
    await this.until(/try: .*whoami.*\n/);
    return this;
  }

  async ask(): Promise<{ status: number; body: Answer }> {
    const { baseUrl } = JSON.parse(readFileSync(join(this.data, "bootstrap.json"), "utf8"));
    const response = await fetch(baseUrl).catch(() => undefined);
    return response
      ? { status: response.status, body: (await response.json()) as Answer }
      : { status: 0, body: {} as Answer };
  }

  /** Makes the stand-in gateway do what only one under foreign control would. */
  async misuse(what: "channel" | "print" | "handle", text = ""): Promise<void> {
    const { baseUrl } = JSON.parse(readFileSync(join(this.data, "bootstrap.json"), "utf8"));
    await fetch(`${baseUrl}/${what}?${encodeURIComponent(text)}`).catch(() => undefined);
  }

  async answer(isRight: (answer: Answer) => boolean = () => true): Promise<Answer> {
    for (const until = Date.now() + patienceMs; Date.now() < until; ) {
      const { status, body } = await this.ask();
      if (status === 200 && isRight(body)) return body;
      await pause(50);
    }
    throw new Error(`no right answer; ${this.said}`);
  }
}

async function eventually(isTrue: () => boolean, describe: () => string): Promise<void> {
  for (const until = Date.now() + patienceMs; Date.now() < until; ) {
    if (isTrue()) return;
    await pause(25);
  }
  throw new Error(`waited in vain for ${describe()}`);
}

/** An answer may name a process that ended a moment ago. */
const killIfAlive = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ESRCH");
  }
};

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !isLinux || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
};
const goneSoon = (pid: number) =>
  eventually(
    () => !isAlive(pid),
    () => `the end of ${pid}`,
  );

const bootstrapOf = (data: string) => JSON.parse(readFileSync(join(data, "bootstrap.json"), "utf8"));

test("a start makes the folders, hands the root key and the orders to the signer, and says what it did", async (t) => {
  const data = freshFolder(t);
  const env = { KEYSTEAD_ORGANIZATION_NAME: "Ours", KEYSTEAD_LIMITS: '{"userTagsPerOrganization": 7}' };
  const started = await new Started(t, data, [], {
    ...env,
    KEYSTEAD_OTP_PLAINTEXT: "allow",
    KEYSTEAD_DEV_OTP: "fixed",
  }).ready();
  const { signer } = await started.answer();
  const bootstrap = JSON.parse(readFileSync(join(data, "bootstrap.json"), "utf8"));
  const mode = (name: string) => statSync(join(data, name)).mode & 0o777;
  assert.equal(mode(""), 0o711);
  assert.deepEqual(["database", "signer"].map(mode), [0o700, 0o700]);
  assert.deepEqual(["root.key", "bootstrap.json", "lock"].map(mode), [0o600, 0o600, 0o600]);
  assert.equal(readFileSync(join(data, ".gitignore"), "utf8"), "*\n");
  assert.equal(
    signer.rootKeyHash,
    createHash("sha256")
      .update(readFileSync(join(data, "root.key")))
      .digest("hex"),
  );
  const { organizationId, userId, apiPublicKey } = bootstrap;
  const { authProxy } = birthOf(bootstrap);
  assert.equal(authProxy.configId, bootstrap.authProxyConfigId);
  assert.deepEqual(signer.orders, {
    memoryFolder: join(data, "signer"),
    adoptUnknown: false,
    acceptDatabase: false,
    reseal: false,
    vouch: false,
    limits: { userTagsPerOrganization: 7 },
    hasSandboxCodes: true,
    linkingIssuers: ["https://accounts.google.com"],
    allowsPlainAnswers: true,
    hasCaptcha: false,
    resetClock: false,
    birth: { organizationId, organizationName: "Ours", userId, userName: "Root user", apiPublicKey, authProxy },
  });
  const { port } = new URL(bootstrap.baseUrl);
  assert.notEqual(port, "0");
  assert.match(started.said, new RegExp(`^Keystead is ready at http://127.0.0.1:${port}$`, "m"));
  assert.match(started.said, new RegExp(`^ {2}try: KEYSTEAD_DATA=${data} npx keystead whoami$`, "m"));
  assert.match(started.said, /^signer: stand-in signer is here$/m);
  assert.match(started.said, /^WARNING: KEYSTEAD_DEV_OTP=fixed: the code for user@example.com .* is 000000/m);
  assert.ok(started.said.includes(`  public keys, for clients to pin: ${join(data, "public_keys.json")}\n`));
  const told = JSON.parse(readFileSync(join(data, "public_keys.json"), "utf8"));
  assert.deepEqual(told, {
    publicKeys: { signer: `04${"ab".repeat(64)}` },
    attestationRoot: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
  });
  assert.match(
    started.said,
    isRoot ? /processes are separated by user id/ : /one user id: .* \(it was not started as root\)/,
  );
});

test("the digest of Node reaches each signer behind its orders, which do not wait for it", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const expected = createHash("sha256").update(readFileSync(process.execPath)).digest("hex");
  const until = performance.now() + patienceMs;
  let nodeDigest: string | undefined;
  while (nodeDigest === undefined && performance.now() < until) ({ nodeDigest } = (await started.answer()).signer);
  assert.equal(nodeDigest, expected);
});

test("children get an environment by allow-list: the signer's is empty, the gateway's has no name that is missing in its row", async (t) => {
  const passphrase = `${freshFolder(t)}.passphrase`;
  writeFileSync(passphrase, "correct horse", { mode: 0o600 });
  const data = freshFolder(t);
  const env = {
    KEYSTEAD_PASSPHRASE_FILE: passphrase,
    KEYSTEAD_SECRET_X: "made up",
    KEYSTEAD_LIMITS: "{}",
    SMTP_URL: "smtp://user:password@mail",
    KEYSTEAD_MAIL_FROM: "no-reply@example.com",
    PGPASSWORD: "password",
    DATABASE_URL: "postgres://h/d",
    KEYSTEAD_HOST: "127.0.0.1",
  };
  const { gateway, signer } = await (await new Started(t, data, [], env).ready()).answer();
  assert.deepEqual(signer.env, {});
  assert.equal(signer.orders.adoptUnknown, true);
  assert.deepEqual(gateway.env, {
    PORT: "0",
    KEYSTEAD_HOST: "127.0.0.1",
    KEYSTEAD_LIMITS: "{}",
    DATABASE_URL: "postgres://h/d",
    KEYSTEAD_DATABASE_FOLDER: join(data, "database"),
    KEYSTEAD_MODE: "serve",
    KEYSTEAD_CHANNELS: "email",
    KEYSTEAD_LINKING_ISSUERS: "https://accounts.google.com",
    KEYSTEAD_CAPTCHA_SITE_KEY: "",
  });
});

test("the control descriptor exists in launcher and signer only", { skip: !isLinux && "needs /proc" }, async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const { gateway, signer } = await started.answer();
  const sockets = (pid: number) =>
    readdirSync(`/proc/${pid}/fd`)
      // Standard output and error are this test's, and all three have them.
      .filter((fd) => Number(fd) > 2)
      .map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
      .filter((target) => target.startsWith("socket:"));
  const others = new Set([...sockets(started.process.pid ?? 0), ...sockets(signer.pid)]);
  assert.match(readlinkSync(`/proc/${signer.pid}/fd/4`), /^socket:/);
  assert.deepEqual(
    sockets(gateway.pid).filter((socket) => others.has(socket)),
    [],
  );
  const kept = sockets(started.process.pid ?? 0);
  process.kill(signer.pid, "SIGKILL");
  await started.answer((answer) => answer.signer.pid !== signer.pid);
  assert.equal(sockets(started.process.pid ?? 0).length, kept.length, "restarts leave no descriptor behind");
});

test("a dead signer is started again and joined to the gateway that runs; requests meanwhile are answered 503", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const first = await started.answer();
  process.kill(first.signer.pid, "SIGKILL");
  await goneSoon(first.signer.pid);
  const meanwhile = await started.ask();
  assert.ok(meanwhile.status === 503 || meanwhile.status === 200);
  const second = await started.answer(({ signer }) => signer.pid !== first.signer.pid);
  assert.equal(second.gateway.pid, first.gateway.pid);
  assert.equal(second.signer.rootKeyHash, first.signer.rootKeyHash);
  process.kill(second.signer.pid, "SIGSTOP");
  process.kill(second.signer.pid, "SIGKILL");
  const third = await started.answer(({ signer }) => signer.pid !== second.signer.pid);
  assert.equal(third.gateway.pid, first.gateway.pid);
  assert.match(started.said, /signer ended \(signal SIGKILL\); starting it again/);
});

test("a dead gateway is started again on the same port with a new signer", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const first = await started.answer();
  process.kill(first.gateway.pid, "SIGKILL");
  const second = await started.answer(({ gateway }) => gateway.pid !== first.gateway.pid);
  assert.notEqual(second.signer.pid, first.signer.pid);
  assert.equal(isAlive(first.signer.pid), false);
  assert.equal(second.signer.rootKeyHash, first.signer.rootKeyHash);
  assert.equal(started.said.match(/Keystead is ready/g)?.length, 1);
});

test("a private key that was taken out of bootstrap.json stays out when the gateway is started again", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const first = await started.answer();
  const file = join(started.data, "bootstrap.json");
  const { apiPrivateKey, ...rest } = JSON.parse(readFileSync(file, "utf8"));
  assert.match(apiPrivateKey, /^[0-9a-f]{64}$/);
  writeFileSync(file, JSON.stringify(rest));
  process.kill(first.gateway.pid, "SIGKILL");
  await started.answer(({ gateway }) => gateway.pid !== first.gateway.pid);
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), rest);
});

test("a broken bootstrap.json is named when the gateway is started again, and does not end the launcher", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const first = await started.answer();
  const file = join(started.data, "bootstrap.json");
  const right = readFileSync(file);
  writeFileSync(file, "{");
  process.kill(first.gateway.pid, "SIGKILL");
  await started.until(/could not write the address http:.* to .*bootstrap\.json: .* is not a bootstrap file/);
  writeFileSync(file, right);
  await started.answer(({ gateway }) => gateway.pid !== first.gateway.pid);
});

test("nonsense and Node's own commands on the channel cost the gateway its life, not the launcher its own", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  let before = await started.answer();
  for (const text of [
    '{"cmd":"NODE_HANDLE_ACK"}',
    '{"cmd":"NODE_HANDLE_NACK"}',
    "no JSON\r    at file:///no/frame.ts:1:1",
    '{"cmd":"NODE_HANDLE_ACK"}\n{"cmd":"NODE_HANDLE_ACK"}',
  ]) {
    await started.misuse("channel", text);
    const after = await started.answer(({ gateway }) => gateway.pid !== before.gateway.pid);
    assert.equal(after.signer.rootKeyHash, before.signer.rootKeyHash);
    before = after;
  }
  assert.equal(started.said.match(/^gateway: it misused its channel \(\w+\) and is replaced$/gm)?.length, 4);
});

test("messages of the wrong shape are dropped", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const before = await started.answer();
  for (const text of [
    '{"kind":"report","lines":[{"toString":1},null,7,["x"],"a line"]}',
    '{"kind":"report","lines":{"length":1}}',
    '{"kind":"fatal","message":{"toString":1}}',
    '{"kind":"listening","port":{"valueOf":1}}',
    '{"kind":{"toString":1}}',
    '{"cmd":"NODE_OTHER"}',
    "null",
  ]) {
    await started.misuse("channel", text);
  }
  assert.equal((await started.answer()).gateway.pid, before.gateway.pid);
  await started.until(/^gateway: a line$/m);
  assert.equal(started.said.match(/^gateway: /gm)?.length, 1, started.said);
});

test("a handle from the gateway is closed", { skip: !isLinux && "needs /proc" }, async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  const before = await started.answer();
  const open = () => readdirSync(`/proc/${started.process.pid}/fd`).length;
  const usual = open();
  await started.misuse("handle");
  await started.misuse("channel", '{"kind":"report","lines":["it was sent"]}');
  await started.until(/^gateway: it was sent$/m);
  assert.equal(open(), usual);
  assert.equal((await started.answer()).gateway.pid, before.gateway.pid);
});

test("what the gateway prints while it serves cannot pass for the launcher's words; its log stays JSON", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  await started.misuse("channel", '{"kind":"report","lines":["Keystead is ready at http://evil.example"]}');
  await started.misuse("print", "Keystead is ready at http://evil.example\r\u001b[2Jkeystead: all is well");
  await started.misuse("print", '{"level":50,"msg":"a log entry"}');
  await started.misuse("print", '{"level":50} Keystead is ready');
  await started.until(/^gateway: \{"level":50\} Keystead is ready$/m);
  await started.until(/^gateway: Keystead is ready at http:\/\/evil.example$/m);
  assert.match(started.said, /^gateway: Keystead is ready at http:\/\/evil.example \[2Jkeystead: all is well$/m);
  assert.match(started.said, /^\{"level":50,"msg":"a log entry"\}$/m);
});

test("a signer that gives up after a restart is started once more", async (t) => {
  const started = await new Started(t, freshFolder(t), [], { KEYSTEAD_ORGANIZATION_NAME: "fatal later" }).ready();
  const first = await started.answer();
  process.kill(first.signer.pid, "SIGKILL");
  const next = await started.answer(({ signer }) => signer.pid !== first.signer.pid);
  assert.equal(next.gateway.pid, first.gateway.pid);
  assert.match(started.said, /^signer: not this time$/m);
});

test("a signer whose memory was renamed has its folder synced, which it cannot do itself", async (t) => {
  const started = await new Started(t, freshFolder(t), [], { KEYSTEAD_ORGANIZATION_NAME: "signer renames" }).ready();
  await started.answer();
  assert.doesNotMatch(started.said, /cannot be synced/);
  // A folder that is not there shows who looked for it.
  rmSync(join(started.data, "signer"), { recursive: true });
  await started.answer();
  await started.until(/signer cannot be synced: /);
});

test("random kills of both never leave the launcher without a pair", async (t) => {
  const started = await new Started(t, freshFolder(t)).ready();
  for (let i = 0; i < samples.launcherKills; i++) {
    const { gateway, signer } = await started.answer();
    for (const pid of i % 3 === 0 ? [gateway.pid, signer.pid] : i % 3 === 1 ? [signer.pid] : [gateway.pid]) {
      killIfAlive(pid);
    }
    await pause((i % 6) * 7);
  }
  await started.answer();
});

test("SIGTERM ends gateway, signer and launcher in order with exit code 0", async (t) => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const started = await new Started(t, freshFolder(t)).ready();
    const { gateway, signer } = await started.answer();
    started.process.kill(signal);
    assert.equal(await started.end(), 0);
    assert.deepEqual([gateway.pid, signer.pid].map(isAlive), [false, false]);
    assert.doesNotMatch(started.said, /ended/);
    assert.deepEqual(started.said.match(/^Keystead is stopping.*$/gm), [
      "Keystead is stopping; a second signal ends it at once",
    ]);
  }
});

test("a gateway that does not stop is ended", async (t) => {
  const started = await new Started(t, freshFolder(t), [], { KEYSTEAD_WISH: "ignore stop" }).ready();
  const { gateway } = await started.answer();
  started.process.kill("SIGINT");
  assert.equal(await started.end(), 0);
  assert.equal(isAlive(gateway.pid), false);
});

test("a second signal does not wait for the gateway, unless it comes with the first", async (t) => {
  // The launcher tells signals apart by time, so a machine that is busy just then may show nothing.
  const attempts = 5;
  for (let attempt = 1; ; attempt++) {
    const started = await new Started(t, freshFolder(t), [], { KEYSTEAD_WISH: "never stop" }).ready();
    const { gateway } = await started.answer();
    // Several of one kind that come at once would be one.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) started.process.kill(signal);
    await started.until(/^Keystead is stopping/m);
    await pause(1_100);
    const outlivedTheFirst = isAlive(gateway.pid);
    started.process.kill("SIGINT");
    assert.equal(await started.end(), 0);
    assert.equal(isAlive(gateway.pid), false);
    if (outlivedTheFirst) break;
    assert.ok(attempt < attempts, "signals that came together were two");
  }
});

test("a second start on the same data is refused; after kill -9 the next start works and the children are gone", async (t) => {
  const data = freshFolder(t);
  const first = await new Started(t, data).ready();
  const { gateway, signer } = await first.answer();
  const second = new Started(t, data);
  assert.equal(await second.end(), 1);
  assert.match(second.said, /^keystead: another Keystead is running on \S+; stop it, or set KEYSTEAD_DATA to another/);
  const check = new Started(t, data, ["check-log"]);
  assert.equal(await check.end(), 1);
  assert.equal(
    check.said,
    `keystead: another Keystead is running on ${data}: stop the server first, then run this command again\n`,
  );
  assert.equal((await first.answer()).gateway.pid, gateway.pid, "the first goes on");
  const before = readFileSync(join(data, "bootstrap.json"), "utf8");
  first.process.kill("SIGKILL");
  const third = await new Started(t, data).ready();
  assert.deepEqual([gateway.pid, signer.pid].map(isAlive), [false, false]);
  const again = await third.answer();
  assert.equal(again.signer.rootKeyHash, signer.rootKeyHash);
  const keys = (text: string) => ({ ...JSON.parse(text), baseUrl: "", authProxyUrl: "", dashboardUrl: "" });
  assert.deepEqual(keys(readFileSync(join(data, "bootstrap.json"), "utf8")), keys(before));
});

test("a start waits for children of a killed launcher, and refuses when they stay", async (t) => {
  const data = freshFolder(t);
  const first = await new Started(t, data).ready();
  const { gateway, signer } = await first.answer();
  process.kill(signer.pid, "SIGSTOP");
  first.process.kill("SIGKILL");
  await eventually(
    () => !isAlive(gateway.pid),
    () => "the gateway's end",
  );
  const second = new Started(t, data);
  assert.equal(await second.end(), 1);
  assert.match(second.said, new RegExp(`process ${signer.pid} of an earlier start still runs`));
  const third = new Started(t, data);
  await pause(500);
  process.kill(signer.pid, "SIGCONT");
  await third.ready();
});

test("what either process cannot start for is one line and exit code 1", async (t) => {
  const cases: [Record<string, string>, RegExp][] = [
    [{ KEYSTEAD_WISH: "fatal" }, /^gateway: gateway will not start$/m],
    [{ KEYSTEAD_ORGANIZATION_NAME: "signer fatal" }, /^signer: signer will not \[31m start$/m],
    [{ KEYSTEAD_WISH: "crash" }, /^gateway ended \(exit code 9\)$/m],
    [{ KEYSTEAD_ORGANIZATION_NAME: "signer crash", KEYSTEAD_WISH: "wait" }, /^signer ended \(exit code 7\)$/m],
  ];
  await Promise.all(
    cases.map(async ([env, message]) => {
      const started = new Started(t, freshFolder(t), [], env);
      assert.equal(await started.end(), 1);
      assert.match(started.said, message);
    }),
  );
});

test("bad settings end with exit code 2, other refusals with 1, each in one line", async (t) => {
  const data = freshFolder(t);
  mkdirSync(join(data, "database"), { recursive: true });
  writeFileSync(join(data, "database", "keystead.db"), "");
  const linked = freshFolder(t);
  mkdirSync(join(linked, "signer"), { recursive: true });
  symlinkSync("/etc/passwd", join(linked, "signer", "memory"));
  writeFileSync(join(linked, "root.key"), new Uint8Array(32), { mode: 0o600 });
  const elsewhere = (name: string) => {
    const folder = freshFolder(t);
    mkdirSync(folder);
    mkdirSync(`${folder}.elsewhere`);
    symlinkSync(`${folder}.elsewhere`, join(folder, name));
    return folder;
  };
  const open = freshFolder(t);
  mkdirSync(open);
  chmodSync(open, 0o777);
  const unmade = freshFolder(t);
  const cases: [Started, number, RegExp][] = [
    [new Started(t, freshFolder(t), [], { PORT: "x" }), 2, /^keystead: PORT must be .*\n$/],
    [new Started(t, unmade, [], { KEYSTEAD_LIMITS: '{"wallets":1}' }), 2, /^keystead: .*no limit `wallets`.*\n$/],
    [new Started(t, freshFolder(t), ["what"]), 2, /^keystead: `what` is not understood.*\n$/],
    [new Started(t, join(import.meta.dirname, "data")), 2, /^keystead: the data folder .* must not lie inside .*\n$/],
    [new Started(t, data), 1, /^keystead: root key missing, database present.*\n$/],
    [new Started(t, linked, [], { KEYSTEAD_ROOT_PUBLIC_KEY: point }), 1, /^keystead: .*signer\/memory is a link.*\n$/],
    [new Started(t, elsewhere("database")), 1, /^keystead: .*data\/database is a link; it must be a folder.*\n$/],
    [new Started(t, elsewhere("signer")), 1, /^keystead: .*data\/signer is a link; it must be a folder.*\n$/],
    [new Started(t, open), 1, /^keystead: other users may write in .*\n$/],
    [new Started(t, freshFolder(t), [], { KEYSTEAD_PASSPHRASE: "ask" }), 2, /^keystead: .* needs a terminal.*\n$/],
  ];
  t.after(() => rmSync(join(import.meta.dirname, "data"), { recursive: true, force: true }));
  for (const [started, code, message] of cases) {
    assert.equal(await started.end(), code, started.said);
    assert.match(started.said, message);
  }
  assert.equal(existsSync(unmade), false, "a start that fails by its settings leaves no key behind");
});

const point = "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";

test("a folder that holds something is not hidden from git: it may be somebody's own", async (t) => {
  const data = freshFolder(t);
  mkdirSync(data, { recursive: true, mode: 0o711 });
  writeFileSync(join(data, "notes.txt"), "mine");
  assert.equal(await new Started(t, data, ["init", "--root-public-key", point]).end(), 0);
  assert.equal(existsSync(join(data, ".gitignore")), false);
});

test("init writes the files for a key made elsewhere, once, and the start uses them", async (t) => {
  const data = freshFolder(t);
  const init = new Started(t, data, ["init", "--root-public-key", point]);
  assert.equal(await init.end(), 0, init.said);
  const bootstrap = JSON.parse(readFileSync(join(data, "bootstrap.json"), "utf8"));
  assert.equal(bootstrap.apiPublicKey, point);
  assert.equal("apiPrivateKey" in bootstrap, false);
  assert.equal(existsSync(join(data, "database")), false);
  const again = new Started(t, data, ["init", "--root-public-key", point]);
  assert.equal(await again.end(), 1);
  assert.match(
    again.said,
    /bootstrap\.json exists: the first start .* use a new data folder to start with another key\n$/,
  );
  const started = await new Started(t, data, [], { KEYSTEAD_HOST: "0.0.0.0" }).ready();
  assert.match(started.said, /^Keystead is ready at http:\/\/127\.0\.0\.1:\d+ \(it listens on all addresses\)$/m);
  assert.match(started.said, /^ {2}first organization: .*bootstrap\.json$/m);
  assert.match(started.said, /^ {2}try: .* npx keystead whoami --api-key-file FILE$/m);
  const { signer } = await started.answer();
  assert.equal((signer.orders.birth as { apiPublicKey: string }).apiPublicKey, point);
});

test("work on data in a folder without any is refused, and nothing is made", async (t) => {
  const data = freshFolder(t);
  const refused = async () => {
    for (const command of [
      "accept-database",
      "accept-clock",
      "check-log",
      "check-database",
      "repair-database",
      "rotate-keys",
    ]) {
      const started = new Started(t, data, [command]);
      assert.equal(await started.end(), 1, started.said);
      const message = `there is no Keystead data in ${data} (no bootstrap.json); set KEYSTEAD_DATA`;
      assert.equal(started.said, `keystead: ${message}\n`);
    }
  };
  await refused();
  assert.equal(existsSync(data), false);
  mkdirSync(data);
  await refused();
  assert.deepEqual(readdirSync(data), []);
});

test("what an operator runs orders that and nothing else, prints the report once and ends", async (t) => {
  const data = freshFolder(t);
  assert.equal(await new Started(t, data, ["init"]).end(), 0);
  // An address that no setting of these runs names.
  const profile = join(data, "bootstrap.json");
  writeFileSync(profile, readFileSync(profile, "utf8").replaceAll("127.0.0.1:0", "127.0.0.1:9123"));
  const before = readFileSync(profile, "utf8");
  const cases: [string, RegExp, string, number][] = [
    ["accept-database", /"acceptDatabase":true,"reseal":false,"vouch":false,"resetClock":false/, "", 0],
    ["accept-clock", /"acceptDatabase":false,"reseal":false,"vouch":false,"resetClock":true/, "", 0],
    ...["check-log", "check-database", "repair-database"].map((command): [string, RegExp, string, number] => [
      command,
      /"acceptDatabase":false,"reseal":false,"vouch":true,"resetClock":false/,
      "",
      0,
    ]),
    ["accept-database", /"acceptDatabase":true/, "fail", 1],
  ];
  for (const [command, orders, wish, code] of cases) {
    const started = new Started(t, data, [command], { KEYSTEAD_WISH: wish });
    assert.equal(await started.end(), code, started.said);
    assert.match(started.said, new RegExp(`^mode ${command}$`, "m"));
    assert.match(started.said, orders);
    assert.deepEqual(started.said.match(/^.*stand-in signer is here$/gm), ["signer: stand-in signer is here"]);
    assert.equal(readFileSync(profile, "utf8"), before, "work on a stopped server leaves its address alone");
  }
});

test("a rotation hands both root keys to the signer, and only its good end removes the old one", async (t) => {
  const data = freshFolder(t);
  const first = await new Started(t, data).ready();
  const ids = (({ organizationId, userId }) => [organizationId, userId])(bootstrapOf(data));
  first.process.kill("SIGTERM");
  await first.end();
  const old = readFileSync(join(data, "root.key"));

  const unsaved = new Started(t, data, ["rotate-keys"]);
  assert.equal(await unsaved.end(), 2, unsaved.said);
  const [, from] =
    /save it first: cp -p (\S+) \S+\/root\.key\.before-\d{4}-\d\d-\d\d; then run: .*--old-key-saved\n$/.exec(
      unsaved.said,
    ) ?? [];
  assert.equal(from, join(data, "root.key"));
  assert.equal(existsSync(join(data, "root.key.next")), false);

  const failed = new Started(t, data, ["rotate-keys", "--old-key-saved"], { KEYSTEAD_WISH: "fail" });
  assert.equal(await failed.end(), 1, failed.said);
  assert.match(failed.said, /"reseal":true/);
  assert.deepEqual(readFileSync(join(data, "root.key")), old);
  const next = readFileSync(join(data, "root.key.next"));
  assert.equal(next.length, 32);

  // In between it serves, with both.
  const between = await new Started(t, data).ready();
  const { signer } = await between.answer();
  assert.equal(signer.rootKeyHash, createHash("sha256").update(old).update(next).digest("hex"));
  assert.equal(signer.orders.reseal, false);
  between.process.kill("SIGTERM");
  await between.end();

  const stopped = new Started(t, data, ["rotate-keys", "--old-key-saved"], { KEYSTEAD_WISH: "no report" });
  await stopped.until(/stand-in signer is here/);
  stopped.process.kill("SIGINT");
  assert.equal(await stopped.end(), 1, stopped.said);
  assert.deepEqual(readFileSync(join(data, "root.key")), old, "asked to stop is not done");

  const done = new Started(t, data, ["rotate-keys", "--old-key-saved"]);
  assert.equal(await done.end(), 0, done.said);
  assert.match(
    done.said,
    /^the root key is replaced; keep your copy of the old one as long as any backup from before$/m,
  );
  assert.deepEqual(readFileSync(join(data, "root.key")), next);
  assert.equal(existsSync(join(data, "root.key.next")), false);

  const after = await new Started(t, data).ready();
  assert.equal((await after.answer()).signer.rootKeyHash, createHash("sha256").update(next).digest("hex"));
  assert.deepEqual((({ organizationId, userId }) => [organizationId, userId])(bootstrapOf(data)), ids);
});

test("as root: own user ids, own folders, and neither can read the root key", {
  skip: !isRoot && "not root",
}, async (t) => {
  const data = freshFolder(t);
  const { gateway, signer } = await (await new Started(t, data).ready()).answer();
  assert.deepEqual([gateway.uid, signer.uid], [60801, 60802]);
  const owner = (name: string) => statSync(join(data, name)).uid;
  assert.deepEqual(
    ["", "root.key", "bootstrap.json", "database", "database/keystead.db", "signer", "signer/memory", "outbox"].map(
      owner,
    ),
    [0, 0, 0, 60801, 60801, 60802, 60802, 60803],
  );
  for (const [uid, name] of [60801, 60802].flatMap((id) =>
    ["root.key", "bootstrap.json"].map((file) => [id, file] as const),
  )) {
    const read = spawnSync("cat", [join(data, name)], { uid, gid: uid });
    assert.notEqual(read.status, 0, `${uid} reads ${name}`);
  }
  for (const [uid, name] of [
    [60801, "signer/memory"],
    [60802, "database/keystead.db"],
  ] as const) {
    assert.notEqual(spawnSync("cat", [join(data, name)], { uid, gid: uid }).status, 0, `${uid} reads ${name}`);
  }
});

test("as root below a folder that others may not pass: one user id, and the line says why", {
  skip: !isRoot && "not root",
}, async (t) => {
  const data = freshFolder(t);
  chmodSync(join(data, ".."), 0o700);
  const started = await new Started(t, data).ready();
  const { gateway, signer } = await started.answer();
  assert.deepEqual([gateway.uid, signer.uid], [0, 0]);
  assert.match(started.said, /one user id: protects against .* \(user 60801 cannot use .*\)/);
  assert.equal(statSync(join(data, "signer", "memory")).uid, 0);
});

/** A start that gave each process its own user id, and was stopped. */
async function separatedData(t: TestContext): Promise<string> {
  const data = freshFolder(t);
  const started = await new Started(t, data).ready();
  assert.equal((await started.answer()).gateway.uid, 60801);
  started.process.kill("SIGTERM");
  await started.end();
  return data;
}

const asGateway = (...command: [string, ...string[]]) => {
  const [name, ...args] = command;
  assert.equal(spawnSync(name, args, { uid: 60801, gid: 60801, cwd: "/" }).status, 0, command.join(" "));
};

test("as root: once separated, a folder that its user cannot use is a refusal, never a start as root", {
  skip: !isRoot && "not root",
}, async (t) => {
  const data = await separatedData(t);
  const refusal = /^keystead: user 60801 cannot use .*, but an earlier start separated the processes by user id, .*\n$/;
  const refused = async () => {
    const started = new Started(t, data);
    assert.equal(await started.end(), 1, started.said);
    assert.match(started.said, refusal);
    assert.equal(statSync(join(data, "database")).uid, 60801);
  };
  asGateway("chmod", "0500", join(data, "database"));
  await refused();
  asGateway("chmod", "0700", join(data, "database"));
  chmodSync(join(data, ".."), 0o700);
  await refused();
  chmodSync(join(data, ".."), 0o711);
  for (const name of ["probe", "cache", "keystead"]) asGateway("mkdir", "-p", join(data, "database", name));
  const { gateway, signer } = await (await new Started(t, data).ready()).answer();
  assert.deepEqual([gateway.uid, signer.uid], [60801, 60802]);
});

test("as root: a folder of a third user is refused and left as it is, with all that links in it name", {
  skip: !isRoot && "not root",
}, async (t) => {
  const data = await separatedData(t);
  const victim = join(data, "..", "victim");
  mkdirSync(victim);
  writeFileSync(join(victim, "shadow"), "", { mode: 0o600 });
  asGateway("ln", "-s", victim, join(data, "database", "x"));
  const started = new Started(t, data, [], { KEYSTEAD_GATEWAY_UID: "60901" });
  assert.equal(await started.end(), 1, started.said);
  assert.match(
    started.said,
    /^keystead: .*database belongs to user 60801, not to 60901 \(KEYSTEAD_GATEWAY_UID\): .*chown -R 60901:60901 on it\n$/,
  );
  assert.deepEqual([victim, join(victim, "shadow"), join(data, "database")].map(ownerOf), [0, 0, 60801]);
});

test("as root: a change of owner takes folders and links themselves, and nothing behind a link", {
  skip: !isRoot && "not root",
}, async (t) => {
  const data = freshFolder(t);
  assert.equal(await new Started(t, data, ["init"]).end(), 0);
  const victim = join(data, "..", "victim");
  const inner = join(data, "database", "inner");
  mkdirSync(join(victim, "deep"), { recursive: true });
  mkdirSync(inner, { recursive: true });
  for (const path of [join(victim, "shadow"), join(victim, "deep", "key"), join(inner, "file")]) {
    writeFileSync(path, "", { mode: 0o600 });
  }
  symlinkSync(victim, join(inner, "folder"));
  symlinkSync(join(victim, "shadow"), join(inner, "link"));
  await new Started(t, data).ready();
  assert.deepEqual([victim, join(victim, "shadow"), join(victim, "deep", "key")].map(ownerOf), [0, 0, 0]);
  assert.deepEqual(
    [inner, join(inner, "file"), join(inner, "folder"), join(inner, "link")].map(ownerOf),
    [60801, 60801, 60801, 60801],
  );
});

const ownerOf = (path: string) => lstatSync(path).uid;

const hasScript = spawnSync("script", ["--version"]).status === 0;
test("the passphrase is asked on the terminal without echo", { skip: !hasScript && "needs script(1)" }, async (t) => {
  const data = freshFolder(t);
  const type = async (lines: string[]) => {
    const env = { PATH: process.env.PATH ?? "", PORT: "0", KEYSTEAD_DATA: data, KEYSTEAD_PASSPHRASE: "ask" };
    const terminal = spawn("script", ["-qec", `${process.execPath} ${entry} init`, "/dev/null"], { env });
    let said = "";
    terminal.stdout.on("data", (chunk: Buffer) => {
      said += chunk;
      if (/: $/.test(String(chunk))) terminal.stdin.write(`${lines.shift()}\r`);
    });
    const [code] = await once(terminal, "close");
    return { code, said };
  };
  const differ = await type(["correct horse", "correct mouse"]);
  assert.match(differ.said, /the two passphrases differ/);
  assert.equal(differ.code, 1);
  const made = await type(["correct horsx\x7fe", "wrong\x15correct horse"]);
  assert.equal(made.code, 0, made.said);
  assert.doesNotMatch(made.said, /horse/);
  rmSync(join(data, "bootstrap.json"));
  assert.match((await type(["correct mouse"])).said, /wrong passphrase/);
  assert.equal((await type(["correct horse"])).code, 0);
});
