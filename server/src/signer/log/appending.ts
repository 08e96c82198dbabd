/** The places that leaves of one request get in the log, before anything of it is remembered. */
import { Fault } from "@keystead/core/fault.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import type { LeafEvent } from "@keystead/core/log/leaf_words.ts";
import { entryOf } from "@keystead/core/tlog/entry.ts";
import type { Place } from "../../frames/messages.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { digestKey, sha256 } from "../../state/digest.ts";
import { isSameId } from "../memory/id_table.ts";
import type { LoggedLeaf } from "../memory/log_tail.ts";
import type { Memory } from "../memory/memory.ts";
import { maxTailLength } from "../memory/signer_log.ts";
import { openLogOf } from "./next_log.ts";

/** Acts of the operator that are nobody's own: everybody is shown them, and no organization counts them. */
const uncounted: ReadonlySet<LeafEvent> = new Set<LeafEvent>(["LOG_OPENED", "BOOTED", "DATABASE_ACCEPTED"]);

export function hasOrdinal(event: LeafEvent): boolean {
  return !uncounted.has(event);
}

type Numbered = Pick<Leaf, "boot" | "number" | "organizationId">;

export type Appending = {
  /** Whether a leaf is not in the log yet, nor among those of this request. */
  isNew(leaf: Pick<Leaf, "boot" | "number">): boolean;
  /** Gives a new leaf the next place. */
  add(leaf: Numbered, marked: Uint8Array, isCounted: boolean): Place;
  /** Refuses it all if the gateway has not stored enough of what was appended before. */
  checkSpace(): void;
  /** All that were added, in order. */
  readonly leaves: readonly LoggedLeaf[];
};

/** Rows of one organization come one behind another, so the last one is at hand. */
function createCounts(memory: Memory): (organizationId: Uint8Array) => number {
  type Count = { organizationId: Uint8Array; last: number };
  const counts = new Map<string, Count>();
  let current: Count | undefined;

  function countOf(organizationId: Uint8Array): Count {
    const key = digestKey(organizationId);
    const count = counts.get(key) ?? { organizationId, last: openLogOf(memory).ordinals.last(organizationId) };
    counts.set(key, count);
    return count;
  }

  return (organizationId) => {
    if (current === undefined || !isSameId(current.organizationId, organizationId)) current = countOf(organizationId);
    current.last += 1;
    return current.last;
  };
}

export function createAppending(memory: Memory): Appending {
  /** Looked through by each leaf: a request has at most some thousand, and this is a plain array of numbers. */
  const numbers: number[] = [];
  const leaves: LoggedLeaf[] = [];
  const nextOrdinal = createCounts(memory);

  function isAdded(boot: Uint8Array, number: number): boolean {
    return numbers.includes(number) && leaves.some((leaf) => leaf.number === number && isSameId(leaf.boot, boot));
  }

  return {
    isNew: ({ boot, number }) =>
      (!memory.wasReleased(boot, number) || memory.owes(boot, number)) && !isAdded(boot, number),
    add({ boot, number, organizationId }, marked, isCounted) {
      const log = openLogOf(memory);
      numbers.push(number);
      const ordinal = isCounted ? nextOrdinal(organizationId) : 0;
      const entry = entryOf(sha256(withoutMac(marked)), ordinal, sha256);
      const position = log.size + leaves.length;
      leaves.push({ organizationId, boot, number, ordinal, entry });
      return { position, ordinal, entry };
    },
    checkSpace() {
      if (leaves.length === 0 || openLogOf(memory).tailLength + leaves.length <= maxTailLength) return;
      throw new Fault(
        "unavailable",
        `the log cannot be stored: ${maxTailLength} leaves wait for the database; nothing is released until it has them`,
      );
    },
    leaves,
  };
}
