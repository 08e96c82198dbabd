import { sendJoint } from "./channel.ts";
import { guardChannel } from "./channel_fault.ts";
import type { Code } from "./code.ts";
import { writeOrders } from "./control.ts";
import { type DataFolder, reasonOf } from "./data_folder.ts";
import { syncFolder } from "./durable_file.ts";
import { forgetProcesses, noteProcesses } from "./previous_processes.ts";
import { linePrefix, ProcessEvents, type Reactions } from "./process_events.ts";
import { parseCourierMessage, parseGatewayMessage, parseSignerMessage } from "./process_messages.ts";
import type { Users } from "./process_users.ts";
import { type OrderName, type ProcessName, type ProcessTable, perProcess } from "./processes.ts";
import type { StartedProcess } from "./start_process.ts";
import { Supervisor } from "./supervisor.ts";
import { Verdict } from "./verdict.ts";

export type Launch = Omit<Reactions, "onMemory" | "onNeed"> & {
  table: ProcessTable;
  /** Those of the table that are started. */
  names: readonly ProcessName[];
  code: Code;
  data: DataFolder;
  users: Users;
  /** Where each order comes from, asked at each start of a process that gets it. Gives a copy that is wiped afterwards. */
  orders: Readonly<Record<OrderName, () => Promise<Uint8Array>>>;
  /** Asked at each start. */
  environment(name: ProcessName): Record<string, string>;
  /** Single files outside its folder that a process reads and writes, as real paths. */
  files?: Readonly<Partial<Record<ProcessName, readonly string[]>>>;
  /** The longest pause before a process that keeps ending is started again. */
  restartPauseMs: number;
};

/** `stop` asks for an orderly end; asked again, it no longer waits. `ended` gives the launcher's exit code. */
export type Launched = { stop(): void; ended: Promise<number> };

/** Starts the gateway and the processes joined to it, and keeps them running until asked to stop. */
export function launch(options: Launch): Launched {
  const launcher = new Launcher(options);
  const unguard = guardChannel((fault) => launcher.replaceGateway(fault));
  return { stop: () => launcher.stop(), ended: launcher.run().finally(unguard) };
}

class Launcher {
  readonly #options: Launch;
  readonly #verdict = new Verdict();
  readonly #events: ProcessEvents;
  readonly #gateway: Supervisor;
  readonly #signer: Supervisor;
  /** Those that are joined to the gateway. They are replaced alone, and end with it. */
  readonly #joined: readonly Supervisor[];
  /** For each process that is started on demand, settles with the first demand. */
  readonly #demands = perProcess(() => Promise.withResolvers<void>());

  constructor(options: Launch) {
    this.#options = options;
    const reactions = {
      ...options,
      onMemory: () => this.#syncMemory(),
      onNeed: (name: ProcessName) => this.#demands[name].resolve(),
    };
    this.#events = new ProcessEvents(reactions, this.#verdict, () => this.#signer.kill());
    const supervisors = perProcess((name) => this.#supervise(name));
    this.#gateway = supervisors.gateway;
    this.#signer = supervisors.signer;
    const joined = options.names.filter((name) => options.table[name].joinedTo === "gateway");
    this.#joined = joined.map((name) => supervisors[name]);
  }

  #supervise(name: ProcessName): Supervisor {
    const { table, code, data, users, restartPauseMs, endsByItself } = this.#options;
    return new Supervisor({
      name,
      row: table[name],
      program: code[name],
      folder: data[table[name].folder],
      files: this.#options.files?.[name] ?? [],
      user: users.of[name],
      linePrefix: linePrefix(name, endsByItself),
      restartPauseMs,
      environment: () => this.#options.environment(name),
      hear: this.#hear[name],
    });
  }

