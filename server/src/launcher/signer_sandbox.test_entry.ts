/**
 * Runs under exactly the signer's flags and tries what every Node builtin offers. Prints one JSON object: probe → outcome.
 * Arguments: the memory folder, a folder outside it, a TCP port, a UDP port, a process to attack, for how long to wait
 * for each outcome, and what to do: `open` tries all under the flags alone, `locked` after lockDown, `v8 flags` the one thing that ends
 * the process, `wait` nothing, `links` what planted links give away, `descriptors` which files it can use by number.
 */
import crypto from "node:crypto";
import type { EventEmitter } from "node:events";
import fs from "node:fs";
import { builtinModules, createRequire } from "node:module";
import net from "node:net";
import { PassThrough } from "node:stream";
import { lockDown } from "../lockdown/lockdown.ts";

const [memory = "", outside = "", tcp = "", udp = "", victim = "", patienceMs = "", task = ""] = process.argv.slice(2);
const secret = `${outside}/secret`;
const port = Number(tcp);
const host = "127.0.0.1";
const out = (name: string) => `${outside}/${name}`;
const require = createRequire(import.meta.url);
const { stdout } = process;
const imported = (name: string) => import(name);
if (task === "locked" || task === "links") lockDown("signer");
if (task === "v8 flags") changeFlags();
if (task === "wait") await wait();
if (task === "descriptors") await listFiles();

type Loose = Record<string, (...args: unknown[]) => unknown>;
type Probe = (load: () => Loose) => unknown;

/** Settles with the first event that tells whether the attempt came through. */
function outcome(emitter: unknown, ...good: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const source = emitter as EventEmitter;
    source.once("error", reject);
    for (const event of good) source.once(event, () => resolve());
  });
}

const called = (begin: (done: (error: unknown) => void) => unknown) =>
  new Promise<void>((resolve, reject) => {
    begin((error) => (error ? reject(error) : resolve()));
  });

const construct = (module: Loose, name: string, ...args: unknown[]) =>
  Reflect.construct(Reflect.get(module, name), args) as Loose;
const call = (target: object, name: string, ...args: unknown[]) =>
  Reflect.apply(Reflect.get(target, name), target, args);
const listens = (server: unknown, ...args: unknown[]) => {
  call(server as object, "listen", ...args);
  return outcome(server, "listening");
};

const write = "written by the signer";
const lookups: Record<string, Probe> = {
  lookup: (load) => called((done) => load().lookup?.("localhost", done)),
  resolve: (load) => called((done) => load().resolve4?.("example.com", done)),
  reverse: (load) => called((done) => load().lookupService?.(host, port, done)),
};

