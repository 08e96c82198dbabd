import type { Child } from "./child.ts";
import { reasonOf } from "./data_folder.ts";
import type { CourierMessage, GatewayMessage, SignerMessage } from "./process_messages.ts";
import type { ProcessName } from "./processes.ts";
import type { PublicKeys } from "./public_keys.ts";
import type { Verdict } from "./verdict.ts";

/** What follows from what the processes say, outside of the processes themselves. */
export type Reactions = {
  /** A gateway that does one piece of work, reports and ends; nothing is started again. */
  endsByItself: boolean;
  say(line: string): void;
  /** The work is done, and its report says that all is well. */
  onDone(): void;
  onListening(port: number): void;
  onReady(): void;
  /** Each time that a signer has joined its deployment. */
  onKeys(publicKeys: PublicKeys, attestationRoot: string): void;
  /** The same: what it derives for the courier. */
  onCourierKey(key: Uint8Array): void;
  /** There is work for a process that is started when it is needed. */
  onNeed(name: ProcessName): void;
  /** The signer's memory is there, perhaps for the first time or as another file. */
  onMemory(): boolean;
};

/** The exit code of a check that ran and found something: not one of those of a start that was refused. */
const foundSomething = 3;

const attemptsBeforeReady = 5;
const keysMs = 1000;

/** Decides what the launcher does about what its processes say and about their ends. */
export class ProcessEvents {
  readonly #reactions: Reactions;
  readonly #verdict: Verdict;
  readonly #replaceSigner: () => void;
  /** Settles when the signer has said its keys. */
  readonly #introduced = Promise.withResolvers<void>();
  /** The signer tells the operator itself what the report of the work then repeats. */
  readonly #saidBySigner = new Set<string>();
  #isReady = false;
  #failedStarts = 0;
  /** The exit code that the work's report asks for; undefined until there is one. */
  #reported: number | undefined;

  constructor(reactions: Reactions, verdict: Verdict, replaceSigner: () => void) {
    this.#reactions = reactions;
    this.#verdict = verdict;
    this.#replaceSigner = replaceSigner;
  }

  hearGateway(message: GatewayMessage, gateway: Child): void {
    if (message.kind === "listening") this.#reactions.onListening(message.port);
    if (message.kind === "fatal") this.gaveUp("gateway", message.message, gateway);
    if (message.kind === "need") this.#reactions.onNeed(message.process);
    if (message.kind === "silent") {
      this.#reactions.say("signer: it does not answer and is replaced");
      this.#replaceSigner();
    }
    if (message.kind === "report") {
      this.#reported = message.ok ? 0 : foundSomething;
      // Never the other way round: what the signer says is not for a gateway to silence.
      const news = message.lines.filter((line) => !this.#saidBySigner.has(line));
      for (const line of news) this.#reactions.say(`${linePrefix("gateway", this.#reactions.endsByItself)}${line}`);
    }
    if (message.kind === "ready") this.#ready();
  }

  hearSigner(message: SignerMessage, signer: Child & { tellSynced(): void }): void {
    if (message.kind === "ready" || message.kind === "renamed") {
      const isSynced = this.#reactions.onMemory();
      // It signs no checkpoint before it knows that its memory keeps its name through a power cut.
      if (isSynced && message.kind === "renamed") signer.tellSynced();
    }
    if (message.kind === "note") {
      if (this.#reactions.endsByItself) this.#saidBySigner.add(message.message);
      this.#reactions.say(`signer: ${message.message}`);
    }
    if (message.kind === "keys") {
      this.#reactions.onKeys(message.publicKeys, message.attestationRoot);
      this.#introduced.resolve();
    }
    if (message.kind === "courierKey") this.#reactions.onCourierKey(message.key);
    if (message.kind === "fatal") this.gaveUp("signer", message.message, signer);
  }

  hearCourier({ kind, message }: CourierMessage, courier: Child): void {
    this.#reactions.say(`courier: ${message}`);
    if (kind === "fatal") courier.process.kill("SIGKILL");
  }

  #ready(): void {
    if (this.#isReady) return;
    this.#isReady = true;
    // The signer has said its keys by then, but on another channel: they may be heard a moment later.
    void Promise.race([this.#introduced.promise, this.#verdict.pause(keysMs)]).then(this.#reactions.onReady);
  }

  /** Before the first readiness the start has failed, later a new process may do better. */
  gaveUp(who: string, message: string, child?: Child): void {
    this.#reactions.say(`${who}: ${message}`);
    if (!this.#isReady) this.#verdict.decide(1);
    else child?.process.kill("SIGKILL");
  }

  /** Before the first readiness a fault is most likely a setting, and trying for ever would hide it. */
  ended(who: string, reason: string): void {
    this.#reactions.say(`${who} ended (${reason})${this.#isReady ? "; starting it again" : ""}`);
    if (this.#reactions.endsByItself || (!this.#isReady && ++this.#failedStarts >= attemptsBeforeReady)) {
      this.#verdict.decide(1);
    }
  }

  /** A gateway that was to do one piece of work has done it when it has reported and ended well. */
  gatewayEnded(reason: string): void {
    const isDone = this.#reactions.endsByItself && reason === "exit code 0";
    if (isDone && this.#reported !== undefined) this.#verdict.decide(this.#conclude(this.#reported));
    else this.ended("gateway", reason);
  }

  #conclude(exitCode: number): number {
    try {
      if (exitCode === 0) this.#reactions.onDone();
      return exitCode;
    } catch (error) {
      this.#reactions.say(`the command finished, but cleaning up failed: ${reasonOf(error)}`);
      return 1;
    }
  }
}

/** While it serves, a process's lines must not pass for the launcher's; the work that an operator ordered may speak for itself. */
export function linePrefix(name: ProcessName, endsByItself: boolean): string {
  return endsByItself ? "" : `${name}: `;
}
