/** The gateway process: HTTP and database. It joins the signer over a socket the launcher hands it, again after restarts. */
import { Socket } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import { pino } from "pino";
import { createNodeCurves } from "../curves/node_curves.ts";
import { withLimits } from "../endpoints/limits.ts";
import { forgetIdempotencyKeys, forgetRefusedBytes } from "../store/across.ts";
import { unlessAway } from "../store/database_away.ts";
import { findVersion } from "../store/organizations.ts";
import { closeStore, openStore, type StoreSource } from "../store/store.ts";
import { createAdmission } from "./bounds/admission.ts";
import { admissionLimits, memoryBounds } from "./bounds/memory_bounds.ts";
import { createRepeats } from "./bounds/repeats.ts";
import { createHttp } from "./http/http.ts";
import { createMetrics } from "./http/metrics.ts";
import { joinSigner } from "./join_signer.ts";
import { createSignerLink } from "./link/signer_link.ts";
import { acceptDatabase } from "./operator/accept_database.ts";
import { checkDatabase } from "./operator/check_database.ts";
import { checkLog, type Report } from "./operator/check_log.ts";
import { rotateKeys } from "./operator/rotate_keys.ts";
import { reasonOf, seldom } from "./seldom.ts";
import { sharedCheck } from "./shared_check.ts";
import { createCommitter } from "./submit/committer.ts";
import { createOrganizations } from "./submit/organizations.ts";
import { withRefusalBudget } from "./submit/refusal_budget.ts";

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
// The launcher has read them and found them right.
const { refusedBytesPerUserPerDay } = withLimits(JSON.parse(process.env.KEYSTEAD_LIMITS || "{}"));
const committer = withRefusalBudget(createCommitter(store, link), store, refusedBytesPerUserPerDay, sayNotStored);
const admission = createAdmission(admissionLimits, () => committer.heldBytes() < memoryBounds.commits);
const organizations = createOrganizations(store, link, sayRefused, admission);

const refusedAtMs = new Map<string, number>();

/** An organization whose state the signer refuses is the operator's to look at; once a minute is often enough to say so. */
function sayRefused(organizationId: string, message: string): void {
  const now = performance.now();
  if (now - (refusedAtMs.get(organizationId) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
  if (refusedAtMs.size > 1_000) refusedAtMs.clear();
  refusedAtMs.set(organizationId, now);
  log.error(message);
}

/** Their record ends here, and who reads it later should know. */
function sayNotStored(organizationId: string, userId: string): void {
  notStored(`organization ${organizationId}: user ${userId} has used up refusedBytesPerUserPerDay`, "not stored");
}

const hourMs = 3_600_000;
const notStored = seldom(hourMs, (message) => log.warn(`${message}; refusals of this user are not stored today`));
setInterval(() => {
  forgetIdempotencyKeys(store, Date.now()).catch((error) => log.error({ err: error }, "old idempotency keys stay"));
  forgetRefusedBytes(store, Date.now()).catch((error) => log.error({ err: error }, "old counts of refusals stay"));
}, hourMs).unref();

const app = createHttp({
  store,
  curves: createNodeCurves(2_000),
  organizations,
  committer,
  repeats: createRepeats(),
  signerTrouble: () => trouble,
  metrics: createMetrics(),
  heldBytes: () => ({
    waiting: admission.waitingBytes(),
    underWay: admission.underWayBytes(),
    signerQueue: link.queuedBytes(),
    commits: committer.heldBytes(),
  }),
  unready: async () => trouble ?? committer.trouble() ?? looked(),
  publicKeys: () => publicKeys,
  log: (message, error) => log.error({ err: error }, message),
  trouble: seldom(10_000, (message, cause) => log.error({ reason: reasonOf(cause) }, message)),
});

/** Nobody is asked who asks this, so however often they do, the database and the signer are asked once a second. */
const looked = sharedCheck(1_000, async () => {
  try {
    // On the connections that activities use: whether there is such an organization does not matter.
    await findVersion(store, "");
  } catch {
    return "the database does not answer";
  }
  return signerObjection();
});

/** Whether the signer would do anything now: releasing nothing takes all that a release takes, its clock included. */
async function signerObjection(): Promise<string | undefined> {
  try {
    await link.request("release", { rows: [], links: [] });
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) log.error({ err: error }, "the signer was asked in vain");
    return wordsFor(error);
  }
}

/** What is not a refusal of ours may name a host, a user or a path, and anybody may ask. The log says it. */
function wordsFor(error: unknown): string {
  const known = unlessAway(error);
  return known instanceof Fault ? known.message : "the signer cannot be used; the server's log says why";
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
/** Of what keeps the signer from being used, for the operator: the same each half a second would hide everything else. */
let logged: string | undefined;

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
    const words = wordsFor(error);
    const passing = !(error instanceof Fault) || error.code === "unavailable";
    if (!ready && (!passing || work !== undefined)) await fail(error);
    if (trouble !== words || logged !== message) log.error({ err: error }, "the signer cannot be used");
    logged = message;
    trouble = words;
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
