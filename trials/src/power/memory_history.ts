/** A history of releases that anyone can compute: what the nth of them moves and appends, and what is remembered after it. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Frontier } from "@keystead/core/tlog/tree.ts";
import type { LoggedLeaf } from "@keystead/server/signer/memory/log_tail.ts";
import type { Memory, MovedPin } from "@keystead/server/signer/memory/memory.ts";
import type { Pins } from "@keystead/server/signer/memory/pins.ts";
import { sha256 } from "@keystead/server/state/digest.ts";

const bytes = (length: number, fill: number): Uint8Array => new Uint8Array(length).fill(fill);

export const memoryFixtures = {
  rootKey: bytes(32, 7),
  deploymentId: bytes(16, 9),
  boot: bytes(16, 3),
  log: { logId: bytes(16, 5), openedAtMs: 1, previous: undefined, takesAll: false },
  /** Small, so that the file is compacted again and again. */
  compactBytes: 32 * 1024,
};

function organizationOf(place: number): Uint8Array {
  const id = bytes(16, 1);
  new DataView(id.buffer).setUint32(0, place);
  return id;
}

const organizations = 300;

/** The number of the nth release's leaf. Those between were never released: compactions write their blocks as bits. */
export function leafNumberOf(number: number): number {
  return 7_000 + 2 * number;
}

/** The leaf of the nth release: each organization's turn comes again after all others'. */
function leafOf(number: number): LoggedLeaf {
  return {
    organizationId: organizationOf((number - 1) % organizations),
    boot: memoryFixtures.boot,
    number: leafNumberOf(number),
    ordinal: Math.floor((number - 1) / organizations) + 1,
    entry: sha256(String(number)),
  };
}

/** Mostly a few pins; at times many, so that one record spans many sectors. */
export function historyOf(number: number): { pins: MovedPin[]; leaves: LoggedLeaf[] } {
  const count = number % 37 === 0 ? 250 : 1 + (number % 5);
  return {
    pins: Array.from({ length: count }, (_, place) => ({
      organizationId: organizationOf((number + place) % organizations),
      pin: { version: number, digest: bytes(32, number % 251) },
    })),
    leaves: [leafOf(number)],
  };
}

/** By organization, the releases that move its pin, in order. */
function movesOf(releases: number): Map<string, number[]> {
  const moves = new Map<string, number[]>();
  for (let number = 1; number <= releases; number++) {
    for (const { organizationId } of historyOf(number).pins) {
      const id = toHex(organizationId);
      moves.set(id, [...(moves.get(id) ?? []), number]);
    }
  }
  return moves;
}

/** Says whether these are the pins as they were after so many releases. */
export function createHistoryCheck(longest: number): (pins: Pins, releases: number) => boolean {
  const moves = movesOf(longest);
  return (pins, releases) => {
    const known = moves.values().filter(([first = 0]) => first <= releases);
    const entries = [...pins.entries()];
    const isLast = ({ organizationId, pin }: (typeof entries)[number]): boolean =>
      pin.version === moves.get(toHex(organizationId))?.findLast((number) => number <= releases);
    return entries.length === [...known].length && entries.every(isLast);
  };
}

/** Says whether the log is as it was after so many releases: every entry and every ordinal. */
export function createLogCheck(longest: number): (log: NonNullable<Memory["log"]>, releases: number) => boolean {
  const frontier = new Frontier(sha256);
  const roots = [toHex(frontier.root())];
  for (let number = 1; number <= longest; number++) {
    frontier.append(leafOf(number).entry);
    roots.push(toHex(frontier.root()));
  }
  return (log, releases) => {
    const isTree = [log.checkpointSize, releases].every((size) => toHex(log.edgeAt(size).root()) === roots[size]);
    const newest = Array.from({ length: Math.min(organizations, releases) }, (_, n) => leafOf(releases - n));
    return isTree && newest.every((leaf) => log.ordinals.last(leaf.organizationId) === leaf.ordinal);
  };
}
