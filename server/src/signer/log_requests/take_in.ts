/**
 * Leaves of a database from before the log. They come by organization, boot and number, each gets its place once, and what this memory has
 * released and nobody brings is named. Nothing else can be brought: a leaf that was only prepared is none of the log's.
 */
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { Place, Reply, Request } from "../../frames/messages.ts";
import { digestKey } from "../../state/digest.ts";
import { clockToleranceMs } from "../../state/journal.ts";
import type { Signer } from "../decision/signer.ts";
import { createAppending, hasOrdinal } from "../log/appending.ts";
import { openLogOf } from "../log/next_log.ts";

/** So that the record of one request is never longer than what a power cut may tear. */
const leavesAtOnce = 4_096;
/** Of those that never came. */
const rangesAtOnce = 50_000;

/** The leaf that was taken in last, in the order that they come in. */
export type TakenIn = { last?: LeafOrder };

type LeafOrder = { organization: string; boot: string; number: number };

export function takeIn(signer: Signer, taken: TakenIn, { leaves, last }: Request<"takeIn">): Reply<"takeIn"> {
  const nowMs = signer.now();
  const { memory } = signer;
  const log = openLogOf(memory);
  if (!log.isListed) throw new Fault("unavailable", "the signer's log is not listed yet");
  if (leaves.length > leavesAtOnce) throw new Fault("invalid_argument", `more than ${leavesAtOnce} leaves at once`);
  const appending = createAppending(memory);
  let newest = taken.last;

  const places = leaves.map((marked): Place | undefined => {
    const leaf = findOwnLeaf(signer, marked);
    if (leaf === undefined || !mayTake(signer, leaf) || !appending.isNew(leaf)) return undefined;
    const order = orderOf(leaf);
    if (newest !== undefined && !isBefore(newest, order)) {
      throw new Fault("invalid_argument", "leaves from before the log come by organization, boot and number");
    }
    newest = order;
    return appending.add(leaf, marked, hasOrdinal(leaf.event));
  });
  appending.checkSpace();
  if (appending.leaves.length > 0) memory.rememberAppended(nowMs, [], appending.leaves);
  if (newest !== undefined) taken.last = newest;
  if (last && log.takesAll) memory.rememberTakenIn(nowMs);
  return { places, missing: last ? memory.owed(rangesAtOnce) : [] };
}

/** Rows that somebody has changed get no place. If their leaves were released here, they are missing in the end. */
function findOwnLeaf({ keyring }: Signer, marked: Uint8Array): Leaf | undefined {
  try {
    return decodeLeaf(keyring.authenticity.check("leaf", marked));
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/**
 * What this memory has released, it takes. Of what another host may have released it knows nothing: such leaves are taken as found where no log
 * has them, and only from before there was one.
 */
function mayTake({ memory }: Signer, { boot, number, timeMs }: Leaf): boolean {
  const log = openLogOf(memory);
  if (memory.owes(boot, number)) return true;
  return log.takesAll && !memory.knowsBoot(boot) && timeMs <= log.openedAtMs + clockToleranceMs;
}

function orderOf({ organizationId, boot, number }: Leaf): LeafOrder {
  return { organization: digestKey(organizationId), boot: digestKey(boot), number };
}

function isBefore(a: LeafOrder, b: LeafOrder): boolean {
  if (a.organization !== b.organization) return a.organization < b.organization;
  if (a.boot !== b.boot) return a.boot < b.boot;
  return a.number < b.number;
}
