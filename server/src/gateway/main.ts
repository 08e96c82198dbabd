/** The gateway process: HTTP and database. It joins the signer over a socket the launcher hands it, again after restarts. */
import { Socket } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import { pino } from "pino";
import { createNodeCurves } from "../curves/node_curves.ts";
import { forgetIdempotencyKeys } from "../store/across.ts";
import { closeStore, openStore, type StoreSource } from "../store/store.ts";
import { acceptDatabase } from "./accept_database.ts";
import { checkDatabase } from "./check_database.ts";
import { checkLog, type Report } from "./check_log.ts";
import { createCommitter } from "./committer.ts";
import { createHttp } from "./http.ts";
import { joinSigner } from "./join_signer.ts";
import { createMetrics } from "./metrics.ts";
import { createOrganizations } from "./organizations.ts";
import { createRepeats } from "./repeats.ts";
import { rotateKeys } from "./rotate_keys.ts";
import { createSignerLink } from "./signer_link.ts";

const log = pino({ base: { process: "gateway" } }, pino.destination({ fd: 2, sync: true }));

type ToLauncher =
  | { kind: "listening"; host: string; port: number }
  | { kind: "ready" }
  /** The signer runs and does not answer. */
  | { kind: "silent" }
  | { kind: "fatal"; message: string }
  | ({ kind: "report" } & Report);

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

/** What keeps the signer from being used; undefined while all is well. */
let trouble: string | undefined = "the signer has not joined yet";
let publicKeys: Record<string, string> = {};

const link = createSignerLink({
  onDown() {
    trouble = "the signer stopped; try again";
  },
  onSilent() {
    trouble = "the signer does not answer; it is being replaced";
    void tell({ kind: "silent" });
  },
});

// The socket may arrive before the database is open; it waits here.
let socket: Socket | undefined;
let onSocket: () => void = () => undefined;
process.on("message", (message: { kind?: unknown }, handle) => {
  if (message.kind === "signer" && handle instanceof Socket) {
    socket = handle;
    onSocket();
  } else if (message.kind === "stop") void stop();
});

const store = await openStore(source).catch(fail);
const committer = createCommitter(store, link);
const organizations = createOrganizations(store, link, sayRefused);

const refusedAtMs = new Map<string, number>();

/** An organization whose state the signer refuses is the operator's to look at; once a minute is often enough to say so. */
function sayRefused(organizationId: string, message: string): void {
  const now = performance.now();
  if (now - (refusedAtMs.get(organizationId) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
  if (refusedAtMs.size > 1_000) refusedAtMs.clear();
  refusedAtMs.set(organizationId, now);
  log.error(message);
}

const hourMs = 3_600_000;
setInterval(() => {
  forgetIdempotencyKeys(store, Date.now()).catch((error) => log.error({ err: error }, "old idempotency keys stay"));
}, hourMs).unref();

const app = createHttp({
  store,
  curves: createNodeCurves(2_000),
  organizations,
  committer,
  repeats: createRepeats(),
  signerTrouble: () => trouble,
  metrics: createMetrics(),
  async unready() {
    const why = trouble ?? committer.trouble();
    if (why !== undefined) return why;
    try {
      await store.db.selectFrom("deployment").select("id").execute();
    } catch {
      return "the database does not answer";
    }
    return signerObjection();
  },
  publicKeys: () => publicKeys,
  log: (message, error) => log.error({ err: error }, message),
});

/** Whether the signer would do anything now: releasing nothing takes all that a release takes, its clock included. */
async function signerObjection(): Promise<string | undefined> {
  try {
    await link.request("release", { rows: [], links: [] });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function stop(): Promise<void> {
  await app.close();
  await committer.settle().catch(() => undefined);
  link.close();
  await closeStore(store);
  process.exit(0);
}

/** Work an operator orders on the whole deployment; each ends with a report and the process. */
const works: Record<string, () => Promise<Report>> = {
  "accept-database": async () => ({ lines: await acceptDatabase(store, link, committer), ok: true }),
  "accept-clock": async () => ({ lines: ["the signer's clock is accepted as it is now"], ok: true }),
  "check-log": () => checkLog(store, link, publicKeys.log ?? ""),
  "check-database": () => checkDatabase(store, link, publicKeys.log ?? "", { rebuilds: false }),
  "repair-database": () => checkDatabase(store, link, publicKeys.log ?? "", { rebuilds: true }),
  "rotate-keys": async () => ({ lines: await rotateKeys(store, link), ok: true }),
};
const work = works[mode ?? ""];

async function join(current: Socket): Promise<void> {
  link.attach(current);
  organizations.forgetAll();
  publicKeys = await joinSigner(store, link, committer, mode === "accept-database");
  if (mode !== "accept-database") for (const refusal of await committer.releaseLeftovers()) log.error(refusal);
}

let listening: Promise<void> | undefined;
let ready = false;

/** An address that cannot be had is a setting for the operator to mend, and has nothing to do with the signer. */
function listen(): Promise<void> {
  if (work !== undefined) return Promise.resolve();
  listening ??= openDoor().catch((error) => fail(new Error(explainListenError(error, host, port), { cause: error })));
  return listening;
}

async function openDoor(): Promise<void> {
  await app.listen({ host, port });
  const address = app.server.address();
  await tell({ kind: "listening", host, port: typeof address === "object" && address !== null ? address.port : port });
}

function explainListenError(error: NodeJS.ErrnoException, wantedHost: string, wantedPort: number): string {
  const place = `port ${wantedPort} on ${wantedHost}`;
  if (error.code === "EADDRINUSE") return `${place} is in use: stop what uses it, or set PORT`;
  if (error.code === "EACCES") return `${place} may not be opened by this user: set PORT to one above 1023`;
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return `${wantedHost} is not an address of this machine: set KEYSTEAD_HOST`;
  }
  return `${place} cannot be opened: ${error.message}`;
}

/**
 * Joins the newest signer. One that dies meanwhile is replaced and comes here again; one that cannot work yet (its clock, a
 * database that is away) is asked again, and `/readyz` says why; one that refuses is a matter for the operator.
 */
async function joinNewest(): Promise<void> {
  const current = socket;
  if (current === undefined) return;
  try {
    await join(current);
    if (current !== socket) return;
    trouble = undefined;
    if (work !== undefined) {
      await tell({ kind: "report", ...(await work()) });
      await stop();
    }
    await listen();
    if (!ready) await tell({ kind: "ready" });
    ready = true;
  } catch (error) {
    if (current !== socket) return;
    const message = error instanceof Error ? error.message : String(error);
    const passing = !(error instanceof Fault) || error.code === "unavailable";
    if (!ready && (!passing || work !== undefined)) await fail(error);
    if (trouble !== message) log.error({ err: error }, "the signer cannot be used");
    trouble = message;
    await listen();
    if (!current.destroyed) setTimeout(() => current === socket && void retry(current), 500);
  }
}

/** The same signer once more: its socket stays, so only the words are said again. */
async function retry(current: Socket): Promise<void> {
  if (!current.destroyed) await joinNewest();
}

onSocket = () => void joinNewest();
onSocket();
