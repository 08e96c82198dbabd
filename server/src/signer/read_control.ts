/** The launcher's descriptor: root key and orders come in, words to the operator go out. Its end is the signer's end. */
import { Socket } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import type { Orders } from "./operations.ts";
import type { Keyring, RootKeys } from "./secrets/keyring.ts";

export type Control = {
  rootKeys: RootKeys;
  orders: Orders & { memoryFolder: string; resetClock: boolean };
  /** SHA-256 of the Node that runs this, as the launcher has it; it comes later than the rest. Empty where it could not be read. */
  nodeDigest: Promise<Uint8Array>;
  /** Called with each word that the folder of the memory is synced. */
  onSynced(listener: () => void): void;
  say(
    message:
      | { kind: "ready" | "renamed" }
      | { kind: "fatal" | "note"; message: string }
      | { kind: "keys"; publicKeys: Keyring["publicKeys"]; attestationRoot: string }
      /** In hex, for the launcher to hand to the courier. A line of text cannot be wiped; the launcher keeps this key anyway. */
      | { kind: "courierKey"; key: string },
  ): void;
};

const rootKeyLength = 32;

/** Reads the length-prefixed parts described in launcher/SPEC.md. */
export function readControl(descriptor: number): Promise<Control> {
  const socket = new Socket({ fd: descriptor, readable: true, writable: true });
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0);
    let rootKeys: RootKeys | undefined;
    let hasOrders = false;
    let hearSynced: () => void = () => undefined;
    const nodeDigest = Promise.withResolvers<Uint8Array>();
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
        if (rootKeys === undefined) {
          const part = take();
          if (part === undefined) return;
          rootKeys = readRootKeys(part);
          part.fill(0);
        }
        if (!hasOrders) {
          const orders = take();
          if (orders === undefined) return;
          hasOrders = true;
          resolve({
            rootKeys,
            orders: JSON.parse(orders.toString("utf8")),
            nodeDigest: nodeDigest.promise,
            onSynced(listener) {
              hearSynced = listener;
            },
            say: (message) => socket.write(`${JSON.stringify(message)}\n`),
          });
        }
        for (let part = take(); part !== undefined; part = take()) {
          if (part.toString("latin1") === "synced") hearSynced();
          else nodeDigest.resolve(Uint8Array.from(part));
        }
      } catch (error) {
        reject(error);
      }
    });
    socket.on("error", reject);
    // Without its launcher a signer serves nobody it could trust to have been joined rightly.
    socket.on("close", () => process.exit(0));
  });
}

/** The root key; or, during a rotation, the one that goes and behind it the one that comes. */
function readRootKeys(part: Uint8Array): RootKeys {
  if (part.length === rootKeyLength) return { current: Uint8Array.from(part) };
  if (part.length !== 2 * rootKeyLength) throw new Fault("invalid_argument", "the root key has the wrong length");
  const [retiring, current] = [part.subarray(0, rootKeyLength), part.subarray(rootKeyLength)];
  return { current: Uint8Array.from(current), retiring: Uint8Array.from(retiring) };
}
