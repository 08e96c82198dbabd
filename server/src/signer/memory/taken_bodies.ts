/**
 * Bodies that could run in more than one organization, each with the one that took it: such a body names an organization without a parent,
 * and either that or one of its sub-organizations takes it. No state of theirs knows about the others, so this is what keeps the bytes from
 * running twice. Notes are kept below the organization that the body names, by the minute that it names itself, for as long as it could be
 * sent again.
 *
 * There is one bound for all notes, and it is shared fairly: whoever holds more than its share is refused its own next sign-in, never
 * somebody else's. A note is given up before its time only for the organization that the body names: from then on nothing of those minutes
 * is taken there, and never of the last few minutes.
 */
import { Fault } from "@keystead/core/fault.ts";
import { digestKey } from "../../state/digest.ts";
import { liveness, oldestSlot, slotMs, slotOf } from "../../state/journal.ts";

export const takenDigestLength = 16;

/** A note takes about a hundred bytes, and twice that where its organization has no other. */
const maxTakenBodies = 400_000;

/**
 * Each may hold one part in so many of what is left to it. All that name one organization: of what is left of the whole. The named
 * organization itself, and each one below it: of what is left to them together. Anybody may be let sign up below, so one of those gets
 * little, and a member who floods the named one must not keep its root members out. As the parts are of what is left, there is something
 * for one that holds nothing, even where hundreds hold all they may.
 */
const partsOf = { named: 3, itself: 4, itsRootMembers: 2, below: 64 } as const;

/** As far as a client's clock may be ahead, it may be behind: bodies of these minutes are refused to nobody for want of space. */
const keptMs = liveness.futureMs;

/** Of the fingerprint the first half: finding a second body for it is out of anybody's reach. */
export type TakenBody = {
  /** The organization that the body names. */
  namedId: Uint8Array;
  bodyMs: number;
  fingerprint: Uint8Array;
  /** The one that runs it. */
  organizationId: Uint8Array;
};

/** What is kept of a body. */
export type TakenNote = { slot: number; fingerprint: Uint8Array; organizationId: Uint8Array };

/** Notes about bodies that name the same organization. */
export type TakenNotes = {
  namedId: Uint8Array;
  /** Bodies of earlier minutes are not known any more. */
  floor: number;
  notes: readonly TakenNote[];
};

export type TakenBodies = {
  /** The first minute of which bodies that name this organization are known. */
  floorOf(namedId: Uint8Array): number;
  /** Undefined when nobody has taken it. */
  find(body: TakenBody): string | undefined;
  /** Forgets what is too old to be sent again by now. */
  forgetOld(nowMs: number): void;
  /** Makes sure that one more may be noted; throws where its organization holds its share already. May raise the floor. */
  makeSpace(body: TakenBody, isRootMember: () => boolean, nowMs: number): void;
  add(notes: TakenNotes): void;
  /** One for each organization that is named, also where only the floor is left. */
  all(): Iterable<TakenNotes>;
};

/** An organization that holds notes. All of its notes refer to this one object, which keeps a note small. */
type Holder = { readonly name: string; count: number };

/** Of one organization that bodies name: the notes of each minute, by fingerprint. */
type Named = {
  floor: number;
  count: number;
  slots: Map<number, Map<string, Holder>>;
  holders: Map<string, Holder>;
};

