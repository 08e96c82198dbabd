/** One deployment as it runs in the field: one whole server on SQLite, several on one PostgreSQL, each with a signer and a memory of its own. */
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { freshDataFolder } from "@keystead/e2e/data_folder.ts";
import { testSource } from "@keystead/e2e/databases.ts";
import { type Bootstrap, type KeysteadServer, startKeystead } from "@keystead/e2e/keystead_server.ts";
import type { Store, StoreSource } from "@keystead/server/store/store.ts";
import { freePort } from "../crash/free_port.ts";

export type Deployment = {
  servers: readonly KeysteadServer[];
  urls: readonly string[];
  bootstrap: Bootstrap;
  /** Where the database is, for whoever opens it once all servers have stopped. */
  source: StoreSource;
  rootKey: Uint8Array;
  /** Stops all servers in good order. */
  stop(): Promise<void>;
};

export type DeploymentOptions = { serversOnPostgres: number; env?: Record<string, string> };

/** Undefined, with the test skipped, when there is no PostgreSQL. */
export async function startDeployment(
  t: TestContext,
  dialect: Store["dialect"],
  { serversOnPostgres, env = {} }: DeploymentOptions,
): Promise<Deployment | undefined> {
  const source = await testSource(t, dialect);
  if (source === undefined) return undefined;
  const servers: KeysteadServer[] = [];
  const stop = async () => {
    for (const server of servers) await server.stop();
  };
  const start = async (dataFolder: string) => {
    const place = { dataFolder, ...(source.kind === "postgres" && { databaseUrl: source.url }) };
    servers.push(await startKeystead({ ...place, port: await freePort(), env }));
  };
  const first = freshDataFolder(t);
  t.after(stop);
  await start(first);
  for (let number = 1; source.kind === "postgres" && number < serversOnPostgres; number++) {
    // A further host of a deployment gets the root key and the first organization's file.
    const folder = freshDataFolder(t);
    mkdirSync(folder, { recursive: true });
    for (const name of ["root.key", "bootstrap.json"]) copyFileSync(join(first, name), join(folder, name));
    await start(folder);
  }
  const [{ bootstrap }] = servers as [KeysteadServer];
  return {
    servers,
    urls: servers.map(({ url }) => url),
    bootstrap,
    source: source.kind === "sqlite" ? { kind: "sqlite", folder: join(first, "database") } : source,
    rootKey: new Uint8Array(readFileSync(join(first, "root.key"))),
    stop,
  };
}
