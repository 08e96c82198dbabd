/** A server that the courier fetches from, for tests: it listens on an address of this machine and counts who comes. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import type { TestContext } from "node:test";

export type TestServer = { port: number; connections(): number };

export async function startHttp(
  t: TestContext,
  listener: RequestListener,
  {
    host = "127.0.0.1",
    certificate,
    port = 0,
  }: { host?: string; certificate?: { key: string; cert: string }; port?: number } = {},
): Promise<TestServer> {
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
  let count = 0;
  server.on("connection", () => {
    count += 1;
  });
  server.on("tlsClientError", () => undefined);
  return { port: await listen(t, server, host, port), connections: () => count };
}

/** Where nobody should come. */
export async function startTrap(t: TestContext, host = "127.0.0.1", port = 0): Promise<TestServer> {
  let count = 0;
  const server = createTcpServer((socket) => {
    count += 1;
    socket.destroy();
  });
  server.listen(port, host);
  await once(server, "listening");
  t.after(() => server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => count };
}

async function listen(t: TestContext, server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
