/** What the gateway and the launcher say to each other. */
import { Socket } from "node:net";
import type { Report } from "./operator/check_log.ts";

type ToLauncher =
  | { kind: "listening"; host: string; port: number }
  | { kind: "ready" }
  /** The signer runs and does not answer. */
  | { kind: "silent" }
  /** There is work for a process that is started when it is needed. */
  | { kind: "need"; process: "courier" }
  | { kind: "fatal"; message: string }
  | ({ kind: "report" } & Report);

export type LauncherEvents = {
  /** A signer has started; this is the gateway's end of the socket to it. */
  onSigner(socket: Socket): void;
  /** The same for a courier. */
  onCourier(socket: Socket): void;
  onStop(): void;
};

export type LauncherChannel = {
  tell(message: ToLauncher): Promise<void>;
  /** Tells why the process cannot go on, and ends it. */
  fail(error: unknown): Promise<never>;
  /** From now on these hear what comes, and what has come already. */
  listen(events: LauncherEvents): void;
};

export function openLauncherChannel(): LauncherChannel {
  // A socket may arrive before the database is open; the newest of each process waits here.
  let waiting: Socket | undefined;
  let waitingCourier: Socket | undefined;
  // Before anything is open there is nothing to close.
  let events: LauncherEvents = {
    onSigner(socket) {
      waiting = socket;
    },
    onCourier(socket) {
      waitingCourier = socket;
    },
    onStop: () => process.exit(0),
  };
  // Without a launcher there is nobody to join this process to a signer.
  process.on("disconnect", () => process.exit(0));
  process.on("message", (message: { kind?: unknown }, handle) => {
    if (message.kind === "signer" && handle instanceof Socket) events.onSigner(handle);
    else if (message.kind === "courier" && handle instanceof Socket) events.onCourier(handle);
    else if (message.kind === "stop") events.onStop();
  });

  function tell(message: ToLauncher): Promise<void> {
    return new Promise((resolve) => process.send?.(message, () => resolve()));
  }

  return {
    tell,
    async fail(error) {
      await tell({ kind: "fatal", message: error instanceof Error ? error.message : String(error) });
      process.exit(1);
    },
    listen(given) {
      events = given;
      if (waiting !== undefined) events.onSigner(waiting);
      if (waitingCourier !== undefined) events.onCourier(waitingCourier);
      waiting = undefined;
      waitingCourier = undefined;
    },
  };
}
