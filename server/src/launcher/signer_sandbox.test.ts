import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { patienceMs } from "../../../core/test/patience.ts";
import { keysteadCode } from "./code.ts";
import { nodeArguments } from "./permissions.ts";
import { processes } from "./processes.ts";

const entry = fileURLToPath(new URL("signer_sandbox.test_entry.ts", import.meta.url));
const top = mkdtempSync(join(tmpdir(), "keystead-sandbox-"));
const memory = join(top, "memory");
const outside = join(top, "outside");
const seen: string[] = [];
const note = (what: string) => (socket: Socket) => {
  seen.push(what);
  socket.end();
};
const tcp = createServer(note("tcp"));
const socketFile = createServer(note("socket file"));
const udp = createSocket("udp4", () => seen.push("udp"));
const victim = spawn(process.execPath, ["-e", "process.on('SIGUSR1', () => {}); setInterval(() => {}, 1000)"], {
  stdio: "ignore",
});

const outsideFiles = { secret: "s", "secret.json": "{}", "code.mjs": "", "code.cjs": "", "addon.node": "", env: "A=1" };

before(async () => {
  for (const folder of [memory, `${memory}2`, outside]) mkdirSync(folder);
  for (const [name, text] of Object.entries(outsideFiles)) writeFileSync(join(outside, name), text);
  symlinkSync("secret", join(outside, "link"));
  tcp.listen(0, "127.0.0.1");
  socketFile.listen(join(outside, "socket"));
  udp.bind(0, "127.0.0.1");
  await Promise.all([once(tcp, "listening"), once(socketFile, "listening"), once(udp, "listening")]);
});

after(() => {
  victim.kill("SIGKILL");
  for (const server of [tcp, socketFile, udp]) server.close();
  rmSync(top, { recursive: true, force: true });
});

function probeArguments(task: string): string[] {
  const ports = [(tcp.address() as AddressInfo).port, udp.address().port, victim.pid, patienceMs];
  const flags = nodeArguments(processes.signer, { ...keysteadCode().signer, entry }, memory);
  return [...flags, memory, outside, ...ports.map(String), task];
}

function startProbe(task: string) {
  const probe = spawn(process.execPath, probeArguments(task), {
    cwd: memory,
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
  });
  return probe;
}

async function runProbe(task: string) {
  const probe = startProbe(task);
  const said: Buffer[] = [];
  probe.stdout.on("data", (chunk: Buffer) => said.push(chunk));
  probe.stderr.resume();
  const [code, signal] = await once(probe, "close");
  return { code, signal, text: Buffer.concat(said).toString() };
}

async function probeResults(task: string): Promise<Record<string, string>> {
  const { code, text } = await runProbe(task);
  assert.equal(code, 0);
  const results: Record<string, string> = JSON.parse(text);
  const odd = Object.entries(results).filter(([, result]) => !isVerdict(result));
  assert.deepEqual(odd, [], "every refusal is one that we know");
  return results;
}

const refusals = [
  "ERR_ACCESS_DENIED",
  "ERR_CRYPTO_CUSTOM_ENGINE_NOT_SUPPORTED",
  "ERR_DLOPEN_DISABLED",
  "ERR_INSPECTOR_NOT_WORKER",
  "ERR_INVALID_ARG_TYPE",
  "ERR_NOT_IN_SINGLE_EXECUTABLE_APPLICATION",
  "ERR_PROTO_ACCESS",
  "ERR_UNSUPPORTED_ESM_URL_SCHEME",
  "NOTHING_THERE",
  "EvalError: Code generation from strings disallowed for this context",
  "Error: not implemented... yet...",
  "TypeError",
  "TypeError: WebSocket is not a constructor",
  "TypeError: Cannot read properties of undefined (reading 'setItem')",
  "TypeError: localStorage.setItem is not a function",
];
const isVerdict = (result: string) =>
  result === "allowed" || refusals.some((refusal) => result === `refused ${refusal}`);