const fileWrites: Record<string, Probe> = Object.fromEntries(
  Object.entries({
    writeFile: ["writeFileSync", out("w1"), write],
    appendFile: ["appendFileSync", secret, write],
    "open to append": ["openSync", secret, "a"],
    "open to read and write": ["openSync", secret, "r+"],
    "open to create": ["openSync", out("w2"), "wx"],
    mkdir: ["mkdirSync", out("w3")],
    mkdtemp: ["mkdtempSync", out("w4")],
    mkdtempDisposable: ["mkdtempDisposableSync", out("w4")],
    "copy out": ["copyFileSync", `${memory}/own`, out("w5")],
    "copy in": ["copyFileSync", secret, `${memory}/copied`],
    "cp out": ["cpSync", `${memory}/own`, out("w6")],
    "cp in": ["cpSync", outside, `${memory}/copied`, { recursive: true }],
    "rename out": ["renameSync", `${memory}/own`, out("w7")],
    "rename in": ["renameSync", secret, `${memory}/renamed`],
    "link out": ["linkSync", `${memory}/own`, out("w8")],
    "link in": ["linkSync", secret, `${memory}/linked`],
    "symlink out": ["symlinkSync", `${memory}/own`, out("w9")],
    "symlink in": ["symlinkSync", secret, `${memory}/symlinked`],
    chmod: ["chmodSync", secret, 0o777],
    "chmod of own folder": ["chmodSync", outside, 0o777],
    chown: ["chownSync", secret, 1, 1],
    lchown: ["lchownSync", secret, 1, 1],
    utimes: ["utimesSync", secret, 1, 1],
    lutimes: ["lutimesSync", secret, 1, 1],
    truncate: ["truncateSync", secret],
    unlink: ["unlinkSync", secret],
    rm: ["rmSync", secret],
    "rm of a folder": ["rmSync", outside, { recursive: true }],
    rmdir: ["rmdirSync", outside],
    "write past the folder": ["writeFileSync", `${memory}/../outside/w10`, write],
    "write by relative path": ["writeFileSync", "../outside/w10", write],
    "write by bytes": ["writeFileSync", Buffer.from(out("w11")), write],
    "write by URL": ["writeFileSync", new URL(`file://${out("w12")}`), write],
    "write by proc root": ["writeFileSync", `/proc/self/root${out("w13")}`, write],
    "write by proc cwd": ["writeFileSync", "/proc/self/cwd/../outside/w13", write],
    "write through a planted link": ["writeFileSync", `${memory}/planted`, write],
    "write through a planted folder": ["writeFileSync", `${memory}/planted_folder/w14`, write],
    "folder beside with the same prefix": ["writeFileSync", `${memory}2/w15`, write],
    "write code": ["writeFileSync", new URL("w16.ts", import.meta.url), write],
    fsync: ["fsyncSync", 2],
    fchmod: ["fchmodSync", 2, 0o777],
    fchown: ["fchownSync", 2, 1, 1],
    readFile: ["readFileSync", secret],
    "read /etc/passwd": ["readFileSync", "/etc/passwd"],
    "read own environment": ["readFileSync", "/proc/self/environ"],
    "read own memory": ["openSync", "/proc/self/mem", "r+"],
    "read another's memory": ["openSync", `/proc/${victim}/mem`, "r"],
    "read by descriptor path": ["readFileSync", "/dev/fd/1"],
    "read by proc root": ["readFileSync", `/proc/self/root${secret}`],
    "read past the folder": ["readFileSync", `${memory}/../outside/secret`],
    "read through a planted link": ["readFileSync", `${memory}/planted`],
    "read through a planted folder": ["readFileSync", `${memory}/planted_folder/secret`],
    "read the folder above": ["readdirSync", `${memory}/..`],
    "read the code of the gateway": ["readdirSync", new URL("../gateway", import.meta.url)],
    stat: ["statSync", secret],
    lstat: ["lstatSync", secret],
    statfs: ["statfsSync", outside],
    access: ["accessSync", secret],
    readdir: ["readdirSync", outside],
    opendir: ["opendirSync", outside],
    readlink: ["readlinkSync", out("link")],
    realpath: ["realpathSync", secret],
    "realpath.native": ["realpathSync.native", secret],
    openAsBlob: ["openAsBlobSync", secret],
    watch: ["watch", outside],
    watchFile: ["watchFile", secret, () => {}],
  } satisfies Record<string, [string, ...unknown[]]>).map(([name, [method, ...args]]) => [
    name,
    (load) => {
      const [first = "", second] = method.split(".");
      const target: object = second ? Reflect.get(load(), first) : load();
      return call(target, second ?? first, ...args);
    },
  ]),
);

