import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { type Child, watch } from "./child.ts";
import type { Code } from "./code.ts";
import { type GatewayMessage, parseGatewayMessage, printable } from "./messages.ts";
import { gatewayArguments } from "./permissions.ts";
import type { SignerProcess } from "./signer_process.ts";
import type { User } from "./users.ts";

const longestLine = 65536;

export function startGateway(
  code: Code,
  user: User | undefined,
  databaseFolder: string,
  env: Record<string, string>,
  hear: (message: GatewayMessage) => void,
  linePrefix: string,
): Child {
  const process_ = spawn(process.execPath, gatewayArguments(code.gateway, databaseFolder), {
    ...user,
    cwd: databaseFolder,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  if (process_.stdout) relay(process_.stdout, process.stdout, linePrefix);
  if (process_.stderr) relay(process_.stderr, process.stderr, linePrefix);
  process_.prependListener("internalMessage", dropHandle);
  process_.on("message", (value) => {
    const message = parseGatewayMessage(value);
    if (message) hear(message);
  });
  return watch(process_);
}

/**
 * Nobody asked the gateway for a handle. Before Node makes a socket or a server of it, which would use up our descriptors and could fail
 * later with nobody listening, it is closed, and without its name Node leaves the message alone.
 */
function dropHandle(message: { cmd: string }, handle: { close(): void } | undefined): void {
  if (!handle) return;
  message.cmd = "";
  handle.close();
}

/**
 * Gives the gateway its end of the socket to the signer; our own is closed when the gateway has it, and at once if it cannot have it.
 * This happens in the turn in which the signer was spawned: bytes that arrive here before would be lost, so the signer never speaks first.
 */
export function join(gateway: Child, signer: SignerProcess): void {
  gateway.process.send({ kind: "signer" }, signer.joint, (error) => {
    if (error) signer.joint.destroy();
  });
}

export function askToStop(gateway: Child): void {
  if (gateway.process.connected) gateway.process.send({ kind: "stop" }, () => {});
}

/** Prints what the gateway prints, line by line: it must not write to the operator's terminal as it likes, nor in the launcher's name. */
function relay(from: Readable, to: Writable, linePrefix: string): void {
  let rest = "";
  const print = (line: string) => {
    const text = printable(line, longestLine);
    to.write(`${isLogEntry(text) ? "" : linePrefix}${text}\n`);
  };
  from.setEncoding("utf8");
  from.on("error", () => {});
  from.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length >= longestLine) {
      lines.push(rest);
      rest = "";
    }
    for (const line of lines) print(line);
  });
  from.on("end", () => {
    if (rest) print(rest);
  });
}

/** The gateway logs in JSON for machines to read, and no line of the launcher looks like that. */
function isLogEntry(line: string): boolean {
  if (!line.startsWith("{")) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
