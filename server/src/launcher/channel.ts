import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { Child } from "./child.ts";

/** Hears what a process says over Node's IPC channel. */
export function hearChannel(process: ChildProcess, hear: (value: unknown) => void): void {
  process.prependListener("internalMessage", dropHandle);
  process.on("message", hear);
}

/**
 * Nobody asked for a handle. Before Node makes a socket or a server of it, which would use up our descriptors and could fail
 * later with nobody listening, it is closed, and without its name Node leaves the message alone.
 */
function dropHandle(message: { cmd: string }, handle: { close(): void } | undefined): void {
  if (!handle) return;
  message.cmd = "";
  handle.close();
}

/**
 * Gives a process the other end of the socket to one that was joined to it; our own is closed when it has been sent, and at once if it
 * cannot be. Call it in the turn in which the joined process was spawned: bytes that arrive here before would be lost, so a joined
 * process never speaks first.
 */
export function sendJoint(to: Child, kind: string, joint: Socket): void {
  to.process.send({ kind }, joint, (error) => {
    if (error) joint.destroy();
  });
}

export function sendStop(process: ChildProcess): void {
  if (process.connected) process.send({ kind: "stop" }, () => {});
}
