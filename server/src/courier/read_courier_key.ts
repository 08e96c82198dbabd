/** The launcher's descriptor: the courier key comes in, words to the operator go out. Its end is the courier's end. */
import { Socket } from "node:net";
import { courierKeyLength } from "../outbox/courier_box.ts";

export type CourierControl = {
  courierKey: Uint8Array;
  say(message: { kind: "fatal" | "note"; message: string }): void;
};

/** Reads the one length-prefixed order described in launcher/SPEC.md. */
export function readCourierKey(descriptor: number): Promise<CourierControl> {
  const socket = new Socket({ fd: descriptor, readable: true, writable: true });
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      const joined = Buffer.concat([pending, chunk]);
      pending.fill(0);
      chunk.fill(0);
      pending = joined;
      if (pending.length < 4 + courierKeyLength) return;
      if (pending.readUInt32BE(0) !== courierKeyLength) reject(new Error("the courier key has the wrong length"));
      const courierKey = Uint8Array.from(pending.subarray(4, 4 + courierKeyLength));
      pending.fill(0);
      resolve({ courierKey, say: (message) => socket.write(`${JSON.stringify(message)}\n`) });
    });
    socket.on("error", reject);
    socket.on("close", () => process.exit(0));
  });
}
