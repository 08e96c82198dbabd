import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { Socket } from "node:net";
import { hearChannel, sendStop } from "./channel.ts";
import { type Child, watch } from "./child.ts";
import type { Program } from "./code.ts";
import { hearControl, writeOrders } from "./control.ts";
import { nodeArguments } from "./permissions.ts";
import type { ProcessUser } from "./process_users.ts";
import type { Descriptor, ProcessRow } from "./processes.ts";
import { relay } from "./relay.ts";

export type ProcessStart = {
  row: ProcessRow;
  program: Program;
  /** Its own folder, as a real path. */
  folder: string;
  /** Single files elsewhere that it reads and writes, as real paths. */
  files?: readonly string[];
  /** Undefined: the launcher's own. */
  user: ProcessUser | undefined;
  env: Record<string, string>;
  /** The contents of `row.orders`. They are copied, so the caller wipes its own. */
  orders: readonly Uint8Array[];
  /** Stands before each line of a relayed output that is no log entry. */
  linePrefix: string;
  /** Gets every value that the process sends on its channel or its control socket. Nothing about the value is checked. */
  hear(value: unknown): void;
};

/** `joint` is for the process that this one is joined to; `control` never leaves the launcher. */
export type StartedProcess = Child & {
  joint: Socket | undefined;
  control: Socket | undefined;
  askToStop(): void;
  /** The folder of its files is synced, as it asked. */
  tellSynced(): void;
};

/** Starts a process as its row says. */
export function startProcess({ row, program, folder, files, user, env, ...start }: ProcessStart): StartedProcess {
  const started = spawn(process.execPath, nodeArguments(row, program, folder, files), {
    ...user,
    // Whatever Node writes by itself (a trace, a heap snapshot) goes to the working folder.
    cwd: folder,
    env,
    // A group of its own: Ctrl-C in a terminal must reach the launcher alone, which then ends the others in order.
    detached: true,
    stdio: stdioOf(row),
  });
  if (started.stdout) relay(started.stdout, process.stdout, start.linePrefix);
  if (started.stderr) relay(started.stderr, process.stderr, start.linePrefix);
  if (row.descriptors.includes("channel")) hearChannel(started, start.hear);
  const joint = socketOf(started, row, "joint");
  const control = socketOf(started, row, "control");
  if (control) {
    hearControl(control, start.hear);
    writeOrders(control, start.orders);
  }
  const askToStop = () => (control ? control.end() : sendStop(started));
  const tellSynced = () => control && writeOrders(control, [Buffer.from("synced")]);
  return { ...watch(started), joint, control, askToStop, tellSynced };
}

function stdioOf({ output, descriptors }: ProcessRow): StdioOptions {
  const printed = output === "relayed" ? "pipe" : "inherit";
  return ["ignore", printed, printed, ...descriptors.map((kind) => (kind === "channel" ? "ipc" : "pipe"))];
}

/** Undefined too when the process could not be started at all for want of descriptors. */
function socketOf({ stdio }: ChildProcess, { descriptors }: ProcessRow, kind: Descriptor): Socket | undefined {
  const socket = descriptors.includes(kind) ? stdio?.[3 + descriptors.indexOf(kind)] : undefined;
  if (!(socket instanceof Socket)) return undefined;
  socket.on("error", () => {});
  return socket;
}
