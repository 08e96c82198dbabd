import dgram from "node:dgram";
import net from "node:net";

/**
 * Node has one permission for connecting and for listening. The courier only connects: whoever has its code run must not wait for
 * strangers. Every server of Node listens by one of these calls.
 */
export function refuseListeners(): void {
  refuse(net.Server.prototype, "listen");
  refuse(dgram.Socket.prototype, "bind");
  // Sending datagrams binds a socket, and nothing here needs them.
  refuse(dgram, "createSocket");
}

function refuse(target: object, name: string): void {
  const value = () => {
    throw Object.assign(new Error(`the courier does not allow ${name}`), { code: "ERR_ACCESS_DENIED" });
  };
  Object.defineProperty(target, name, { value, writable: false, configurable: false });
}