  /** Each process may say what its own parser lets through, and nothing that another may say. */
  readonly #hear: Readonly<Record<ProcessName, (value: unknown, from: StartedProcess) => void>> = {
    gateway: (value, from) => {
      const message = parseGatewayMessage(value);
      if (message) this.#events.hearGateway(message, from);
    },
    signer: (value, from) => {
      const message = parseSignerMessage(value);
      if (message) this.#events.hearSigner(message, from);
    },
    courier: (value, from) => {
      const message = parseCourierMessage(value);
      if (message) this.#events.hearCourier(message, from);
    },
  };

  async run(): Promise<number> {
    while (!this.#verdict.isDecided) {
      const gateway = this.#gateway.start([]);
      this.#noteProcesses();
      const over = Promise.race([gateway.gone, this.#verdict.exitCode]);
      await Promise.all([over, ...this.#joined.map((joined) => this.#keepBeside(gateway, joined))]);
      if (this.#verdict.isDecided) break;
      this.#events.gatewayEnded(await gateway.gone);
      // Their sockets died with the gateway, and a new one must not touch a folder before the old one is gone.
      await Promise.all(this.#joined.map((joined) => joined.killAndWait()));
      await this.#verdict.pause(this.#gateway.pauseMs(gateway));
    }
    for (const process of [this.#gateway, ...this.#joined]) await process.stop();
    forgetProcesses(this.#options.data);
    return this.#verdict.exitCode;
  }

  /** Keeps a joined process running for as long as this gateway lives and nothing is decided. */
  async #keepBeside(gateway: StartedProcess, joined: Supervisor): Promise<void> {
    const isOver = () => gateway.isGone() || this.#verdict.isDecided;
    const pause = (timeMs: number) => Promise.race([this.#verdict.pause(timeMs), gateway.gone]);
    if (joined.row.onDemand) {
      await Promise.race([this.#demands[joined.name].promise, gateway.gone, this.#verdict.exitCode]);
    }
    while (!isOver()) {
      const current = await this.#startJoined(gateway, joined);
      await Promise.race([current?.gone, gateway.gone, this.#verdict.exitCode]);
      if (isOver()) return;
      // It also ends when its gateway does, and may be seen to end first.
      await pause(this.#options.endsByItself ? this.#gateway.row.stopsWithinMs : 10);
      if (isOver()) return;
      if (current) this.#events.ended(joined.name, await current.gone);
      await pause(joined.pauseMs(current));
    }
  }

  async #startJoined(gateway: StartedProcess, joined: Supervisor): Promise<StartedProcess | undefined> {
    const orders: Uint8Array[] = [];
    let started: StartedProcess;
    try {
      for (const name of joined.row.orders) {
        try {
          const order = await this.#orderFor(gateway, name);
          if (order === undefined) return undefined;
          orders.push(order);
        } catch (error) {
          this.#events.gaveUp(name, reasonOf(error));
          return undefined;
        }
      }
      if (gateway.isGone() || this.#verdict.isDecided) return undefined;
      started = joined.start(orders);
    } finally {
      for (const order of orders) order.fill(0);
    }
    if (started.joint) sendJoint(gateway, joined.name, started.joint);
    for (const name of joined.row.laterOrders ?? []) void this.#orderLater(started, name);
    this.#noteProcesses();
    return started;
  }

  /** It may be long in coming. Whoever has ended by then needs it no more. */
  async #orderLater({ control }: StartedProcess, name: OrderName): Promise<void> {
    const order = await this.#options.orders[name]();
    if (control?.writable === true) writeOrders(control, [order]);
    order.fill(0);
  }

  /** Undefined when nobody needs it any more: an order that another process gives may be long in coming. */
  async #orderFor(gateway: StartedProcess, name: OrderName): Promise<Uint8Array | undefined> {
    const coming = this.#options.orders[name]();
    const isOver = Promise.race([gateway.gone, this.#verdict.exitCode]).then(() => undefined);
    const order = await Promise.race([coming, isOver]);
    if (order === undefined)
      coming.then(
        (late) => late.fill(0),
        () => undefined,
      );
    return order;
  }

  /** A full disk must not end what runs: without the note, the next start merely cannot wait for these processes by number. */
  #noteProcesses(): void {
    const { data, say } = this.#options;
    try {
      noteProcesses(
        data,
        [this.#gateway, ...this.#joined].map(({ current }) => current?.process.pid),
      );
    } catch (error) {
      say(`could not record the process ids: ${reasonOf(error)}`);
    }
  }

  /** Node lets the signer sync what is in its file, and not the file's name. */
  #syncMemory(): boolean {
    const { data, say } = this.#options;
    try {
      syncFolder(data.signer);
      return true;
    } catch (error) {
      say(`${data.signer} cannot be synced: ${reasonOf(error)}`);
      return false;
    }
  }

  replaceGateway(fault: string): void {
    const gateway = this.#gateway.current?.process;
    if (!gateway || gateway.killed) return;
    this.#options.say(`gateway: it misused its channel (${fault}) and is replaced`);
    gateway.kill("SIGKILL");
  }

  stop(): void {
    if (this.#verdict.isDecided) {
      for (const process of [this.#gateway, ...this.#joined]) process.kill();
      return;
    }
    this.#options.say("Keystead is stopping; a second signal ends it at once");
    // Work that was interrupted has not said that all is well.
    this.#verdict.decide(this.#options.endsByItself ? 1 : 0);
  }
}
