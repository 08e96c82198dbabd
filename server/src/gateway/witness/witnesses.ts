/**
 * The witnesses of this gateway's log. Each has a loop of its own that knows the newest checkpoint only: one that is away holds up nobody, and
 * when it is back it cosigns the newest.
 */
import { setTimeout as pause } from "node:timers/promises";
import { parseCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { type NoteCurves, parseNote } from "@keystead/core/tlog/note.ts";
import type { Logger } from "pino";
import { AnotherHistory, cosignCheckpoint, type SignedCheckpoint } from "./cosign_checkpoint.ts";
import { postCheckpoint } from "./post_checkpoint.ts";
import type { WitnessSetting } from "./witness_settings.ts";

export type WitnessesOptions = {
  witnesses: readonly WitnessSetting[];
  curves: NoteCurves;
  log: Pick<Logger, "info" | "warn" | "error">;
  /** The hashes that prove that the log of `newSize` entries begins with that of `oldSize`, which is not 0. */
  consistency(oldSize: number, newSize: number): Promise<readonly Uint8Array[]>;
  /** Gets every cosignature that verified, as a line that can stand below the checkpoint's note. Failing, it is asked again later. */
  onCosigned(checkpointSize: number, line: string): void | Promise<void>;
  /** For tests: how long one request may take, and the pauses after failures. */
  deadlineMs?: number;
  firstRetryMs?: number;
  longestRetryMs?: number;
};

export type Witnesses = {
  /** Has every witness cosign this signed checkpoint, as soon as it can. Returns at once. */
  push(checkpointNote: string): void;
  /** Ends all requests. */
  close(): Promise<void>;
};

export function createWitnesses(options: WitnessesOptions): Witnesses {
  const stopping = new AbortController();
  const followers = options.witnesses.map((witness) => follow(witness, options, stopping.signal));
  return {
    push(note) {
      if (followers.length === 0) return;
      const { text } = parseNote(note);
      const signed: SignedCheckpoint = { note, text, checkpoint: parseCheckpoint(text) };
      for (const follower of followers) follower.push(signed);
    },
    async close() {
      stopping.abort();
      await Promise.all(followers.map(({ ended }) => ended));
    },
  };
}

type Follower = { push(signed: SignedCheckpoint): void; ended: Promise<void> };

function follow(witness: WitnessSetting, options: WitnessesOptions, stop: AbortSignal): Follower {
  const { curves, log, consistency, onCosigned, deadlineMs = 10_000 } = options;
  const post = (body: string) => postCheckpoint(witness.url, body, deadlineMs, stop);
  const newest = createLatest<SignedCheckpoint>(stop);
  const trouble = createTroubleLog(witness.name, log);
  let last = { origin: "", size: 0 };
  let failures = 0;

  async function attempt(signed: SignedCheckpoint): Promise<void> {
    const { origin, size } = signed.checkpoint;
    if (last.origin !== origin) last = { origin, size: 0 };
    // It has cosigned a larger size, before a crash or a power cut: the log will come to it.
    if (last.size > size) return;
    const found = await cosignCheckpoint({ witness, curves, consistency, post }, signed, last.size);
    if (found.kind === "cosigned") await onCosigned(size, found.line);
    else trouble.ahead(found.size, size);
    last = { origin, size: found.kind === "cosigned" ? size : found.size };
  }

  async function run(): Promise<void> {
    for (let signed = await newest.next(); signed !== undefined; signed = await newest.next()) {
      try {
        await attempt(signed);
        trouble.over();
        failures = 0;
      } catch (error) {
        if (stop.aborted) return;
        trouble.failed(error);
        // Unless there is a newer one by then, this one is tried again.
        newest.putBack(signed);
        failures += 1;
        await pause(retryMs(failures, options), undefined, { signal: stop, ref: false }).catch(() => undefined);
      }
    }
  }

  return { push: newest.put, ended: run() };
}

/** Half of it by chance, so that several logs do not come back to a struggling witness in step. */
function retryMs(failures: number, { firstRetryMs = 1_000, longestRetryMs = 60_000 }: WitnessesOptions): number {
  const longest = Math.min(longestRetryMs, firstRetryMs * 2 ** (failures - 1));
  return (longest / 2) * (1 + Math.random());
}

/** A place for one value: a newer one takes the place of what nobody has taken yet. */
function createLatest<T>(stop: AbortSignal): {
  put(value: T): void;
  putBack(value: T): void;
  next(): Promise<T | undefined>;
} {
  let waiting: T | undefined;
  let wake = Promise.withResolvers<void>();
  stop.addEventListener("abort", () => wake.resolve());
  return {
    put(value) {
      waiting = value;
      wake.resolve();
    },
    putBack(value) {
      if (waiting === undefined) this.put(value);
    },
    async next() {
      await wake.promise;
      if (stop.aborted) return undefined;
      wake = Promise.withResolvers();
      const value = waiting;
      waiting = undefined;
      return value;
    },
  };
}

/** A witness that stays away is reported once, and so is its return. Another history is an alarm each time it is another one. */
function createTroubleLog(name: string, log: WitnessesOptions["log"]) {
  let said: string | undefined;
  return {
    failed(error: unknown) {
      const reason = error instanceof Error ? error.message : String(error);
      const kind = error instanceof AnotherHistory ? "history" : "away";
      if (said === kind) return;
      said = kind;
      if (kind === "history") {
        log.error(`the witness ${name} has seen another history of this log and cosigns no more: ${reason}`);
      } else log.warn(`the witness ${name} does not cosign and is tried again: ${reason}`);
    },
    ahead(size: number, ours: number) {
      log.warn(
        `the witness ${name} has cosigned size ${size} of this log, which has ${ours}; it waits until the log is larger`,
      );
    },
    over() {
      if (said !== undefined) log.info(`the witness ${name} cosigns again`);
      said = undefined;
    },
  };
}
