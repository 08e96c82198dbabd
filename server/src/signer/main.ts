/** The signer process: descriptor 3 joins the gateway, descriptor 4 the launcher. It opens nothing else but its memory. */
import { Socket } from "node:net";
import { readControl } from "./control.ts";
import { lockDown } from "./lockdown.ts";
import { openMemory } from "./memory.ts";
import { createOperations } from "./operations.ts";
import { serve } from "./serve.ts";

// Everything it will ever run is loaded by now.
lockDown();

const { rootKeys, orders, say } = await readControl(4);

try {
  const memory = openMemory(orders.memoryFolder, rootKeys.current, rootKeys);
  if (orders.resetClock) memory.resetClock(Date.now());
  const note = (message: string) => say({ kind: "note", message });
  const operations = createOperations(rootKeys, memory, orders, Date.now, note);
  const gateway = new Socket({ fd: 3, readable: true, writable: true });
  gateway.on("error", () => undefined);
  // The launcher starts a new signer for a new gateway.
  gateway.on("close", () => process.exit(0));
  serve(gateway, operations, note);
  say({ kind: "ready" });
} catch (error) {
  say({ kind: "fatal", message: error instanceof Error ? error.message : String(error) });
}