export function createTakenBodies(maxBodies = maxTakenBodies): TakenBodies {
  /** One for each organization without a parent. Only the operator makes those, so what is left of an idle one may stay. */
  const byNamed = new Map<string, Named>();
  let count = 0;
  let forgottenUpTo = 0;

  function forgetSlot(named: Named, slot: number): void {
    for (const holder of named.slots.get(slot)?.values() ?? []) {
      holder.count -= 1;
      named.count -= 1;
      count -= 1;
      if (holder.count === 0) named.holders.delete(holder.name);
    }
    named.slots.delete(slot);
    named.floor = Math.max(named.floor, slot + 1);
  }

  function forgetBefore(named: Named, before: number): void {
    for (const slot of named.slots.keys()) if (slot < before) forgetSlot(named, slot);
  }

  function hasShare(named: Named | undefined, { namedId, organizationId }: TakenBody, isRootMember: () => boolean) {
    const left = (maxBodies - count) / partsOf.named - (named?.count ?? 0);
    const name = digestKey(organizationId);
    const held = named?.holders.get(name)?.count ?? 0;
    if (name !== digestKey(namedId)) return held * partsOf.below < left;
    return held * partsOf.itself < left || (held * partsOf.itsRootMembers < left && isRootMember());
  }

  return {
    floorOf: (namedId) => byNamed.get(digestKey(namedId))?.floor ?? 0,
    find({ namedId, bodyMs, fingerprint }) {
      return byNamed.get(digestKey(namedId))?.slots.get(slotOf(bodyMs))?.get(keyOf(fingerprint))?.name;
    },
    forgetOld(nowMs) {
      const oldest = oldestSlot(nowMs);
      // Once a minute: all of them are looked through.
      if (oldest === forgottenUpTo) return;
      forgottenUpTo = oldest;
      for (const named of byNamed.values()) forgetBefore(named, oldest);
    },
    makeSpace(body, isRootMember, nowMs) {
      const named = byNamed.get(digestKey(body.namedId));
      const kept = slotOf(Math.max(keptMs, nowMs) - keptMs);
      while (!hasShare(named, body, isRootMember)) {
        const oldest = Math.min(...(named?.slots.keys() ?? []));
        if (named === undefined || oldest >= kept) throw tooMany();
        forgetSlot(named, oldest);
      }
    },
    add({ namedId, floor, notes }) {
      const key = digestKey(namedId);
      const named = byNamed.get(key) ?? { floor: 0, count: 0, slots: new Map(), holders: new Map() };
      byNamed.set(key, named);
      forgetBefore(named, floor);
      named.floor = Math.max(named.floor, floor);
      for (const note of notes) if (addNote(named, note)) count += 1;
    },
    *all() {
      for (const [key, named] of byNamed) {
        yield { namedId: Uint8Array.fromHex(key), floor: named.floor, notes: [...notesOf(named)] };
      }
    },
  };
}

/** False where it is known, or too old to be kept. */
function addNote(named: Named, { slot, fingerprint, organizationId }: TakenNote): boolean {
  if (slot < named.floor) return false;
  const taken = named.slots.get(slot) ?? new Map<string, Holder>();
  named.slots.set(slot, taken);
  const key = keyOf(fingerprint);
  if (taken.has(key)) return false;
  const name = digestKey(organizationId);
  const holder = named.holders.get(name) ?? { name, count: 0 };
  named.holders.set(name, holder);
  taken.set(key, holder);
  holder.count += 1;
  named.count += 1;
  return true;
}

function* notesOf({ slots }: Named): Generator<TakenNote> {
  for (const [slot, taken] of slots) {
    for (const [key, { name }] of taken) {
      yield { slot, fingerprint: Uint8Array.fromHex(key), organizationId: Uint8Array.fromHex(name) };
    }
  }
}

function keyOf(fingerprint: Uint8Array): string {
  return digestKey(fingerprint.subarray(0, takenDigestLength));
}

/** Whether this organization has taken it; throws where another has, or where nobody can tell. */
export function isTakenBy(taken: TakenBodies, body: TakenBody): boolean {
  const taker = taken.find(body);
  if (taker === digestKey(body.organizationId)) return true;
  if (taker !== undefined) {
    throw new Fault(
      "failed_precondition",
      "this request was made in another organization before; send it again with a new timestampMs",
    );
  }
  const floor = taken.floorOf(body.namedId);
  if (slotOf(body.bodyMs) >= floor) return false;
  const from = new Date(floor * slotMs).toISOString();
  throw new Fault(
    "invalid_argument",
    `request timestamp is outside the allowed window: sign-ins from before ${from} are not accepted any more; send it again with a ` +
      "new timestampMs",
    { errorCode: "REQUEST_INVALID" },
  );
}

function tooMany(): Fault {
  return new Fault("resource_exhausted", "too many sign-ins of this organization in the last minutes; try again later");
}
