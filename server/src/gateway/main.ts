/** The gateway process: settings, database, the link to the signer, the gateway itself, and what the launcher says. */
// Before any package is loaded.
import "./first_thread.ts";
import type { Socket } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import { pino } from "pino";
import { createNodeCurves } from "../curves/node_curves.ts";
import { closeStore, openStore } from "../store/store.ts";
import { createGateway } from "./create_gateway.ts";
import { longWriter } from "./first_thread.ts";
import { joinSigner } from "./join_signer.ts";
import { openLauncherChannel } from "./launcher_channel.ts";
import { createCourierLink } from "./link/courier_link.ts";
import { createSignerLink } from "./link/signer_link.ts";
import { explainListenError } from "./listen_error.ts";
import { joinLog } from "./log/join_log.ts";
import { findOrder } from "./operator/orders.ts";
import { recordBoot } from "./record_boot.ts";
import { readSettings } from "./settings.ts";
import { createSignerJoiner, SignerLate } from "./signer_joiner.ts";
import { createSignerStatus } from "./signer_status.ts";

const log = pino({ base: { process: "gateway" } }, pino.destination({ fd: 2, sync: true }));
const launcher = openLauncherChannel();
const { host, port, source, mode, ...chosen } = await Promise.try(readSettings, process.env).catch(launcher.fail);

const signer = createSignerStatus();
const link = createSignerLink({
  onDown: () => signer.setTrouble("the signer stopped; try again"),
  onSilent() {
    signer.setTrouble("the signer does not answer; it is being replaced");
    void launcher.tell({ kind: "silent" });
  },
});

const store = await openStore(source).catch(launcher.fail);
if (store.dialect === "sqlite") longWriter?.open(store.sqlite);
void longWriter?.ended.then(noteEnd);
const curves = createNodeCurves(2_000);
const courier = createCourierLink();
const needCourier = () => void launcher.tell({ kind: "need", process: "courier" });
if (chosen.ignoresIpAllowlists) log.warn("KEYSTEAD_IP_ALLOWLISTS=ignore: requests are accepted from every address");
const gateway = createGateway({ store, curves, link, signer, courier, needCourier, ...chosen, longWriter, log });
const { organizations, committer, places, signLog: sign } = gateway;
const watched = places.watch(link);
const joining = { store, link: watched, committer, places, sign, note: (message: string) => log.error(message) };
const order = findOrder(mode, { ...joining, logPublicKey: () => signer.publicKeys().log ?? "" });

async function stop(): Promise<void> {
  joiner.stop();
  await gateway.close();
  link.close();
  courier.close();
  await longWriter?.close();
  await closeStore(store);
  process.exit(0);
}

async function join(socket: Socket): Promise<void> {
  const isAccepting = mode === "accept-database";
  link.attach(socket);
  organizations.forgetAll();
  const serves = order === undefined;
  const meanwhile = serves ? gateway.prepare : undefined;
  signer.setPublicKeys(await joinSigner(store, link, committer, isAccepting, meanwhile));
  if (isAccepting || !(await joinLog(joining, { serves }))) return;
  // An operator's order ends with its report: only a start that serves is recorded, before anything else of it is released.
  if (serves) signer.setBoot(await recordBoot(store, link, committer).catch(orLate));
  for (const refusal of await committer.releaseLeftovers()) log.error(refusal);
}

/** Undefined: it was closed. */
function noteEnd(error: Error | undefined): void {
  if (error === undefined) return;
  log.error(error, "the thread of long commits has ended: they are written like any other, and others wait for them");
}

/** A start that cannot be recorded yet can serve readers: nothing is signed before it is. */
function orLate(error: unknown): never {
  throw error instanceof Fault && error.code === "unavailable" ? new SignerLate(error) : error;
}

let listening: Promise<void> | undefined;

async function listenOnce(): Promise<void> {
  listening ??= gateway
    .listen({ host, port })
    .catch((error) => launcher.fail(explainListenError(error, host, port)))
    .then((actualPort) => launcher.tell({ kind: "listening", host, port: actualPort }));
  await listening;
}

let isReady = false;

async function serve(): Promise<void> {
  await listenOnce();
  if (!isReady) await launcher.tell({ kind: "ready" });
  isReady = true;
}

async function carryOut(work: NonNullable<typeof order>): Promise<void> {
  await launcher.tell({ kind: "report", ...(await work()) });
  await stop();
}

const joiner = createSignerJoiner({
  signer,
  log,
  join,
  onJoined: order === undefined ? serve : () => carryOut(order),
  onWaiting: order === undefined ? listenOnce : async () => undefined,
  isOrder: order !== undefined,
  fail: launcher.fail,
});
launcher.listen({ onSigner: joiner.use, onCourier: courier.attach, onStop: () => void stop() });