/** One row per builtin module. An empty row says: computes, keeps to this process. A module without a row fails the test. */
const probes: Record<string, Record<string, Probe>> = {
  assert: {},
  "assert/strict": {},
  async_hooks: {},
  buffer: { resolveObjectURL: (load) => load().resolveObjectURL?.(`file://${secret}`) ?? refuse("no such object") },
  child_process: {
    spawn: (load) => outcome(load().spawn?.("/bin/true"), "exit"),
    spawnSync: (load) => thrown(load().spawnSync?.("/bin/true")),
    exec: (load) => called((done) => load().exec?.("true", done)),
    execSync: (load) => load().execSync?.("true"),
    execFile: (load) => called((done) => load().execFile?.("/bin/true", done)),
    execFileSync: (load) => load().execFileSync?.("/bin/true"),
    fork: (load) => outcome(load().fork?.(import.meta.filename), "exit"),
  },
  cluster: { fork: (load) => outcome(load().fork?.(), "online") },
  console: {},
  constants: {},
  crypto: {
    setEngine: (load) => load().setEngine?.(out("engine.so")),
    "private key from a store": (load) => load().createPrivateKey?.(new URL(`file://${secret}`)),
    "public key from a store": (load) => load().createPublicKey?.(new URL(`file://${secret}`)),
  },
  dgram: {
    bind: (load) => {
      const socket = load().createSocket?.("udp4");
      call(socket as object, "bind", 0, host);
      return outcome(socket, "listening");
    },
    send: (load) =>
      called((done) => {
        const socket = load().createSocket?.("udp4") as object;
        call(socket, "on", "error", done);
        call(socket, "send", "x", Number(udp), host, done);
      }),
    connect: (load) => {
      const socket = load().createSocket?.("udp4");
      call(socket as object, "connect", Number(udp), host);
      return outcome(socket, "connect");
    },
  },
  diagnostics_channel: {},
  dns: {
    ...lookups,
    "own resolver": (load) => called((done) => call(construct(load(), "Resolver"), "resolve4", "example.com", done)),
  },
  "dns/promises": {
    lookup: (load) => load().lookup?.("localhost"),
    resolve: (load) => load().resolve4?.("example.com"),
    reverse: (load) => load().lookupService?.(host, port),
  },
  domain: {},
  events: {},
  fs: {
    ...fileWrites,
    createWriteStream: (load) => outcome(load().createWriteStream?.(out("w17")), "open"),
    createReadStream: (load) => outcome(load().createReadStream?.(secret), "open"),
    Utf8Stream: (load) => outcome(construct(load(), "Utf8Stream", { dest: out("w18") }), "ready"),
    glob: (load) => {
      if (String(load().globSync?.(`${outside}/*`)) === "") refuse("nothing seen");
    },
    exists: (load) => load().existsSync?.(secret) || refuse("seen as missing"),
    "callback write": (load) => called((done) => load().writeFile?.(out("w19"), write, done)),
    "callback read": (load) => called((done) => load().readFile?.(secret, done)),
  },
  "fs/promises": {
    writeFile: (load) => load().writeFile?.(out("w20"), write),
    appendFile: (load) => load().appendFile?.(secret, write),
    open: (load) => load().open?.(out("w21"), "w"),
    readFile: (load) => load().readFile?.(secret),
    rename: (load) => load().rename?.(`${memory}/own`, out("w22")),
    cp: (load) => load().cp?.(`${memory}/own`, out("w23")),
    copyFile: (load) => load().copyFile?.(secret, `${memory}/copied`),
    symlink: (load) => load().symlink?.(secret, `${memory}/symlinked`),
    link: (load) => load().link?.(secret, `${memory}/linked`),
    mkdtemp: (load) => load().mkdtemp?.(out("w24")),
    chmod: (load) => load().chmod?.(secret, 0o777),
    truncate: (load) => load().truncate?.(secret),
    readdir: (load) => load().readdir?.(outside),
    rm: (load) => load().rm?.(secret),
    watch: async (load) => {
      const events = load().watch?.(outside, { signal: AbortSignal.timeout(300) });
      for await (const _ of events as AsyncIterable<unknown>) return;
    },
  },
  http: {
    get: (load) => outcome(load().get?.({ port, host }), "response"),
    "get over a socket file": (load) => outcome(load().get?.({ socketPath: out("socket") }), "response"),
    listen: (load) => listens(load().createServer?.(), 0, host),
  },
  http2: {
    connect: (load) => outcome(load().connect?.(`http://${host}:${port}`), "connect"),
    listen: (load) => listens(load().createServer?.(), 0, host),
  },
  https: {
    get: (load) => outcome(load().get?.({ port, host, rejectUnauthorized: false }), "response"),
    listen: (load) => listens(load().createServer?.(), 0, host),
  },
  inspector: {
    open: (load) => load().open?.(0, host),
    session: (load) => call(construct(load(), "Session"), "connect"),
    "session of the main thread": (load) => call(construct(load(), "Session"), "connectToMainThread"),
  },
  "inspector/promises": { session: (load) => call(construct(load(), "Session"), "connect") },
  module: {
    register: (load) => load().register?.("data:text/javascript,", import.meta.url),
    "compile cache outside": (load) => cacheOutcome(load().enableCompileCache?.(out("w25"))),
    "import code outside": () => imported(`file://${out("code.mjs")}`),
    "import a secret as JSON": () => import(`file://${out("secret.json")}`, { with: { type: "json" } }),
    "require code outside": () => require(out("code.cjs")),
    "require a secret as JSON": () => require(out("secret.json")),
    "require an addon": () => require(out("addon.node")),
    "import over the network": () => imported(`http://${host}:${port}/code.mjs`),
    "import from text": () => imported("data:text/javascript,export default 1"),
    "compile text as a module": (load) => call(construct(load(), "Module", "x"), "_compile", "1", "x.cjs"),
  },
  net: {
    connect: (load) => outcome(load().connect?.(port, host), "connect"),
    "connect by name": (load) => outcome(load().connect?.(port, "localhost"), "connect"),
    "connect to a socket file": (load) => outcome(load().connect?.(out("socket")), "connect"),
    listen: (load) => listens(load().createServer?.(), 0, host),
    "listen on a socket file": (load) => listens(load().createServer?.(), `${memory}/socket`),
    "listen on a socket file outside": (load) => listens(load().createServer?.(), out("w26")),
    "bound socket": (load) => construct(load(), "BoundSocket", { port: 0, host }),
    "bare handle": (load) => thrown(load()._createServerHandle?.(host, 0, 4)),
  },
  "node:ffi": { load: (load) => load() },
  "node:sea": { asset: (load) => load().getRawAsset?.(secret) },
  "node:sqlite": { "open a file": (load) => construct(load(), "DatabaseSync", out("w27.db")) },
  "node:test": {
    run: async (load) => {
      const events = load().run?.({ files: [import.meta.filename] }) as AsyncIterable<{
        type: string;
        data: { details?: { error?: unknown } };
      }>;
      for await (const event of events) if (event.type === "test:fail") throw rootOf(event.data.details?.error);
    },
  },
  "node:test/reporters": {},
  os: {
    "priority of another": (load) => load().setPriority?.(Number(victim), 1),
  },
  path: {},
  "path/posix": {},
  "path/win32": {},
  perf_hooks: {},
  process: {
    dlopen: () => process.dlopen({ exports: {} }, out("addon.node")),
    execve: () => process.execve?.("/bin/true", ["true"], {}),
    "binding of files": () => call(process, "binding", "fs"),
    "binding of TCP": () => call(process, "binding", "tcp_wrap"),
    "binding of processes": () => call(process, "binding", "spawn_sync"),
    linkedBinding: () => call(process, "_linkedBinding", "fs"),
    loadEnvFile: () => process.loadEnvFile(out("env")),
    "signal to another": () => process.kill(Number(victim), 0),
    "bare signal to another": () =>
      thrown({ error: call(process, "_kill", Number(victim), 0) === 0 ? undefined : denied("kill") }),
    "inspector of another": () => call(process, "_debugProcess", Number(victim)),
    "report to a file": () => process.report.writeReport(out("w28")),
    "report by directory": () => {
      process.report.directory = outside;
      process.report.filename = "w29";
      return process.report.writeReport();
    },
    "change folder": () => process.chdir("/"),
    "a new permission": () => Reflect.get(process.permission, "grant") ?? refuse("no such call"),
    environment: () => (Object.keys(process.env).length ? undefined : refuse("empty")),
  },
  punycode: {},
  querystring: {},
  readline: {},
  "readline/promises": {},
  repl: {
    "history file": (load) => {
      const server = load().start?.({ input: new PassThrough(), output: new PassThrough() }) as object;
      return called((done) => call(server, "setupHistory", out("w30"), done)).then(() => {
        throw Reflect.get(server, "historyManager") === undefined
          ? denied("no history")
          : denied("history kept in memory only");
      });
    },
  },
  stream: {},
  "stream/consumers": {},
  "stream/promises": {},
  "stream/web": {},
  string_decoder: {},
  sys: {},
  timers: {},
  "timers/promises": {},
  tls: {
    connect: (load) => outcome(load().connect?.({ port, host }), "secureConnect"),
    listen: (load) => listens(load().createServer?.(), 0, host),
  },
  trace_events: {
    enable: async (load) => {
      call(load().createTracing?.({ categories: ["node", "v8"] }) as object, "enable");
      await new Promise((resolve) => setTimeout(resolve, 200));
    },
  },
  // Its streams take only descriptors that this process has anyway.
  tty: {},
  url: {},
  util: {},
  "util/types": {},
  v8: {
    "heap snapshot to a file": (load) => load().writeHeapSnapshot?.(out("w31")),
    coverage: (load) => load().takeCoverage?.() ?? refuse("no folder set"),
    "snapshot near the heap limit": (load) => load().setHeapSnapshotNearHeapLimit?.(1),
    "profile near the heap limit": (load) => load().setHeapProfileNearHeapLimit?.(1),
  },
  vm: {
    "run text": (load) => load().runInThisContext?.("1"),
    "compile text": (load) => load().compileFunction?.("return 1"),
  },
  wasi: { folder: (load) => construct(load(), "WASI", { version: "preview1", preopens: { "/": "/" } }) },
  worker_threads: { worker: (load) => outcome(construct(load(), "Worker", "1", { eval: true }), "online") },
  zlib: {},
  _http_agent: {
    connect: (load) => outcome(call(construct(load(), "Agent"), "createConnection", { port, host }), "connect"),
  },
  _http_client: { request: (load) => outcome(construct(load(), "ClientRequest", { port, host }), "response") },
  _http_common: {},
  _http_incoming: {},
  _http_outgoing: {},
  _http_server: { listen: (load) => listens(construct(load(), "Server"), 0, host) },
  _tls_common: {},
  _tls_wrap: {
    connect: (load) => outcome(load().connect?.({ port, host }), "secureConnect"),
    listen: (load) => listens(load().createServer?.(), 0, host),
  },
  global: {
    fetch: () => fetch(`http://${host}:${port}`).catch((error: unknown) => Promise.reject(rootOf(error))),
    "fetch a file": () => fetch(`file://${secret}`).catch((error: unknown) => Promise.reject(rootOf(error))),
    WebSocket: () => outcomeOfWeb(new WebSocket(`ws://${host}:${port}`)),
    localStorage: () => localStorage.setItem("a", "b"),
    eval: () => call(globalThis, "eval", "1"),
    Function: () => Reflect.construct(Function, ["return 1"]),
    "prototype by name": () => Reflect.get({}, "__proto__"),
  },
};

