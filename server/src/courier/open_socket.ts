import { once } from "node:events";
import { connect, type Socket } from "node:net";

const connectMs = 10_000;
/** Of each address but the last. Node's quarter of a second is too short for a server on another continent. */
const addressMs = 1_000;

/**
 * A connection that ends with the signal, at once: what has not left this machine by then never does, and neither does anything after.
 * Closing in order would still send it.
 */
export async function openSocket(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const socket = connect({ host, port, autoSelectFamilyAttemptTimeout: addressMs });
  // Whoever uses it has listeners of its own, and not from the first moment on.
  socket.on("error", () => undefined);
  const end = () => (socket.connecting ? socket.destroy() : socket.resetAndDestroy());
  signal.addEventListener("abort", end, { once: true });
  socket.once("close", () => signal.removeEventListener("abort", end));
  const slow = setTimeout(() => socket.destroy(tooSlow()), connectMs);
  try {
    await once(socket, "connect", { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(slow);
  }
}

function tooSlow(): Error {
  return Object.assign(new Error("no connection in time"), { code: "ETIMEDOUT" });
}
