/** Signals to `npm start`: whoever gets them, the launcher and its children end with it, and the data folder is free for the next start. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { patienceMs } from "../../core/test/patience.ts";
import { freshDataFolder } from "./data_folder.ts";
import { repository } from "./keystead_server.ts";
import { childrenOf, commandOf, isRunning, killIfThere, processesNaming, signalIfThere } from "./process_tree.ts";

const isLinux = process.platform === "linux";
const needsLinux = { skip: !isLinux && "needs /proc" };

class NpmStart {
  readonly npm: ChildProcess;
  readonly ended: Promise<[number | null, NodeJS.Signals | null]>;
  said = "";

  constructor(t: TestContext, data: string) {
    const env = { ...process.env, PORT: "0", KEYSTEAD_DATA: data };
    // A process group of its own, as a shell gives each of its jobs.
    this.npm = spawn("npm", ["start"], { cwd: repository, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    this.npm.stdout?.on("data", (chunk) => (this.said += chunk));
    this.npm.stderr?.on("data", (chunk) => (this.said += chunk));
    this.ended = once(this.npm, "exit") as Promise<[number | null, NodeJS.Signals | null]>;
    t.after(async () => {
      for (const pid of await processesNaming(data)) killIfThere(pid);
      this.npm.kill("SIGKILL");
    });
  }

  get pid(): number {
    return this.npm.pid ?? 0;
  }

  async ready(): Promise<this> {
    for (let i = 0; !/try: .+\n/.test(this.said); i++) {
      assert.ok(i < patienceMs / 50 && this.npm.exitCode === null, `not ready: ${this.said}`);
      await pause(50);
    }
    return this;
  }

  /** The one process below npm: no shell stands between them that could end first. */
  async launcher(): Promise<number> {
    const [child, ...others] = await childrenOf(this.pid);
    assert.match(child?.command ?? "", /^\S*node server\/main\.mjs /);
    assert.equal(others.length, 0);
    return child?.pid ?? 0;
  }
}

async function within<T>(timeMs: number, what: string, promise: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timeout = pause(timeMs, undefined, { signal: late.signal }).then(() =>
    assert.fail(`${what} took ${timeMs} ms`),
  );
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    late.abort();
    timeout.catch(() => {});
  }
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} to npm, to the launcher or to both ends all, and the next start works`, needsLinux, async (t) => {
    const data = freshDataFolder(t);
    const targets = {
      npm: (npm: number) => npm,
      group: (npm: number) => -npm,
      launcher: (_: number, own: number) => own,
    };
    for (const [name, target] of Object.entries(targets)) {
      const started = await new NpmStart(t, data).ready();
      const launcher = await started.launcher();
      const children = (await childrenOf(launcher)).map(({ pid }) => pid);
      const saidBefore = started.said.length;
      assert.equal(children.length, 2, "a gateway and a signer");
      process.kill(target(started.pid, launcher), signal);
      const end = await within(patienceMs, `the end after ${signal} to ${name}`, started.ended);
      assert.deepEqual(end, [0, null], started.said);
      const left = await Promise.all([launcher, ...children].map(isRunning));
      assert.deepEqual(left, [false, false, false], `${signal} to ${name}`);
      assert.deepEqual(await processesNaming(data), []);
      assert.doesNotMatch(started.said.slice(saidBefore), /ended \(|signal SIGKILL/, "an orderly end");
    }
    await new NpmStart(t, data).ready();
  });
}

test("the end of npm alone ends all, also when npm was gone before the launcher looked", needsLinux, async (t) => {
  const data = freshDataFolder(t);
  const running = await new NpmStart(t, data).ready();
  running.npm.kill("SIGKILL");
  await nobodyNaming(data, "npm was killed");

  // As npm starts it, by a process that has ended by then.
  const env = { ...process.env, PORT: "0", KEYSTEAD_DATA: data, npm_lifecycle_event: "start" };
  const script = "exec setsid node server/main.mjs >/dev/null 2>&1 </dev/null &";
  const byNpm = { npm_execpath: "/npm-cli.js", npm_package_json: join(repository, "package.json") };
  const shell = spawn("sh", ["-c", script], { cwd: repository, env: { ...env, ...byNpm } });
  await once(shell, "exit");
  await nobodyNaming(data, "started by nobody");
  await new NpmStart(t, data).ready();
});

/** Probing processes end by themselves, and an orphan within its next look at its parent. */
async function nobodyNaming(data: string, when: string): Promise<void> {
  for (let i = 0; i < patienceMs / 50 && (await processesNaming(data)).length > 0; i++) await pause(50);
  assert.deepEqual(await processesNaming(data), [], when);
}

test("a signal to npm at any moment of a start leaves nobody behind", needsLinux, async (t) => {
  const data = freshDataFolder(t);
  const ends: Record<string, number> = {};
  for (let delayMs = 100; delayMs <= 2000; delayMs += 380) {
    const started = new NpmStart(t, data);
    await pause(delayMs);
    started.npm.kill("SIGTERM");
    const [code, signal] = await within(patienceMs, `the end after SIGTERM at ${delayMs} ms`, started.ended);
    const end = signal ?? `exit code ${code}`;
    ends[end] = (ends[end] ?? 0) + 1;
    await nobodyNaming(data, `SIGTERM at ${delayMs} ms: ${started.said}`);
  }
  t.diagnostic(JSON.stringify(ends));
  const known = ["SIGTERM", "exit code 0", "exit code 143"];
  assert.deepEqual(
    Object.keys(ends).filter((end) => !known.includes(end)),
    [],
  );
  await new NpmStart(t, data).ready();
});

test("npx runs an order on the data to its end, and an order that is interrupted does not count as done", async (t) => {
  const data = freshDataFolder(t);
  const started = await new NpmStart(t, data).ready();
  started.npm.kill("SIGTERM");
  await started.ended;
  const env = { ...process.env, KEYSTEAD_DATA: data };
  const check = () => spawn("npx", ["keystead", "check-database"], { cwd: repository, env, detached: true });

  const whole = check();
  let said = "";
  whole.stdout.on("data", (chunk) => (said += chunk));
  assert.deepEqual(await once(whole, "exit"), [0, null], said);
  assert.match(said, /1 organization\(s\) checked, 0 row\(s\)/);

  // On a busy machine the order may be over before anybody can interrupt it.
  const attempts = 10;
  for (let attempt = 1; ; attempt++) {
    const cut = check();
    let cutSaid = "";
    cut.stdout.on("data", (chunk) => (cutSaid += chunk));
    const ended = once(cut, "close");
    while ((await launchersOn(data)).length === 0 && cut.exitCode === null) await pause(5);
    for (const pid of await launchersOn(data)) signalIfThere(pid, "SIGTERM");
    const [code] = await ended;
    if (code !== 0) break;
    assert.match(cutSaid, /1 organization\(s\) checked, 0 row\(s\)/, "done without having done it");
    assert.ok(attempt < attempts, "it was never interrupted in time");
  }
});

/** The launchers that work on a folder, which only their environment names. */
async function launchersOn(data: string): Promise<number[]> {
  const commands = await Promise.all(
    (await processesNaming(data)).map(async (pid) => ({ pid, command: await commandOf(pid) })),
  );
  return commands.filter(({ command }) => /\/server\/main\.mjs /.test(command)).map(({ pid }) => pid);
}
