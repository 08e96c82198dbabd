/** `keystead keys rotate` as an operator runs it, and its violent ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { repository } from "@keystead/e2e/keystead_server.ts";
import {
  childrenOf,
  isRunning,
  killIfThere,
  type ServerProcesses,
  serverProcessesOf,
} from "@keystead/e2e/process_tree.ts";

export type Rotation = {
  process: ChildProcess;
  said(): string;
  /** Exit code and signal, when nobody can write to its output any more. */
  ended: Promise<unknown[]>;
};

export function rotate(dataFolder: string, env: Record<string, string>): Rotation {
  const child = spawn(process.execPath, [join(repository, "cli/src/main.ts"), "keys", "rotate", "--old-key-saved"], {
    env: { PATH: process.env.PATH ?? "", PORT: "0", KEYSTEAD_DATA: dataFolder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  return { process: child, said: () => said, ended: once(child, "close") };
}

/** Whom a kill meets: one process, or with `all` every one of them, as when the machine goes down. */
export const targets = ["signer", "gateway", "launcher", "all"] as const;
export type Target = (typeof targets)[number];

type Processes = ServerProcesses & { launcher: number | undefined };

async function processesOf({ process: child }: Rotation): Promise<Processes> {
  const children = await childrenOf(child.pid ?? 0);
  const launcher = children.find(({ command }) => command.includes("server/main.mjs"))?.pid;
  if (launcher === undefined) return { launcher, gateway: undefined, signer: undefined, courier: undefined };
  return { launcher, ...(await serverProcessesOf(launcher)) };
}

function hasEnded({ process: child }: Rotation): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Waits until both children run, or the rotation has ended before; gives the time. */
export async function untilJoined(rotation: Rotation): Promise<number> {
  for (;;) {
    const { gateway, signer } = await processesOf(rotation);
    if ((gateway !== undefined && signer !== undefined) || hasEnded(rotation)) return performance.now();
    await pause(5);
  }
}

/** False, with nobody killed, if it had ended or ends before the target is there. Returns when none of its processes is left. */
export async function kill(rotation: Rotation, target: Target): Promise<boolean> {
  for (;;) {
    const found = await processesOf(rotation);
    if (hasEnded(rotation)) return false;
    const { launcher, gateway, signer } = found;
    const everyone = [launcher, gateway, signer].filter((pid) => pid !== undefined);
    const pid = target === "all" ? rotation.process.pid : found[target];
    if (pid === undefined) {
      await pause(2);
      continue;
    }
    if (target === "all") {
      // The children have groups of their own, and none of them may outlive the others by a moment.
      process.kill(-pid, "SIGKILL");
      for (const each of everyone) killIfThere(each);
    } else if (!killIfThere(pid)) continue;
    await rotation.ended;
    for (const each of everyone) while (await isRunning(each)) await pause(5);
    return true;
  }
}

/** The keys as every start would find them. */
export function rootKeysAt(dataFolder: string): { current: Uint8Array; retiring?: Uint8Array } {
  const read = (name: string) => Uint8Array.from(readFileSync(join(dataFolder, name)));
  const first = read("root.key");
  return existsSync(join(dataFolder, "root.key.next"))
    ? { current: read("root.key.next"), retiring: first }
    : { current: first };
}
