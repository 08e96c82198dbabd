/** The gateway process: HTTP and database. It joins the signer over a socket the launcher hands it, again after restarts. */
import { Socket } from "node:net";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { pino } from "pino";
import { createNodeCurves } from "../curves/node_curves.ts";
import { closeStore, openStore, type StoreSource } from "../store/store.ts";
import { acceptDatabase } from "./accept_database.ts";
import { createCommitter } from "./committer.ts";
import { createHttp } from "./http.ts";
import { joinSigner } from "./join_signer.ts";
import { createMetrics } from "./metrics.ts";
import { createOrganizations } from "./organizations.ts";
import { createSignerLink } from "./signer_link.ts";

const log = pino({ base: { process: "gateway" } }, pino.destination({ fd: 2, sync: true }));

type ToLauncher =
  | { kind: "listening"; host: string; port: number }
  | { kind: "ready" }
  | { kind: "fatal"; message: string }
  | { kind: "report"; lines: string[] };

function tell(message: ToLauncher): Promise<void> {
  return new Promise((resolve) => process.send?.(message, () => resolve()));
}

async function fail(error: unknown): Promise<never> {
  await tell({ kind: "fatal", message: error instanceof Error ? error.message : String(error) });
  process.exit(1);
}

// Without a launcher there is nobody to join this process to a signer.
process.on("disconnect", () => process.exit(0));

const { DATABASE_URL: url, KEYSTEAD_DATABASE_FOLDER: folder = "./data/database", KEYSTEAD_MODE: mode } = process.env;
const host = process.env.KEYSTEAD_HOST ?? "127.0.0.1";
const port = Number(process.env.PORT ?? 8080);
const source: StoreSource = url === undefined || url === "" ? { kind: "sqlite", folder } : { kind: "postgres", url };

let joined = false;
let publicKeys: Record<string, string> = {};
let boot = "";
let signerTrouble = "the signer has not joined yet";

const link = createSignerLink(() => {
  joined = false;
  signerTrouble = "the signer stopped";
});

// The socket may arrive before the database is open; it waits here.
const sockets: Socket[] = [];
let onSocket: (socket: Socket) => void = (socket) => sockets.push(socket);
process.on("message", (message: { kind?: unknown }, handle) => {
  if (message.kind === "signer" && handle instanceof Socket) onSocket(handle);
  else if (message.kind === "stop") void stop();
});

const store = await openStore(source).catch(fail);
const committer = createCommitter(store, link);
const organizations = createOrganizations(store, link);

const app = createHttp({
  store,
  curves: createNodeCurves(2_000),
  organizations,
  committer,
  boot: () => boot,
  metrics: createMetrics(),
  async unready() {
    if (!joined) return signerTrouble;
    try {
      await store.db.selectFrom("deployment").select("id").execute();
    } catch {
      return "the database does not answer";
    }
    return undefined;
  },
  publicKeys: () => publicKeys,
  log: (message, error) => log.error({ err: error }, message),
});

async function stop(): Promise<void> {
  await app.close();
  await committer.settle().catch(() => undefined);
  link.close();
  await closeStore(store);
  process.exit(0);
}

async function join(socket: Socket): Promise<void> {
  link.attach(socket);
  organizations.forgetAll();
  const signer = await joinSigner(store, link, committer, mode === "accept-database");
  boot = toHex(signer.boot);
  publicKeys = signer.publicKeys;
  if (mode !== "accept-database") for (const refusal of await committer.releaseLeftovers()) log.error(refusal);
  joined = true;
}

async function serve(): Promise<void> {
  await app.listen({ host, port });
  const address = app.server.address();
  await tell({ kind: "listening", host, port: typeof address === "object" && address !== null ? address.port : port });
  await tell({ kind: "ready" });
}

let serving = false;
onSocket = (socket) => {
  join(socket)
    .then(async () => {
      if (mode === "accept-database") {
        await tell({ kind: "report", lines: await acceptDatabase(store, link, committer, boot) });
        await stop();
      } else if (!serving) {
        serving = true;
        await serve();
      }
    })
    .catch((error) => {
      // A signer that dies while it joins is replaced; one that refuses is a matter for the operator.
      if (error instanceof Fault && error.code === "unavailable" && !(mode === "accept-database")) {
        signerTrouble = error.message;
        log.error(error.message);
        return;
      }
      if (!serving) return fail(error);
      signerTrouble = error instanceof Error ? error.message : String(error);
      log.error({ err: error }, "the signer could not be joined");
      return undefined;
    });
};
for (const socket of sockets.splice(0)) onSocket(socket);
