import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Birth } from "./bootstrap.ts";
import { type Child, watch } from "./child.ts";
import type { Code } from "./code.ts";
import { parseSignerMessage, type SignerMessage } from "./messages.ts";
import { signerArguments } from "./permissions.ts";
import type { User } from "./users.ts";

export type Orders = {
  memoryFolder: string;
  adoptUnknown: boolean;
  acceptDatabase: boolean;
  reseal: boolean;
  vouch: boolean;
  resetClock: boolean;
  limits: Record<string, number>;
  birth: Birth;
};

/** `joint` is the socket that the gateway gets; `control` never leaves the launcher. */
export type SignerProcess = Child & { joint: Socket; control: Socket };

const longestLine = 65536;

export function startSigner(
  code: Code,
  user: User | undefined,
  rootKey: Uint8Array,
  orders: Orders,
  hear: (message: SignerMessage) => void,
): SignerProcess {
  const process_ = spawn(process.execPath, signerArguments(code.signer, orders.memoryFolder), {
    ...user,
    // Whatever Node writes by itself (a trace, a heap snapshot) goes to the working folder.
    cwd: orders.memoryFolder,
    env: {},
    // A group of its own: Ctrl-C in a terminal must reach the launcher alone, which then ends the others in order.
    detached: true,
    stdio: ["ignore", "inherit", "inherit", "pipe", "pipe"],
  });
  const [, , , joint, control] = process_.stdio as unknown as [null, null, null, Socket, Socket];
  joint.on("error", () => {});
  control.on("error", () => {});
  hearLines(control, hear);
  const secret = framed(rootKey);
  control.write(secret, () => secret.fill(0));
  control.write(framed(Buffer.from(JSON.stringify(orders))));
  return { ...watch(process_), joint, control };
}

function framed(bytes: Uint8Array): Uint8Array {
  const frame = new Uint8Array(4 + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length);
  frame.set(bytes, 4);
  return frame;
}

function hearLines(control: Socket, hear: (message: SignerMessage) => void): void {
  let rest = "";
  control.setEncoding("utf8");
  control.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) rest = "";
    for (const line of lines) {
      const message = parseSignerMessage(line);
      if (message) hear(message);
    }
  });
}
