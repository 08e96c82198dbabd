/**
 * The gateway without a process around it: what commits, what answers, what runs in the background. A new route module is one file in
 * `routes/` and one line in the list of routes below; a new background job is one file in `jobs/` and one line in the list of jobs.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import type { Logger } from "pino";
import { hasIdentityAt } from "../store/across.ts";
import type { LongWriter } from "../store/long_writer.ts";
import { addCosignatures } from "../store/public_log.ts";
import type { Store } from "../store/store.ts";
import { createAdmission } from "./bounds/admission.ts";
import { admissionLimits } from "./bounds/memory_bounds.ts";
import { createPresence, type Presence } from "./bounds/presence.ts";
import { createQueryQueue } from "./bounds/query_queue.ts";
import { createReachedLimits } from "./bounds/reached_limits.ts";
import { createRepeats } from "./bounds/repeats.ts";
import type { FaultLog } from "./http/answers.ts";
import type { TrustedProxies } from "./http/caller_address.ts";
import { createHttp, type Http } from "./http/http.ts";
import { createMetrics } from "./http/metrics.ts";
import type { Route } from "./http/route.ts";
import { createIssuerStatements } from "./issuers/issuer_statements.ts";
import { withOwnIssuer } from "./issuers/own_statements.ts";
import { createDelivery, type FailedMessage } from "./jobs/deliver_messages.ts";
import { expiryJobs } from "./jobs/expiry_jobs.ts";
import { type Job, type JobLog, type JobRunner, startJobs } from "./jobs/job_runner.ts";
import { openBodies } from "./jobs/open_bodies.ts";
import { createCaptchaChecks } from "./link/captcha_checks.ts";
import type { CourierLink } from "./link/courier_link.ts";
import { createCourierOrders } from "./link/courier_orders.ts";
import type { SignerLink } from "./link/signer_link.ts";
import { createCheckpoints } from "./log/checkpoints.ts";
import { proveConsistency } from "./log/consistency.ts";
import { createStatementExchange } from "./log/statement_exchange.ts";
import { limitLog, oncePer, reasonOf } from "./log_limiter.ts";
import { LogPlaces } from "./places/log_places.ts";
import {
  createHourlyBudget,
  defaultBudgets,
  newIssuersPerSite,
  type ProxyBudgets,
  siteKey,
} from "./proxy/address_budgets.ts";
import { createProxyTurns } from "./proxy/proxy_turns.ts";
import { createPublishedLogs } from "./published_logs.ts";
import { createReadiness } from "./readiness.ts";
import { apiRoutes } from "./routes/api.ts";
import { authProxyRoutes } from "./routes/auth_proxy.ts";
import { operatorRoutes } from "./routes/operator.ts";
import { ownIssuerRoutes } from "./routes/own_issuer.ts";
import { publicLogRoutes } from "./routes/public_log.ts";
import type { SignerStatus } from "./signer_status.ts";
import { type Committer, createCommitter } from "./submit/committer.ts";
import { createOrganizations, type Organizations } from "./submit/organization_states.ts";
import { withRefusalBudget } from "./submit/refusal_budget.ts";
import { createCheckpointOutlets } from "./witness/checkpoint_outlets.ts";
import type { WitnessSetting } from "./witness/witness_settings.ts";

export type GatewayDependencies = {
  store: Store;
  curves: Curves;
  link: SignerLink;
  signer: SignerStatus;
  courier: CourierLink;
  /** Has the launcher start a courier, if none runs. */
  needCourier(): void;
  /** For how many days rows are kept that tell of contacts. */
  contactDays: number;
  /** What one user's refusals may take in the database. */
  refusedBytesPerUserPerDay: number;
  /** IP allowlists are not asked: for an operator who has shut everybody out. */
  ignoresIpAllowlists?: boolean;
  /** What our own identity tokens have in `iss`; undefined where there are none. */
  publicUrl?: string | undefined;
  /** Whose `X-Forwarded-For` counts. */
  trustedProxies?: TrustedProxies;
  /** Of the auth proxy. */
  proxyBudgets?: ProxyBudgets;
  channels?: readonly string[];
  captchaSiteKey?: string | undefined;
  /** Issuers whose word about an e-mail address counts as that of its owner. */
  linkingIssuers?: ReadonlySet<string>;
  /** The port of the auth proxy, where it does not share the API's. */
  proxyPort?: number | undefined;
  /** Nobody is served the public log. */
  hasPrivateLog?: boolean;
  /** Writes long commits beside this thread, once it is open. */
  longWriter?: LongWriter | undefined;
  /** They cosign the checkpoints of the log. */
  witnesses?: readonly WitnessSetting[];
  /** The file that every checkpoint of the log is appended to. */
  checkpointFile?: string | undefined;
  log: Logger;
};

