/** A history of releases that anyone can compute: what the nth of them moves, and what is remembered after it. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { MovedPin } from "@keystead/server/signer/memory/memory.ts";
import type { Pins } from "@keystead/server/signer/memory/pins.ts";
import type { ReleasedRange } from "@keystead/server/signer/memory/released_numbers.ts";

const bytes = (length: number, fill: number): Uint8Array => new Uint8Array(length).fill(fill);

export const memoryFixtures = {
  rootKey: bytes(32, 7),
  deploymentId: bytes(16, 9),
  boot: bytes(16, 3),
  /** Small, so that the file is compacted again and again. */
  compactBytes: 32 * 1024,
};

function organizationOf(place: number): Uint8Array {
  const id = bytes(16, 1);
  new DataView(id.buffer).setUint32(0, place);
  return id;
}

/** Mostly a few pins; at times many, so that one record spans many sectors. */
export function historyOf(number: number): { pins: MovedPin[]; leaves: ReleasedRange[] } {
  const count = number % 37 === 0 ? 250 : 1 + (number % 5);
  return {
    pins: Array.from({ length: count }, (_, place) => ({
      organizationId: organizationOf((number + place) % 300),
      pin: { version: number, digest: bytes(32, number % 251) },
    })),
    leaves: [{ boot: memoryFixtures.boot, first: number, last: number }],
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
