/**
 * Bounds the work on requests by their bodies. All bodies together are bounded in bytes. Large ones have lanes: each organization has one
 * large request worked on at a time, with a rest after it, so that those of one organization never wait for those of another; strangers
 * share a lane. Whoever's they are, large bodies are read one at a time with a pause in between: reading one holds up the process, and
 * small requests must always find it free.
 */
import { Fault } from "@keystead/core/fault.ts";
import { type Admission, createAdmission } from "../bounds/admission.ts";
import type { AdmissionLimits } from "../bounds/admission_limits.ts";
import { createConcurrencyLimit } from "../bounds/concurrency_limit.ts";
import type { Connection } from "./connection.ts";

export type BodyWorkLimits = {
  /** Bodies from here on are large. */
  largeBytes: number;
  /** Of the lanes. A large request's cost is its bytes. */
  lanes: AdmissionLimits;
  /** Of all bodies whose requests are worked on. */
  bodiesBytes: number;
};

/** Who sent a body, where that is verified: nobody else may take an organization's turns. */
export type BodyOwner = { organizationId: string; userId: string };

/** Asked of large bodies alone. Undefined stands for a stranger. */
export type FindOwner = () => Promise<BodyOwner | undefined>;

export type BodyWork = {
  /** Undefined when work on the request may begin at once; otherwise resolves when it may, or is refused when too many wait, or too long. */
  begin(
    connection: Connection,
    bodyBytes: number,
    isOpen: () => boolean,
    findOwner: FindOwner,
  ): Promise<void> | undefined;
  /** The body is parsed: the next one may be. What is left to do is shared by its cost, and not here. */
  bodyIsRead(connection: Connection): void;
  /** The answer is written, or never will be. May be called again. */
  end(connection: Connection): void;
  bytes(): number;
};

/** Three times as long as the work took, so that it has a quarter of the time; a large request may also only have waited for others. */
const pauseFactor = 3;
const maxPauseMs = 300;

export const tooManyLarge = "too many large requests at once; try again";

export function strangerAt(address: string): BodyOwner {
  return { organizationId: "", userId: address };
}

export function createBodyWork(limits: BodyWorkLimits): BodyWork {
  const lanes = createAdmission(limits.lanes);
  // Bounded by the lanes: who waits here has entered one.
  const reading = createConcurrencyLimit({ slots: 1, waiting: Number.POSITIVE_INFINITY, refusal: tooManyLarge });
  let allBytes = 0;

  function bodyIsRead(connection: Connection): void {
    connection.endReading?.();
    connection.endReading = undefined;
  }

  function end(connection: Connection): void {
    bodyIsRead(connection);
    connection.leaveLane?.();
    connection.leaveLane = undefined;
    allBytes -= connection.bodyBytes;
    connection.bodyBytes = 0;
  }

  async function takeTurn(connection: Connection, bytes: number, isOpen: () => boolean, findOwner: FindOwner) {
    /** Closed in the moment it was its turn: nothing else would give it back. */
    const goOn = (): void => {
      if (isOpen()) return;
      end(connection);
      throw new Fault("cancelled", "the connection was closed");
    };
    const owner = (await findOwner()) ?? strangerAt("");
    goOn();
    const waiting = new AbortController();
    connection.leaveLane = () => waiting.abort();
    connection.leaveLane = await enterLane(lanes, owner, bytes, waiting.signal);
    goOn();
    await reading.enter(() => connection.socket.destroyed);
    const begunAt = performance.now();
    connection.endReading = () => reading.leave(pauseAfter(begunAt));
    goOn();
  }

  return {
    begin(connection, bodyBytes, isOpen, findOwner) {
      if (allBytes + bodyBytes > limits.bodiesBytes) throw new Fault("resource_exhausted", tooManyLarge);
      allBytes += bodyBytes;
      connection.bodyBytes += bodyBytes;
      return bodyBytes < limits.largeBytes ? undefined : takeTurn(connection, bodyBytes, isOpen, findOwner);
    },
    bodyIsRead,
    end,
    bytes: () => allBytes,
  };
}

/** Resolves to what gives the lane back. */
async function enterLane(
  lanes: Admission,
  { organizationId, userId }: BodyOwner,
  bytes: number,
  signal: AbortSignal,
): Promise<() => void> {
  const weight = { cost: bytes, bytes };
  try {
    await lanes.enter(organizationId, weight, userId, signal);
  } catch (error) {
    const isRefused = error instanceof Fault && error.code === "resource_exhausted";
    // Not in the words of the admission to the signer: a stranger has no organization.
    throw isRefused ? new Fault("resource_exhausted", tooManyLarge) : error;
  }
  const begunAt = performance.now();
  return () => setTimeout(() => lanes.leave(organizationId, weight), pauseAfter(begunAt));
}

function pauseAfter(begunAt: number): number {
  return Math.min(pauseFactor * (performance.now() - begunAt), maxPauseMs);
}