export type Gateway = {
  organizations: Organizations;
  committer: Committer;
  /** Where leaves stand in the signer's log, on their way into the database. */
  places: LogPlaces;
  /** Has the log signed as far as it is stored. */
  signLog(): Promise<void>;
  /** Makes routes and handlers ready, so that `listen` takes a moment only. */
  prepare(): void;
  /** Serves HTTP and starts the background jobs; the port it got. */
  listen(address: { host: string; port: number }): Promise<number>;
  /** Answers what is under way, ends the jobs, writes down what was released and has it signed. Store and link stay open. */
  close(): Promise<void>;
};

export function createGateway(dependencies: GatewayDependencies): Gateway {
  const { store, curves, signer, courier, needCourier, contactDays, log } = dependencies;
  const {
    ignoresIpAllowlists = false,
    trustedProxies = [],
    publicUrl,
    proxyPort,
    hasPrivateLog = false,
  } = dependencies;
  const { witnesses = [], checkpointFile } = dependencies;
  const places = new LogPlaces(dependencies.link, logLostPlaces(log));
  const link = places.watch(dependencies.link);
  const presence = createPresence();
  const committer = createBudgetedCommitter({ ...dependencies, link }, { places, presence });
  const admission = createAdmission(admissionLimits, committer);
  const { linkingIssuers = new Set() } = dependencies;
  const issuers = createIssuerStatements({
    courier,
    needCourier,
    isRegisteredIssuer: (issuer) => linkingIssuers.has(issuer) || hasIdentityAt(store, issuer),
    budget: createHourlyBudget(newIssuersPerSite, Date.now, siteKey),
  });
  const orders = createCourierOrders({ courier, needCourier });
  const queryQueue = createQueryQueue({ presence });
  const onRefused = logRefusedStates(log);
  const organizations = createOrganizations(
    store,
    link,
    onRefused,
    admission,
    issuers,
    orders,
    queryQueue.readForSubmit,
  );
  const turns = createProxyTurns({ presence });
  const metrics = createMetrics();
  const heldBytes = () => ({
    ...http.heldBytes(),
    ...queryQueue.waitingBytes(),
    proxy: turns.waitingBytes(),
    waiting: admission.waitingBytes(),
    underWay: admission.underWayBytes(),
    signerQueue: link.queuedBytes(),
    commits: committer.held().short + committer.held().long,
  });
  const notarizerKey = createServiceKey(curves, signer, "notarizer");
  const otpKey = createServiceKey(curves, signer, "otp");
  const submits = {
    store,
    curves,
    notarizerKey,
    otpKey,
    issuers: withOwnIssuer(issuers, { curves, publicUrl, publicKeys: signer.publicKeys }),
    organizations,
    committer,
    repeats: createRepeats(),
    reachedLimits: createReachedLimits(),
    signerTrouble: signer.trouble,
  };
  /** Without a public address: as an address on this machine. */
  let listensAt = "";
  const logs = createPublishedLogs({
    store,
    baseUrl: () => publicUrl ?? listensAt,
    isPrivate: hasPrivateLog,
    logKey: () => signer.publicKeys().log,
  });
  const unready = createReadiness({ store, link, signer, committer, log });
  const { proxyBudgets: budgets = defaultBudgets, channels = [], captchaSiteKey } = dependencies;
  const { check } = createCaptchaChecks({ courier, needCourier });
  const captcha = captchaSiteKey === undefined ? undefined : { siteKey: captchaSiteKey, check };
  const proxyRoutes = authProxyRoutes({ ...submits, turns, budgets, channels, captcha, linkingIssuers });
  const statements = createStatementExchange({ store, link, places, signerTrouble: signer.trouble });
  const routes: Route[] = [
    ...apiRoutes({
      ...submits,
      queryQueue,
      ignoresIpAllowlists,
      logStatement: statements.logStatement,
    }),
    ...operatorRoutes({ metrics, heldBytes, unready, publicKeys: signer.publicKeys, boot: signer.boot, logs }),
    ...(hasPrivateLog ? [] : publicLogRoutes({ store })),
    ...ownIssuerRoutes({ curves, publicUrl, publicKeys: signer.publicKeys }),
    ...(proxyPort === undefined ? proxyRoutes : []),
  ];
  const outlets = createCheckpointOutlets({
    ...{ witnesses, curves, log, checkpointFile },
    consistency: (oldSize, newSize) => proveConsistency(store, places.logId ?? "", oldSize, newSize),
    onCosigned: (size, line) => addCosignatures(store, places.logId ?? "", size, line),
  });
  const checkpoints = createCheckpoints({
    ...{ store, curves, link, committer, places },
    logKey: () => signer.publicKeys().log,
    signerTrouble: signer.trouble,
    onSigned: ({ note }) => outlets.push(note),
  });
  const delivery = createDelivery({ store, courier, needCourier, onFailed: logFailedMessages(log) });
  const jobs: Job[] = [
    ...expiryJobs(store, contactDays),
    ...[openBodies(store, link), delivery.job, checkpoints.job],
    // On SQLite there is no other host.
    ...(store.dialect === "sqlite" ? [] : [statements.job]),
  ];
  const http: Http = createHttp({ routes, metrics, faultLog: toFaultLog(log), trustedProxies });
  const proxyHttp =
    proxyPort === undefined
      ? undefined
      : createHttp({ routes: proxyRoutes, metrics, faultLog: toFaultLog(log), trustedProxies });
  let runner: JobRunner | undefined;
  return {
    organizations,
    committer,
    places,
    signLog: checkpoints.sign,
    prepare() {
      // What keeps one from being ready, `listen` says.
      for (const { app } of [http, ...(proxyHttp === undefined ? [] : [proxyHttp])]) app.ready(() => undefined);
    },
    async listen({ host, port }) {
      await http.app.listen({ host, port });
      await proxyHttp?.app.listen({ host, port: proxyPort ?? 0 });
      runner ??= startJobs(jobs, toJobLog(log));
      const address = http.app.server.address();
      const actualPort = typeof address === "object" && address !== null ? address.port : port;
      listensAt = `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`;
      return actualPort;
    },
    async close() {
      const jobsEnded = runner?.stop();
      await Promise.all([http.app.close(), proxyHttp?.app.close()]);
      // Before the jobs: one that hangs must not keep opened results from being written.
      await committer.settle().catch(() => undefined);
      // Whoever reads the database, or asks another host, sees all that was released here. An operator's order has served nobody.
      if (runner !== undefined) await checkpoints.signLast();
      await outlets.close();
      await jobsEnded;
      // What the courier has sent is noted, or the next start would send it again.
      await Promise.race([delivery.settle(), pause(deliveriesEndMs, undefined, { ref: false })]);
    },
  };
}

