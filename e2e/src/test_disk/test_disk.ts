/**
 * The real launcher, gateway and signer on a disk of the test's own (disk.c): what they write is written down, and the disk
 * can be full, refuse changes, or show another time whenever the test says so.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { patienceMs } from "../../../core/test/patience.ts";
import { type Bootstrap, repository } from "../keystead_server.ts";
import { killIfThere, type ServerProcesses, serverProcessesOf } from "../process_tree.ts";

/** Why the test disk cannot be had here; false when it can. For the `skip` of a test. */
export function noTestDisk(): string | false {
  if (process.platform !== "linux") return "needs Linux: LD_PRELOAD and /proc";
  try {
    execFileSync("gcc", ["--version"], { stdio: "ignore" });
    return existsSync("/usr/include/stdio.h") ? false : "needs the C library's headers (libc6-dev)";
  } catch {
    return "needs gcc";
  }
}

/** The rows of settings in disk.c. */
const parts = ["database", "signer", "launcher"] as const;
export type Part = (typeof parts)[number];

export type TestDisk = {
  dataFolder: string;
  /** All that was written down so far. */
  journal(): Buffer;
  journalLength(): number;
  setClock(shiftMs: number): void;
  /** Every change fails with this error, until `undefined` says that none does. */
  refuse(part: Part, error: "EROFS" | undefined): void;
  /** So many bytes more, then the disk is full; undefined for as much as there is. */
  limit(part: Part, bytes: number | undefined): void;
  /** A program on this disk: the launcher, unless told. */
  start(options?: StartOptions): DiskProcess;
};

export type StartOptions = { args?: readonly string[]; entry?: string; env?: Record<string, string> };

export type DiskProcess = {
  process: ChildProcess;
  output(): string;
  exited: Promise<number | null>;
  /** The address, once it is ready. Fails when it ends before that. */
  ready(): Promise<string>;
  children(): Promise<ServerProcesses>;
  /** SIGKILL to all three at once. */
  cut(): Promise<void>;
  /** Waits for the end that was asked for. */
  stop(): Promise<void>;
};

let library: string | undefined;

function compile(folder: string): string {
  const target = join(folder, "disk.so");
  const source = join(import.meta.dirname, "disk.c");
  const flags = ["-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-pthread"];
  execFileSync("gcc", [...flags, "-o", target, source, "-ldl"], { stdio: "inherit" });
  return target;
}

/** Compiled once for all tests of a file. */
function sharedLibrary(): string {
  if (library === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "keystead-disk-"));
    chmodSync(folder, 0o711);
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    library = compile(folder);
  }
  return library;
}

/** A disk below which a data folder lies or will lie. */
export function createTestDisk(t: TestContext, dataFolder: string): TestDisk {
  const folder = mkdtempSync(join(tmpdir(), "keystead-disk-"));
  chmodSync(folder, 0o711);
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [journal, settings, node] = ["journal", "settings", "node"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(journal, "");
  writeFileSync(settings, settingsBytes(0n, [0n, 0n, 0n], [-1n, -1n, -1n]));
  for (const path of [journal, settings]) chmodSync(path, 0o666);
  const preload = {
    LD_PRELOAD: sharedLibrary(),
    DISK_ROOT: `${dataFolder}/`,
    DISK_JOURNAL: journal,
    DISK_SETTINGS: settings,
    // Some calls would else go past the C library.
    UV_USE_IO_URING: "0",
  };
  const exports = Object.entries(preload).map(([name, value]) => `export ${name}='${value}'`);
  writeFileSync(node, `#!/bin/sh\n${exports.join("\n")}\nexec '${process.execPath}' "$@"\n`);
  chmodSync(node, 0o755);

  const set = (index: number, value: number) => {
    const file = openSync(settings, "r+");
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    writeSync(file, bytes, 0, 8, index * 8);
    closeSync(file);
  };
  return {
    dataFolder,
    journal: () => readFileSync(journal),
    journalLength: () => statSync(journal).size,
    setClock: (shiftMs) => set(0, shiftMs),
    refuse: (part, error) => set(1 + parts.indexOf(part), error === undefined ? 0 : constants.errno[error]),
    limit: (part, bytes) => set(1 + parts.length + parts.indexOf(part), bytes ?? -1),
    start: (options = {}) => start(t, dataFolder, preload, node, options),
  };
}

function settingsBytes(clock: bigint, refuse: bigint[], room: bigint[]): Uint8Array {
  return Buffer.from(BigInt64Array.from([clock, ...refuse, ...room]).buffer);
}

function start(
  t: TestContext,
  dataFolder: string,
  preload: Record<string, string>,
  node: string,
  { args = [], entry = join(import.meta.dirname, "main_on_test_disk.ts"), env = {} }: StartOptions,
): DiskProcess {
  const child = spawn(process.execPath, [entry, ...args], {
    cwd: repository,
    env: {
      PATH: process.env.PATH ?? "",
      PORT: "0",
      KEYSTEAD_DATA: dataFolder,
      NODE_ON_TEST_DISK: node,
      ...preload,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  child.stdout.on("data", (chunk) => (printed += chunk));
  child.stderr.on("data", (chunk) => (printed += chunk));
  const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  const children = () => serverProcessesOf(child.pid ?? 0);
  const cut = async () => {
    const { gateway, signer } = await children();
    for (const pid of [gateway, signer, child.pid]) if (pid !== undefined) killIfThere(pid);
    await exited;
  };
  t.after(cut);
  return {
    process: child,
    output: () => printed,
    exited,
    ready: () =>
      new Promise((resolve, reject) => {
        const look = () => {
          const url = /ready at (http:\/\/\S+)/.exec(printed)?.[1];
          if (url !== undefined) resolve(url);
        };
        child.stdout.on("data", look);
        look();
        void exited.then((code) => reject(new Error(`it ended with ${code} before it was ready:\n${printed}`)));
        setTimeout(() => reject(new Error(`it was not ready in time:\n${printed}`)), patienceMs).unref();
      }),
    children,
    cut,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

export function readBootstrap(dataFolder: string): Bootstrap {
  return JSON.parse(readFileSync(join(dataFolder, "bootstrap.json"), "utf8")) as Bootstrap;
}
