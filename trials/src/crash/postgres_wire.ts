/**
 * The wire between a gateway and PostgreSQL. When a server ends a session, it takes back what the session was doing; when a wire
 * breaks, the server does not know and goes on. Both happen, so both can be brought about here.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { administer } from "@keystead/e2e/databases.ts";

export type Wire = {
  /** For the gateway. */
  url: string;
  /** Breaks every connection, without a word to either side. */
  cut(): void;
  /** From now until it is cut, the gateway hears nothing more. */
  mute(): void;
};

export async function openWire(t: TestContext, databaseUrl: string): Promise<Wire> {
  const pairs = new Set<[gateway: Socket, database: Socket]>();
  const target = addressOf(databaseUrl);
  const server = createServer((gateway) => {
    const database = connect(target);
    const pair: [Socket, Socket] = [gateway, database];
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.setNoDelay(true).on("error", end).on("close", end);
    gateway.pipe(database);
    database.pipe(gateway);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return {
    url: throughPort(databaseUrl, (server.address() as AddressInfo).port),
    cut,
    mute() {
      for (const [gateway, database] of pairs) database.unpipe(gateway).resume();
    },
  };
}

/** The authority may be empty and the host a folder with a socket, which `URL` does not read. */
const urlPattern =
  /^(?<scheme>\w+:\/\/)(?<user>[^@/]*@)?(?<host>[^:/?]*)(?::(?<port>\d+))?(?<rest>\/[^?]*)?(?:\?(?<query>.*))?$/;

function partsOf(databaseUrl: string) {
  const parts = urlPattern.exec(databaseUrl)?.groups;
  if (parts === undefined) throw new Error("the address of the database is not understood");
  const query = new URLSearchParams(parts.query);
  return { parts, query, host: query.get("host") ?? parts.host ?? "", port: Number(parts.port ?? 5432) };
}

function addressOf(databaseUrl: string): { path: string } | { host: string; port: number } {
  const { host, port } = partsOf(databaseUrl);
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}

function throughPort(databaseUrl: string, port: number): string {
  const { parts, query } = partsOf(databaseUrl);
  query.delete("host");
  const rest = query.size === 0 ? "" : `?${query}`;
  return `${parts.scheme}${parts.user ?? ""}127.0.0.1:${port}${parts.rest ?? ""}${rest}`;
}

/** The server ends every session of a gateway, in the middle of whatever it does. */
export function endSessions(databaseUrl: string): Promise<void> {
  return administer(
    databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'keystead'`,
  );
}