/** A service key as it is verified with. It is published with its point uncompressed, and never changes. */
function createServiceKey(
  curves: Curves,
  { publicKeys }: SignerStatus,
  name: "notarizer" | "otp",
): () => Uint8Array | undefined {
  let key: Uint8Array | undefined;
  return () => {
    const published = publicKeys()[name];
    if (published !== undefined) key ??= curves.compressPoint("p256", fromHex(published));
    return key;
  };
}

/** For how long a stop waits for messages that are being sent. */
const deliveriesEndMs = 2_000;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Nothing can bring them back but a backup, or a repair from the leaves. */
function logLostPlaces(log: Logger): (logId: string, from: number, to: number) => void {
  return (logId, from, to) =>
    log.error(
      `log ${logId}: positions ${from} to ${to - 1} are not stored, and the signer has forgotten them; ` +
        "stop the server and run `npx keystead check-database`",
    );
}

function createBudgetedCommitter(
  { store, link, longWriter, refusedBytesPerUserPerDay, log }: GatewayDependencies,
  kept: { places: LogPlaces; presence: Presence },
): Committer {
  // A user's record ends here, and its later readers should know.
  const notStored = limitLog(hourMs, (message) => log.warn(`${message}; refusals of this user are not stored today`));
  const onExceeded = (organizationId: string, userId: string) =>
    notStored(`organization ${organizationId}: user ${userId} has used up refusedBytesPerUserPerDay`, "not stored");
  const committer = createCommitter(store, link, { ...kept, longWriter });
  return withRefusalBudget(committer, store, refusedBytesPerUserPerDay, onExceeded);
}

/** The operator must look at an organization whose state the signer refuses; one line a minute is enough. */
function logRefusedStates(log: Logger): (organizationId: string, message: string) => void {
  const mayLog = oncePer(minuteMs);
  return (organizationId, message) => {
    if (mayLog(organizationId)) log.error(message);
  };
}

/** Which activity's message it was, and why: the contact is not known here. */
function logFailedMessages(log: Logger): (message: FailedMessage) => void {
  return (message) => log.error(message, "a message was not delivered");
}

function toFaultLog(log: Logger): FaultLog {
  return {
    internal: (message, error) => log.error({ err: error }, message),
    outage: limitLog(10_000, (message, cause) => log.error({ reason: reasonOf(cause) }, message)),
  };
}

function toJobLog(log: Logger): JobLog {
  return {
    failed: (job, error) => log.error({ err: error }, `background job failed and is tried again: ${job}`),
    recovered: (job) => log.info(`background job works again: ${job}`),
  };
}
