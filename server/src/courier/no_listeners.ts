import dgram from "node:dgram";
import net, { Socket } from "node:net";
import { constants } from "node:os";

/**
 * Node has one permission for connecting and for listening. The courier only connects: whoever has its code run must not wait for
 * strangers.
 *
 * Every server and every socket of Node is made of one of the classes TCP, Pipe and UDP, and every socket in use leads to its class. So
 * the classes themselves lose the calls that bind, listen or receive datagrams. The public calls are refused too, because their error
 * says more. As with `lockDown`, this binds JavaScript: code that escapes V8 makes system calls of its own.
 */
export function refuseListeners(): void {
  const { tcp, pipe, udp } = findHandleClasses();
  // Only `localAddress` and `localPort` of a client bind a socket, and nothing here has them.
  for (const name of ["bind", "bind6", "listen"]) replace(tcp, name, notAllowed);
  for (const name of ["bind", "listen"]) replace(pipe, name, notAllowed);
  // Sending a datagram binds too, and nothing here needs datagrams: Node asks name servers without this class.
  for (const name of udpCalls) replace(udp, name, notAllowed);
  refuse(net.Server.prototype, "listen");
  refuse(net, "_createServerHandle");
  refuse(dgram.Socket.prototype, "bind");
  refuse(dgram, "createSocket");
}

const udpCalls = ["bind", "bind6", "connect", "connect6", "open", "recvStart", "send", "send6"];

/** These calls answer with the number of an error, and Node makes an error of it where its caller looks for one. */
const notAllowed = () => -constants.errno.EACCES;

function refuse(target: object, name: string): void {
  replace(target, name, () => {
    throw Object.assign(new Error(`the courier does not allow ${name}`), { code: "ERR_ACCESS_DENIED" });
  });
}

/** Throws where the call is missing: a Node that is made otherwise needs other walls, and without them there is no courier. */
function replace(target: object, name: string, value: () => unknown): void {
  if (typeof Reflect.get(target, name) !== "function") throw new Error(`this Node has no ${name} to close`);
  Object.defineProperty(target, name, { value, writable: false, configurable: false });
}

/** Node shows these classes nowhere but in the sockets that it makes. */
function findHandleClasses(): { tcp: object; pipe: object; udp: object } {
  // Refused for their arguments, which are looked at when the socket has its handle: nothing is connected for this.
  const tcp = classOf(Reflect.get(refusedConnection({ port: -1 }), "_handle"));
  const pipe = classOf(Reflect.get(refusedConnection({ path: 1 }), "_handle"));
  const datagrams = Reflect.construct(dgram.Socket, [{ type: "udp4" }]) as dgram.Socket;
  const state = Object.getOwnPropertySymbols(datagrams)
    .map((symbol): unknown => Reflect.get(datagrams, symbol))
    .find((value) => typeof value === "object" && value !== null && "handle" in value);
  const udp = classOf(Reflect.get(Object(state), "handle"));
  datagrams.close();
  return { tcp, pipe, udp };
}

function refusedConnection(options: object): Socket {
  const socket = new Socket();
  try {
    Reflect.apply(socket.connect, socket, [options]);
  } catch {
    // As meant.
  }
  return socket;
}

function classOf(handle: unknown): object {
  const prototype: unknown = handle === undefined || handle === null ? undefined : Object.getPrototypeOf(handle);
  if (typeof prototype !== "object" || prototype === null)
    throw new Error("this Node's sockets have no handle to close");
  return prototype;
}
