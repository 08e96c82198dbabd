/**
 * Bodies that could run in more than one organization, each with the one that took it: such a body names a parent, and either that or one
 * of its sub-organizations takes it. No state of theirs knows about the others, so this is what keeps the bytes from running twice. They
 * are kept by the minute that they name themselves, for as long as they could be sent again; when there are too many the oldest minutes
 * go, and nothing of those minutes is taken any more.
 */
import { Fault } from "@keystead/core/fault.ts";
import { digestKey } from "../../state/digest.ts";
import { oldestSlot, slotMs, slotOf } from "../../state/journal.ts";

export const takenDigestLength = 16;

/** Of the fingerprint the first half: finding a second body for it is out of anybody's reach. */
export type TakenBody = { bodyMs: number; fingerprint: Uint8Array; organizationId: Uint8Array };

export type TakenBodies = {
  /** Bodies of earlier minutes are not known any more. */
  readonly floor: number;
  /** Undefined when nobody has taken it. */
  find(fingerprint: Uint8Array, bodyMs: number): string | undefined;
  add(body: TakenBody): void;
  /** Forgets what is too old to be sent again by now, and the oldest where there are too many. */
  forgetOld(nowMs: number): void;
  raiseFloor(floor: number): void;
  values(): Iterable<TakenBody>;
};

type Taker = { bodyMs: number; fingerprint: Uint8Array; organizationId: Uint8Array };

export function createTakenBodies(maxBodies = 100_000): TakenBodies {
  const slots = new Map<number, Map<string, Taker>>();
  let floor = 0;
  let count = 0;

  function forgetSlot(slot: number): void {
    count -= slots.get(slot)?.size ?? 0;
    slots.delete(slot);
    floor = Math.max(floor, slot + 1);
  }

  return {
    get floor() {
      return floor;
    },
    find(fingerprint, bodyMs) {
      const taker = slots.get(slotOf(bodyMs))?.get(keyOf(fingerprint));
      return taker && digestKey(taker.organizationId);
    },
    add({ bodyMs, fingerprint, organizationId }) {
      const slot = slotOf(bodyMs);
      if (slot < floor) return;
      const taken = slots.get(slot) ?? new Map<string, Taker>();
      slots.set(slot, taken);
      const key = keyOf(fingerprint);
      if (taken.has(key)) return;
      // Copies: what is given may be a view into a whole file.
      taken.set(key, {
        bodyMs,
        fingerprint: fingerprint.slice(0, takenDigestLength),
        organizationId: Uint8Array.from(organizationId),
      });
      count += 1;
    },
    forgetOld(nowMs) {
      const oldest = oldestSlot(nowMs);
      const ordered = [...slots.keys()].sort((a, b) => a - b);
      for (const slot of ordered) if (slot < oldest || count > maxBodies) forgetSlot(slot);
    },
    raiseFloor(to) {
      for (const slot of slots.keys()) if (slot < to) forgetSlot(slot);
      floor = Math.max(floor, to);
    },
    *values() {
      for (const taken of slots.values()) yield* taken.values();
    },
  };
}

function keyOf(fingerprint: Uint8Array): string {
  return digestKey(fingerprint.subarray(0, takenDigestLength));
}

/** Whether this organization has taken it; throws where another has, or where nobody can tell. */
export function isTakenBy(taken: TakenBodies, { fingerprint, bodyMs, organizationId }: TakenBody): boolean {
  const taker = taken.find(fingerprint, bodyMs);
  if (taker === digestKey(organizationId)) return true;
  if (taker !== undefined) {
    throw new Fault(
      "failed_precondition",
      "this request was made in another organization before; send it again with a new timestampMs",
    );
  }
  if (slotOf(bodyMs) >= taken.floor) return false;
  const from = new Date(taken.floor * slotMs).toISOString();
  throw new Fault(
    "invalid_argument",
    `request timestamp is outside the allowed window: sign-ins from before ${from} are not accepted any more; send it again with a ` +
      "new timestampMs",
    { errorCode: "REQUEST_INVALID" },
  );
}
