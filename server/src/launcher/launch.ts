import { setTimeout as sleep } from "node:timers/promises";
import { backoff } from "./backoff.ts";
import { guardChannel } from "./channel_fault.ts";
import { type Child, endWithin } from "./child.ts";
import type { Code } from "./code.ts";
import { type DataFolder, reasonOf } from "./data_folder.ts";
import { syncFolder } from "./durable_file.ts";
import { askToStop, join, startGateway } from "./gateway_process.ts";
import type { GatewayMessage, SignerMessage } from "./messages.ts";
import { forgetProcesses, noteProcesses } from "./previous_processes.ts";
import type { PublicKeys } from "./public_keys.ts";
import type { RootKeyProvider } from "./root_key_provider.ts";
import { type Orders, type SignerProcess, startSigner } from "./signer_process.ts";
import type { Users } from "./users.ts";

export type Launch = {
  code: Code;
  data: DataFolder;
  users: Users;
  rootKey: RootKeyProvider;
  orders: Orders;
  gatewayEnv: Record<string, string>;
  /** A gateway that does one piece of work, reports and ends; nothing is started again. */
  endsByItself: boolean;
  /** The longest pause before a process that keeps ending is started again. */
  restartPauseMs: number;
  say(line: string): void;
  /** The work is done, and its report says that all is well. */
  onDone(): void;
  onListening(port: number): void;
  onReady(): void;
  /** Each time that a signer has joined its deployment. */
  onKeys(publicKeys: PublicKeys): void;
};

/** The exit code of a check that ran and found something: not one of those of a start that was refused. */
const foundSomething = 3;

/** `stop` asks for an orderly end; asked again, it no longer waits. `ended` gives the launcher's exit code. */
export type Launched = { stop(): void; ended: Promise<number> };

const gatewayStopMs = 5000;
const signerStopMs = 1000;
const attemptsBeforeReady = 5;
const keysMs = 1000;

