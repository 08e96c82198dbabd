import type { Socket } from "node:net";

const longestLine = 65536;

/** Writes orders to a process, each behind its length, and wipes what was written: a root key may be among them. */
export function writeOrders(control: Socket, orders: readonly Uint8Array[]): void {
  for (const order of orders) {
    const frame = new Uint8Array(4 + order.length);
    new DataView(frame.buffer).setUint32(0, order.length);
    frame.set(order, 4);
    control.write(frame, () => frame.fill(0));
  }
}

/** Hears what a process says on its control socket: one JSON value per line. Other lines are dropped. */
export function hearControl(control: Socket, hear: (value: unknown) => void): void {
  let rest = "";
  control.setEncoding("utf8");
  control.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) rest = "";
    for (const line of lines) hear(parseLine(line));
  });
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
