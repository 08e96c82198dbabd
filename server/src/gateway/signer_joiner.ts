/**
 * Joins the newest signer. One that dies meanwhile is replaced, and its successor comes here too; one that cannot work yet (its clock, a
 * database that is away) is asked again, and `/readyz` says why; one that refuses at the start is a matter for the operator.
 */
import type { Socket } from "node:net";
import { Fault } from "@keystead/core/fault.ts";
import type { Logger } from "pino";
import { publicReason, type SignerStatus } from "./signer_status.ts";

/** The signer has joined and cannot sign yet (its clock). All else is served meanwhile, and it is asked again. */
export class SignerLate extends Fault {
  constructor({ message }: Fault) {
    super("unavailable", message);
  }
}

export type SignerJoinerDependencies = {
  signer: SignerStatus;
  log: Logger;
  /** Says hello on this socket, and releases what an earlier signer left behind. */
  join(socket: Socket): Promise<void>;
  /** A signer can be used. */
  onJoined(): Promise<void>;
  /** None can be used yet, but others than the signer may be served. */
  onWaiting(): Promise<void>;
  /** Whether trouble that may pass ends the process as well, as it does while an operator waits for an order's end. */
  isOrder: boolean;
  fail(error: unknown): Promise<never>;
};

export type SignerJoiner = {
  /** Of a signer that has started; earlier sockets do not count any more. */
  use(socket: Socket): void;
  /** The process is stopping: a join that is cut off by that is no trouble. */
  stop(): void;
};

const retryMs = 500;

export function createSignerJoiner(dependencies: SignerJoinerDependencies): SignerJoiner {
  const { signer, log, join, onJoined, onWaiting, isOrder, fail } = dependencies;
  let newest: Socket | undefined;
  let hasJoined = false;
  let isStopping = false;
  /** The trouble that was logged last: the same line twice a second would hide everything else. */
  let logged: string | undefined;

  async function joinOver(socket: Socket): Promise<void> {
    try {
      await join(socket);
      if (socket !== newest) return;
      signer.setTrouble(undefined);
      await onJoined();
      hasJoined = true;
    } catch (error) {
      if (socket === newest) await onTrouble(socket, error);
    }
  }

  async function onTrouble(socket: Socket, error: unknown): Promise<void> {
    const mayPass = !(error instanceof Fault) || error.code === "unavailable";
    if (!hasJoined && (!mayPass || isOrder)) await fail(error);
    const message = error instanceof Error ? error.message : String(error);
    const reason = publicReason(error);
    if (signer.trouble() !== reason || logged !== message) log.error({ err: error }, "the signer cannot be used");
    logged = message;
    signer.setTrouble(reason);
    await (error instanceof SignerLate ? onJoined() : onWaiting());
    if (!socket.destroyed) setTimeout(() => retry(socket), retryMs);
  }

  function retry(socket: Socket): void {
    if (socket === newest && !socket.destroyed) void joinOver(socket);
  }

  return {
    use(socket) {
      if (isStopping) return;
      newest = socket;
      void joinOver(socket);
    },
    stop() {
      isStopping = true;
      newest = undefined;
    },
  };
}