/** Starts gateway and signer, joins them, and keeps both running until asked to stop. */
export function launch(options: Launch): Launched {
  const { code, data, users, rootKey, orders, say } = options;
  const verdict = Promise.withResolvers<number>();
  const waiting = new AbortController();
  const introduced = Promise.withResolvers<void>();
  let decided = false;
  let ready = false;
  /** The exit code that the work's report asks for; undefined until there is one. */
  let reported: number | undefined;
  /** The signer tells the operator itself what the report of the work then repeats. */
  const saidBySigner = new Set<string>();
  let failedStarts = 0;
  let gateway: Child | undefined;
  let signer: SignerProcess | undefined;
  const pauseForGateway = backoff(options.restartPauseMs);
  const pauseForSigner = backoff(options.restartPauseMs);

  // While it serves, a line must not pass for the launcher's; the work that an operator ordered may speak for itself.
  const gatewayPrefix = options.endsByItself ? "" : "gateway: ";

  const decide = (exitCode: number) => {
    decided = true;
    waiting.abort();
    verdict.resolve(exitCode);
  };
  const pause = (timeMs: number) => sleep(timeMs, undefined, { signal: waiting.signal }).catch(() => {});
  /** A full disk must not end what runs: without the note, the next start merely cannot wait for these processes by number. */
  const note = () => {
    try {
      noteProcesses(data, [gateway?.process.pid, signer?.process.pid]);
    } catch (error) {
      say(`the numbers of the processes are not noted: ${reasonOf(error)}`);
    }
  };

  /** Whoever says so has given up: before the first readiness the start has failed, later a new process may do better. */
  const fatal = (who: string, message: string, child?: Child) => {
    say(`${who}: ${message}`);
    if (!ready) decide(1);
    else child?.process.kill("SIGKILL");
  };
  /** Its memory is there, perhaps for the first time or as another file. Node lets the signer sync what is in the file, and not its name. */
  const keepMemory = () => {
    try {
      syncFolder(data.signer);
    } catch (error) {
      say(`${data.signer} cannot be synced: ${reasonOf(error)}`);
    }
  };
  const hearSigner = (message: SignerMessage) => {
    if (message.kind === "ready" || message.kind === "renamed") keepMemory();
    if (message.kind === "note") {
      if (options.endsByItself) saidBySigner.add(message.message);
      say(`signer: ${message.message}`);
    }
    if (message.kind === "keys") {
      options.onKeys(message.publicKeys);
      introduced.resolve();
    }
    if (message.kind === "fatal") fatal("signer", message.message, signer);
  };
  const hearGateway = (message: GatewayMessage) => {
    if (message.kind === "listening") options.onListening(message.port);
    if (message.kind === "fatal") fatal("gateway", message.message, gateway);
    if (message.kind === "silent") {
      say("signer: it does not answer and is replaced");
      signer?.process.kill("SIGKILL");
    }
    if (message.kind === "report") {
      reported = message.ok ? 0 : foundSomething;
      // Never the other way round: what the signer says is not for a gateway to silence.
      for (const line of message.lines) if (!saidBySigner.has(line)) say(`${gatewayPrefix}${line}`);
    }
    if (message.kind === "ready" && !ready) {
      ready = true;
      // The signer has said its keys by then, but on another channel: they may be heard a moment later.
      void Promise.race([introduced.promise, pause(keysMs)]).then(options.onReady);
    }
  };

  /** Before the first readiness a fault is most likely a setting, and trying for ever would hide it. */
  const failed = (who: string, reason: string) => {
    say(`${who} ended (${reason})${ready ? "; starting it again" : ""}`);
    if (options.endsByItself || (!ready && ++failedStarts >= attemptsBeforeReady)) decide(1);
  };

  const conclude = (exitCode: number): number => {
    try {
      if (exitCode === 0) options.onDone();
      return exitCode;
    } catch (error) {
      say(`the work is done, but not its end: ${reasonOf(error)}`);
      return 1;
    }
  };

  const startSignerFor = async (joined: Child): Promise<SignerProcess | undefined> => {
    let key: Uint8Array;
    try {
      key = await rootKey.open();
    } catch (error) {
      fatal("root key", reasonOf(error));
      return undefined;
    }
    try {
      if (joined.isGone() || decided) return undefined;
      signer = startSigner(code, users.signer, key, orders, hearSigner);
    } finally {
      key.fill(0);
    }
    join(joined, signer);
    note();
    return signer;
  };

  /** One gateway's life: signers come and go beside it. Ends with the gateway or with the verdict. */
  const serveWith = async (running: Child) => {
    while (!running.isGone() && !decided) {
      const current = await startSignerFor(running);
      await Promise.race([current?.gone, running.gone, verdict.promise]);
      if (running.isGone() || decided) return;
      // A signer also ends when its gateway does, and may be seen to end first.
      await Promise.race([pause(options.endsByItself ? gatewayStopMs : 10), running.gone]);
      if (running.isGone() || decided) return;
      if (current) failed("signer", await current.gone);
      const livedMs = current ? Date.now() - current.startedAtMs : 0;
      await Promise.race([pause(pauseForSigner(livedMs)), running.gone]);
    }
  };

  const unguard = guardChannel((fault) => {
    if (!gateway || gateway.process.killed) return;
    say(`gateway: it misused its channel (${fault}) and is replaced`);
    gateway.process.kill("SIGKILL");
  });

  const run = async (): Promise<number> => {
    while (!decided) {
      gateway = startGateway(code, users.gateway, data.database, options.gatewayEnv, hearGateway, gatewayPrefix);
      note();
      await serveWith(gateway);
      if (decided) break;
      const reason = await gateway.gone;
      if (options.endsByItself && reported !== undefined && reason === "exit code 0") decide(conclude(reported));
      else failed("gateway", reason);
      // The signer's socket died with the gateway, and a new one must not touch the memory file before the old one is gone.
      signer?.process.kill("SIGKILL");
      await signer?.gone;
      await pause(pauseForGateway(Date.now() - gateway.startedAtMs));
    }
    if (gateway && !gateway.isGone()) {
      askToStop(gateway);
      await endWithin(gateway, gatewayStopMs);
    }
    if (signer && !signer.isGone()) {
      signer.control.end();
      await endWithin(signer, signerStopMs);
    }
    forgetProcesses(data);
    return verdict.promise;
  };

  const stop = () => {
    if (!decided) return decide(0);
    gateway?.process.kill("SIGKILL");
    signer?.process.kill("SIGKILL");
  };
  return { stop, ended: run().finally(unguard) };
}
