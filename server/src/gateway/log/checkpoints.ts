/**
 * Has the signer sign the log as far as it is stored, at most once a second and only when something is new. What it signs is held against
 * what the rows add up to, before anybody is shown either.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { tileWidth } from "@keystead/core/tlog/tiles.ts";
import { encodeVkey, parseVkey } from "@keystead/core/tlog/vkey.ts";
import { passed } from "../../state/steps.ts";
import { findLog, type LogRow, storeCheckpoint, type TileRow } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import type { Job } from "../jobs/job_runner.ts";
import type { SignerLink } from "../link/signer_link.ts";
import type { LogPlaces } from "../places/log_places.ts";
import type { Committer } from "../submit/committer.ts";
import { loadEdge, loadEntries, type TileEdge } from "./tile_edge.ts";

/** A new checkpoint, for whoever takes it further. */
export type SignedCheckpoint = { logId: string; origin: string; vkey: string; size: number; note: string };

export type CheckpointDependencies = {
  store: Store;
  curves: Pick<Curves, "verifyEd25519">;
  link: Pick<SignerLink, "request">;
  committer: Pick<Committer, "settle">;
  places: LogPlaces;
  /** Of the deployment's log; undefined before a signer has joined. */
  logKey(): string | undefined;
  /** While it has trouble, nothing is asked of it. */
  signerTrouble(): string | undefined;
  /** It must hold up nothing. */
  onSigned(checkpoint: SignedCheckpoint): void;
};

export type Checkpoints = {
  job: Job;
  /** Has everything that is stored signed now, whether or not anybody is served yet. */
  sign(): Promise<void>;
  /** The same before the process ends, for as long as a stop may be held up. What it does not come to is signed after the next start. */
  signLast(): Promise<void>;
  /** Why no checkpoint is asked for any more, until the operator has looked at it. */
  trouble(): string | undefined;
};

const everyMs = 1_000;
/** For how long a stop waits. */
const lastMs = 1_500;

/** How many tiles' entries are read before others have their turn. */
const entriesAtOnce = 16 * tileWidth;

export function createCheckpoints(dependencies: CheckpointDependencies): Checkpoints {
  const { store, curves, link, committer, places, logKey, signerTrouble, onSigned } = dependencies;
  let edge: { logId: string; tiles: TileEdge } | undefined;
  let trouble: string | undefined;

  async function edgeOf({ log_id, checkpoint_size }: LogRow): Promise<TileEdge> {
    if (edge?.logId === log_id && edge.tiles.size === checkpoint_size) return edge.tiles.copy();
    return loadEdge(store, log_id, checkpoint_size);
  }

  async function grow(logId: string, tiles: TileEdge, size: number, signal: AbortSignal): Promise<TileRow[]> {
    const filled: TileRow[] = [];
    while (tiles.size < size) {
      signal.throwIfAborted();
      const first = tiles.size - (tiles.size % tileWidth);
      const to = Math.min(size, first + entriesAtOnce);
      const entries = await loadEntries(store, logId, first, to);
      for (const entry of entries.slice(tiles.size - first)) filled.push(...tiles.append(entry));
    }
    return filled;
  }

  async function signAt(log: LogRow, key: string, size: number, signal: AbortSignal): Promise<void> {
    const { log_id: logId, origin } = log;
    const vkey = encodeVkey(origin, fromHex(key));
    const tiles = await edgeOf(log);
    const filled = await grow(logId, tiles, size, signal);
    passed("checkpointing");
    const { note } = await link.request("checkpoint", { size });
    passed("signed");
    const signed = openCheckpoint(curves, parseVkey(vkey), note);
    if (signed.size !== size || toHex(signed.root) !== toHex(tiles.root())) {
      trouble = `log ${logId}: the rows below ${size} are not what the signer has appended; stop the server and run \`npx keystead check-database\``;
      throw new Fault("internal", trouble);
    }
    await storeCheckpoint(store, { logId, size, note, tiles: filled });
    passed("checkpointed");
    edge = { logId, tiles };
    onSigned({ logId, origin, vkey, size, note });
  }

  async function sign(signal: AbortSignal): Promise<void> {
    const { logId } = places;
    const key = logKey();
    if (logId === undefined || key === undefined || trouble !== undefined) return;
    await committer.settle();
    const size = places.stored;
    const log = await findLog(store, logId);
    if (log === undefined || log.checkpoint_size >= size || places.logId !== logId) return;
    await signAt(log, key, size, signal);
  }

  /** One after the other: the signer refuses a size below the last one that it has signed. */
  let last: Promise<void> = Promise.resolve();
  function signInTurn(signal: AbortSignal): Promise<void> {
    const signing = last.then(() => sign(signal));
    last = signing.catch(() => undefined);
    return signing;
  }

  return {
    job: {
      name: "sign the log",
      everyMs,
      run: async (signal) => (signerTrouble() === undefined ? signInTurn(signal) : undefined),
    },
    sign: () => signInTurn(new AbortController().signal),
    async signLast() {
      if (signerTrouble() !== undefined) return;
      const signing = signInTurn(AbortSignal.timeout(lastMs)).catch(() => undefined);
      await Promise.race([signing, pause(lastMs, undefined, { ref: false })]);
    },
    trouble: () => trouble,
  };
}
