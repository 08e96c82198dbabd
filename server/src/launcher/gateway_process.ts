import { spawn } from "node:child_process";
import { type Child, watch } from "./child.ts";
import type { Code } from "./code.ts";
import { type GatewayMessage, parseGatewayMessage } from "./messages.ts";
import { gatewayArguments } from "./permissions.ts";
import type { SignerProcess } from "./signer_process.ts";
import type { User } from "./users.ts";

export function startGateway(
  code: Code,
  user: User | undefined,
  databaseFolder: string,
  env: Record<string, string>,
  hear: (message: GatewayMessage) => void,
): Child {
  const process_ = spawn(process.execPath, gatewayArguments(code.gateway, databaseFolder), {
    ...user,
    cwd: databaseFolder,
    env,
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  process_.on("message", (value, handle) => {
    // Nobody asked for a handle; kept open it would be a way to use up our descriptors.
    if (handle && "close" in handle) handle.close();
    else if (handle && "destroy" in handle) handle.destroy();
    const message = parseGatewayMessage(value);
    if (message) hear(message);
  });
  return watch(process_);
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