function outcomeOfWeb(target: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    target.addEventListener("open", () => resolve());
    target.addEventListener("error", (event) => reject(rootOf(Reflect.get(event, "error"))));
  });
}

function changeFlags(): void {
  const { setFlagsFromString } = process.getBuiltinModule("v8");
  for (const flag of ["--trace-turbo", `--trace-turbo-path=${outside}`]) setFlagsFromString(flag);
  let sum = 0;
  for (let i = 0; i < 1e8; i++) sum += i % 7;
  stdout.write(`flags changed ${sum}\n`);
  process.exit(0);
}

async function wait(): Promise<never> {
  stdout.write("here\n");
  for (;;) await new Promise((resolve) => setTimeout(resolve, 1000));
}

function denied(why: string): Error {
  return Object.assign(new Error(why), { code: "NOTHING_THERE" });
}

function refuse(why: string): never {
  throw denied(why);
}

/** For calls that return their error. */
function thrown(result: unknown): void {
  if (typeof result === "number" && result < 0) throw denied(String(result));
  const error: unknown = typeof result === "object" && result !== null ? Reflect.get(result, "error") : undefined;
  if (error) throw error;
}

function cacheOutcome(result: unknown): void {
  if (Reflect.get(Object(result), "status") === 0) throw denied(String(Reflect.get(Object(result), "message")));
}

