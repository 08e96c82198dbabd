/** Who runs below whom, as Linux shows it in /proc. Numbers are used again for other processes, so look again before each use. */
import { readdir, readFile } from "node:fs/promises";

export type RunningProcess = { pid: number; command: string };

/** The children of a process, with their command lines. */
export async function childrenOf(parent: number): Promise<RunningProcess[]> {
  const found: RunningProcess[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const status = await readFile(`/proc/${name}/stat`, "utf8");
      if (Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]) !== parent) continue;
      const command = await readFile(`/proc/${name}/cmdline`, "utf8");
      found.push({ pid: Number(name), command: command.replaceAll("\0", " ") });
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

export type ServerProcesses = Record<"gateway" | "signer" | "courier", number | undefined>;

/** The children of a launcher by their roles, which their command lines name. */
export async function serverProcessesOf(launcher: number): Promise<ServerProcesses> {
  const children = await childrenOf(launcher);
  const pidOf = (program: RegExp) => children.find(({ command }) => program.test(command))?.pid;
  return {
    gateway: pidOf(/\/gateway\/main\.[jt]s/),
    signer: pidOf(/\/signer\/main\.[jt]s/),
    courier: pidOf(/\/courier\/main\.[jt]s/),
  };
}

/** A process that has ended and whom its parent has not asked about yet runs no more. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    const status = await readFile(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(status.slice(status.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

/** False when it ended between the look and the kill, so that nobody was killed. */
export function killIfThere(pid: number): boolean {
  return signalIfThere(pid, "SIGKILL");
}

export function signalIfThere(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Those whose command line or environment names a folder, whoever their parent is by now. */
export async function processesNaming(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    const texts = ["cmdline", "environ"].map((file) => readFile(`/proc/${name}/${file}`, "utf8").catch(() => ""));
    if ((await Promise.all(texts)).some((text) => text.includes(folder))) found.push(Number(name));
  }
  return found;
}

/** Its command line; empty when it has ended. */
export async function commandOf(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return text.replaceAll("\0", " ");
}
