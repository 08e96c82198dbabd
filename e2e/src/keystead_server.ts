/** A real Keystead for black-box tests: the launcher and its children, on a data folder of their own. */
import assert from "node:assert/strict";
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Stream } from "node:stream";
import { fileURLToPath } from "node:url";
import { patienceMs } from "../../core/test/patience.ts";
import { addMailbox } from "./mailbox.ts";
import { type ServerProcesses, serverProcessesOf } from "./process_tree.ts";

export const repository = fileURLToPath(new URL("../../", import.meta.url));

export type Bootstrap = {
  baseUrl: string;
  authProxyUrl: string;
  authProxyConfigId: string;
  organizationId: string;
  organizationName: string;
  userId: string;
  apiPublicKey: string;
  apiPrivateKey: string;
};

export type KeysteadServer = {
  url: string;
  dataFolder: string;
  bootstrap: Bootstrap;
  launcher: ChildProcess;
  /** Everything the processes have printed so far. */
  output(): string;
  /** The process ids of the moment; children may be restarted. Linux only, as the tests that kill are. */
  children(): Promise<ServerProcesses>;
  /** Stops in good order and removes the data folder unless it was given. */
  stop(): Promise<void>;
};

export type ServerOptions = {
  dataFolder?: string;
  databaseUrl?: string;
  port?: number;
  /** Another program than the launcher itself. */
  main?: string;
  /** Another folder than this one that holds a Keystead. */
  checkout?: string;
  env?: Record<string, string>;
  /** Keep the data folder on stop. */
  keep?: boolean;
  /** Open in the launcher by these numbers, as a careless parent leaves its own. */
  descriptors?: Record<number, number | Stream | "pipe">;
};

export async function startKeystead(options: ServerOptions = {}): Promise<KeysteadServer> {
  const dataFolder = options.dataFolder ?? join(await mkdtemp(join(tmpdir(), "keystead-")), "data");
  addMailbox(dataFolder);
  const { checkout = repository } = options;
  const launcher = spawn(process.execPath, [join(checkout, options.main ?? "server/main.mjs")], {
    cwd: checkout,
    env: {
      PATH: process.env.PATH ?? "",
      PORT: String(options.port ?? 0),
      KEYSTEAD_DATA: dataFolder,
      ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
      // Issuers of identity tokens are on this machine.
      KEYSTEAD_DEV_EGRESS: "loopback",
      ...options.env,
    },
    stdio: stdioOf(options.descriptors ?? {}),
  });
  assert.ok(launcher.stdout !== null && launcher.stderr !== null);
  const { stdout } = launcher;
  let printed = "";
  launcher.stdout.on("data", (chunk) => (printed += chunk));
  launcher.stderr.on("data", (chunk) => (printed += chunk));

  const url = await new Promise<string>((resolve, reject) => {
    const check = (): void => {
      const match = /ready at (http:\/\/\S+)/.exec(printed);
      if (match?.[1] !== undefined) resolve(match[1]);
    };
    stdout.on("data", check);
    launcher.once("exit", (code) => reject(new Error(`keystead ended with ${code} before it was ready:\n${printed}`)));
    setTimeout(() => reject(new Error(`keystead was not ready in time:\n${printed}`)), patienceMs).unref();
  });

  return {
    url,
    dataFolder,
    bootstrap: JSON.parse(readFileSync(join(dataFolder, "bootstrap.json"), "utf8")) as Bootstrap,
    launcher,
    output: () => printed,
    children: () => serverProcessesOf(launcher.pid ?? 0),
    async stop() {
      if (launcher.exitCode === null && launcher.signalCode === null) {
        const ended = new Promise((resolve) => launcher.once("exit", resolve));
        launcher.kill("SIGTERM");
        await ended;
      }
      if (options.dataFolder === undefined && options.keep !== true) {
        await rm(join(dataFolder, ".."), { recursive: true, force: true });
      }
    },
  };
}

function stdioOf(descriptors: Record<number, number | Stream | "pipe">): StdioOptions {
  const last = Math.max(2, ...Object.keys(descriptors).map(Number));
  const standard = ["ignore", "pipe", "pipe"] as const;
  return Array.from({ length: last + 1 }, (_, place) => standard[place] ?? descriptors[place] ?? "ignore");
}

/** That gateway and signer are the same. A courier comes when the first message goes out. */
export async function assertNotReplaced(
  server: Pick<KeysteadServer, "children">,
  before: ServerProcesses,
): Promise<void> {
  const { gateway, signer } = await server.children();
  assert.deepEqual({ gateway, signer }, { gateway: before.gateway, signer: before.signer }, "a process was replaced");
}

/** What a server writes when a fault is its own. Not "internal" alone: stacks name Node's own modules by that word. */
export const ownFault = /internal server error|"code":"internal"/;