function rootOf(error: unknown): unknown {
  let at: unknown = error;
  while (at instanceof Error && at.cause instanceof Error) at = at.cause;
  return at;
}

/** Some refusals arrive as an exception outside of any call of ours. */
let stray: (error: unknown) => void = () => {};
process.on("uncaughtException", (error) => stray(error));
process.on("unhandledRejection", (error) => stray(error));

async function tryOne(probe: Probe, load: () => Loose): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  try {
    await Promise.race([
      (async () => probe(load))(),
      new Promise((_, reject) => {
        stray = reject;
        timer = setTimeout(() => reject(new Error("no answer")), Number(patienceMs));
      }),
    ]);
    return "allowed";
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), "code");
    return `refused ${typeof code === "string" ? code : error}`;
  } finally {
    clearTimeout(timer);
  }
}

/** What the signer itself holds when it locks itself down; all else must be loaded, by whatever way is left. */
const held: Record<string, unknown> = { crypto, fs, "fs/promises": fs.promises, net };
function loadBuiltin(name: string): Loose {
  const way = held[name] ?? attempt(() => require(name)) ?? process.getBuiltinModule(name) ?? refuse("no such module");
  return way as Loose;
}

/** Permissions are asked for paths alone: whatever is open can be used. */
async function listFiles(): Promise<void> {
  lockDown("signer");
  const numbers = Array.from({ length: 1024 }, (_, number) => number);
  const files = numbers.filter((number) => attempt(() => fs.fstatSync(number).isFile()));
  const texts = files.map((number) => [number, fs.readFileSync(number, "utf8")]);
  await new Promise((resolve) => stdout.write(JSON.stringify(texts), resolve));
  process.exit(0);
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

const results: Record<string, string> = {};
results["memory: write"] = await tryOne(
  () => fs.writeFileSync(`${memory}/own`, "own"),
  () => ({}),
);
// The old names with an underscore come last: loaded first, they break the modules they belong to.
const names = [...builtinModules.filter((name) => !name.startsWith("_")), ...Object.keys(probes)];
for (const name of new Set(names)) {
  const row = probes[name];
  if (!row) results[`${name}: unknown module`] = "allowed";
  for (const [probeName, probe] of Object.entries(row ?? {})) {
    if (probeName.includes("planted") !== (task === "links")) continue;
    results[`${name}: ${probeName}`] = await tryOne(probe, () => loadBuiltin(name));
  }
}
stdout.write(`${JSON.stringify(results, null, 1)}\n`, () => process.exit(0));
