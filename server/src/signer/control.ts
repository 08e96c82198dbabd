/** The launcher's descriptor: root key and orders come in, words to the operator go out. Its end is the signer's end. */
import { Socket } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import type { Orders } from "./operations.ts";

export type Control = {
  rootKey: Uint8Array;
  orders: Orders & { memoryFolder: string; resetClock: boolean };
  say(message: { kind: "ready" } | { kind: "fatal" | "note"; message: string }): void;
};

const rootKeyLength = 32;

/** Reads the two length-prefixed parts described in launcher/SPEC.md. */
export function readControl(descriptor: number): Promise<Control> {
  const socket = new Socket({ fd: descriptor, readable: true, writable: true });
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0);
    let rootKey: Uint8Array | undefined;
    const take = (): Buffer | undefined => {
      if (pending.length < 4) return undefined;
      const length = pending.readUInt32BE(0);
      if (length > 1024 * 1024) throw new Fault("invalid_argument", "a part of the orders is too long");
      if (pending.length < 4 + length) return undefined;
      const part = pending.subarray(4, 4 + length);
      pending = pending.subarray(4 + length);
      return part;
    };
    socket.on("data", (chunk: Buffer) => {
      try {
        const joined = Buffer.concat([pending, chunk]);
        pending.fill(0);
        chunk.fill(0);
        pending = joined;
        if (rootKey === undefined) {
          const part = take();
          if (part === undefined) return;
          if (part.length !== rootKeyLength) throw new Fault("invalid_argument", "the root key has the wrong length");
          rootKey = Uint8Array.from(part);
          part.fill(0);
        }
        const orders = take();
        if (orders === undefined) return;
        resolve({
          rootKey,
          orders: JSON.parse(orders.toString("utf8")),
          say: (message) => socket.write(`${JSON.stringify(message)}\n`),
        });
      } catch (error) {
        reject(error);
      }
    });
    socket.on("error", reject);
    // Without its launcher a signer serves nobody it could trust to have been joined rightly.
    socket.on("close", () => process.exit(0));
  });
}