const allowed = (results: Record<string, string>) =>
  Object.keys(results)
    .filter((name) => results[name] === "allowed")
    .sort();

const memoryOnly = ["fs: realpath", "memory: write"];

function assertNothingHappened() {
  assert.deepEqual(seen, [], "nothing reached a socket");
  assert.deepEqual(readdirSync(outside).sort(), [...Object.keys(outsideFiles), "link", "socket"].sort());
  assert.equal(readFileSync(join(outside, "secret"), "utf8"), "s");
  assert.deepEqual(readdirSync(`${memory}2`), []);
}

test("after lockDown the signer can write its memory folder, and nothing else that any Node builtin offers", async () => {
  const results = await probeResults("locked");
  assert.equal(Object.keys(results).length, 180, "the probe walked its whole table");
  assert.deepEqual(allowed(results), memoryOnly);
  assertNothingHappened();
});

test("the flags alone leave open exactly what lockDown closes; none of it leaves the process but signals", async () => {
  const results = await probeResults("open");
  assert.deepEqual(
    allowed(results),
    [
      ...memoryOnly,
      "module: compile text as a module",
      "os: priority of another",
      "process: bare signal to another",
      "process: inspector of another",
      "process: signal to another",
      // These three write into the working folder, which is the memory folder; elsewhere they are refused.
      "trace_events: enable",
      "v8: profile near the heap limit",
      "v8: snapshot near the heap limit",
      "vm: compile text",
      "vm: run text",
    ].sort(),
  );
  assertNothingHappened();
});

test("V8 flags that write files past the permission model end the process instead", async () => {
  const { signal, code, text } = await runProbe("v8 flags");
  assert.equal(text, "");
  assert.ok(signal !== null || code !== 0);
  assertNothingHappened();
});

test("links in the memory folder are followed, which is why the launcher refuses them", async (t) => {
  symlinkSync("../outside/secret", join(memory, "planted"));
  symlinkSync("../outside", join(memory, "planted_folder"));
  t.after(() => {
    rmSync(join(memory, "planted"));
    rmSync(join(memory, "planted_folder"));
    rmSync(join(outside, "w14"), { force: true });
    writeFileSync(join(outside, "secret"), "s");
  });
  const planted = allowed(await probeResults("links")).filter((name) => !memoryOnly.includes(name));
  assert.deepEqual(planted, [
    "fs: read through a planted folder",
    "fs: read through a planted link",
    "fs: write through a planted folder",
    "fs: write through a planted link",
  ]);
});

test("an open file is the signer's to read whatever its flags say, which is why the launcher closes what it inherited", {
  skip: process.platform !== "linux" && "needs /proc",
}, async () => {
  const parent = fileURLToPath(new URL("signer_sandbox_parent.test_entry.ts", import.meta.url));
  const filesSeen = async (task: "open" | "closed") => {
    const file = openSync(join(outside, "secret"), "r");
    const none = Array.from({ length: 197 }, () => "ignore" as const);
    const stdio = ["ignore", "pipe", "inherit", ...none, file] as const;
    const started = spawn(process.execPath, [parent, task, ...probeArguments("descriptors")], { stdio: [...stdio] });
    closeSync(file);
    const said: Buffer[] = [];
    started.stdout?.on("data", (chunk: Buffer) => said.push(chunk));
    await once(started, "close");
    return JSON.parse(Buffer.concat(said).toString());
  };
  assert.deepEqual(await filesSeen("open"), [[200, "s"]]);
  assert.deepEqual(await filesSeen("closed"), []);
});

test("SIGUSR1 does not open the inspector", async () => {
  const probe = startProbe("wait");
  probe.stderr.resume();
  await once(probe.stdout, "data");
  probe.kill("SIGUSR1");
  await pause(300);
  const socket = connect(9229, "127.0.0.1");
  const [error] = await once(socket, "error");
  assert.equal(error.code, "ECONNREFUSED");
  assert.equal(probe.exitCode, null, "and it goes on working");
  probe.kill("SIGKILL");
});
