/**
 * When each one-time code was started: at this signer's first sight of the body that asks for it. The same body again finds its note and
 * renews nothing. By the same notes codes are counted, per contact and per user identifier, each known by a keyed hash alone. They are kept
 * for as long as a body could be sent again, which is longer than an hour.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { digestKey } from "../../state/digest.ts";
import { clockToleranceMs, liveness, slotMs } from "../../state/journal.ts";
import { createExpiringMap } from "./expiring_map.ts";

export type CodeTimes = { startedAtMs: number; endsAtMs: number };

/** A code's id and times: facts of its record, which carries the signer's mark. */
export type OtpCode = CodeTimes & { otpId: Uint8Array };

export type CodeStart = OtpCode & {
  /** The organization, or its parent where it has one: none may take the places of all others. */
  ownerId: Uint8Array;
  /** The sub-organization whose own user asked for it; undefined where a user of an organization without a parent did. */
  subOrganizationId: Uint8Array | undefined;
  /** Keyed hash of the contact below its owner. */
  contact: Uint8Array;
  /** Keyed hash of `userIdentifier`. */
  identifier: Uint8Array | undefined;
};

/** How many codes may be started. Published clients show these to their users. */
export const codeLimits = {
  liveCodesPerContact: 3,
  codesPerContactAndHour: 10,
  codesPerIdentifier: 3,
  identifierMs: 3 * 60_000,
} as const;

/** No code lasts longer. */
export const maxCodeMs = 600_000;

const hourMs = 3_600_000;

/** A body may come up to five minutes before its time and an hour after; the clock may step back; entries go by the minute. */
const keptMs = liveness.pastMs + liveness.futureMs + clockToleranceMs + slotMs;

/** How many notes there are at most, of one owner, and of the users of one sub-organization, who are often one person. */
export type CodePlaces = { all: number; perOwner: number; perSubOrganization: number };
export const codePlaces: CodePlaces = { all: 200_000, perOwner: 100_000, perSubOrganization: 1_000 };

export type CodeStarts = {
  readonly size: number;
  /** When it begins and ends; undefined when no body has asked for it here. */
  find(otpId: Uint8Array): CodeTimes | undefined;
  /** Throws `resource_exhausted` where one more is too many. */
  check(start: CodeStart, nowMs: number, isSpent: (otpId: string) => boolean): void;
  add(start: CodeStart): void;
  forget(nowMs: number): void;
  /** After the clock was set back: notes from its future would count for ever. */
  dropAfter(timeMs: number): void;
  values(): Iterable<CodeStart>;
};

/** Bytes are kept as hex: small arrays take several times as much. */
type KeptStart = CodeTimes & {
  otpId: string;
  ownerId: string;
  subOrganizationId: string | undefined;
  contact: string;
  identifier: string | undefined;
};

export function createCodeStarts(places: CodePlaces = codePlaces): CodeStarts {
  const starts = createExpiringMap<KeptStart>();
  const byContact = createGroups();
  const byIdentifier = createGroups();
  const byOwner = createCounts();
  const bySubOrganization = createCounts();

  function dropped(start: KeptStart): void {
    byContact.remove(start.contact, start);
    byIdentifier.remove(start.identifier, start);
    byOwner.add(start.ownerId, -1);
    bySubOrganization.add(start.subOrganizationId, -1);
  }

  return {
    get size() {
      return starts.size;
    },
    find: (otpId) => starts.get(digestKey(otpId)),
    check(start, nowMs, isSpent) {
      const { ownerId, subOrganizationId, contact, identifier } = toKept(start);
      const ofContact = byContact.of(contact);
      const live = ofContact.filter(({ otpId, endsAtMs }) => endsAtMs > nowMs && !isSpent(otpId));
      const lately = ofContact.filter(({ startedAtMs }) => startedAtMs > nowMs - hourMs);
      const sinceMs = nowMs - codeLimits.identifierMs;
      const ofIdentifier = byIdentifier.of(identifier).filter(({ startedAtMs }) => startedAtMs > sinceMs);
      if (
        live.length >= codeLimits.liveCodesPerContact ||
        lately.length >= codeLimits.codesPerContactAndHour ||
        ofIdentifier.length >= codeLimits.codesPerIdentifier
      ) {
        throw tooMany("wait some minutes and try again");
      }
      const { perSubOrganization } = places;
      if (bySubOrganization.of(subOrganizationId) >= perSubOrganization) {
        throw tooMany(`this organization has started ${perSubOrganization} within the last hour; try again later`);
      }
      if (byOwner.of(ownerId) >= places.perOwner) {
        throw tooMany(`this organization has started ${places.perOwner} within the last hour; try again later`);
      }
      if (starts.size >= places.all) throw tooMany("too many were started within the last hour; try again later");
    },
    add(start) {
      const kept = toKept(start);
      if (starts.get(kept.otpId) !== undefined) return;
      starts.set(kept.otpId, kept, kept.startedAtMs + keptMs);
      byContact.add(kept.contact, kept);
      byIdentifier.add(kept.identifier, kept);
      byOwner.add(kept.ownerId, 1);
      bySubOrganization.add(kept.subOrganizationId, 1);
    },
    forget(nowMs) {
      for (const start of starts.forget(nowMs)) dropped(start);
    },
    dropAfter(timeMs) {
      for (const start of [...starts.values()].filter(({ startedAtMs }) => startedAtMs > timeMs)) {
        starts.delete(start.otpId);
        dropped(start);
      }
    },
    *values() {
      for (const { otpId, ownerId, subOrganizationId, contact, identifier, ...times } of starts.values()) {
        yield {
          otpId: fromHex(otpId),
          ownerId: fromHex(ownerId),
          subOrganizationId: subOrganizationId === undefined ? undefined : fromHex(subOrganizationId),
          contact: fromHex(contact),
          identifier: identifier === undefined ? undefined : fromHex(identifier),
          ...times,
        };
      }
    },
  };
}

function toKept(start: CodeStart): KeptStart {
  const { otpId, ownerId, subOrganizationId, contact, identifier, startedAtMs, endsAtMs } = start;
  return {
    otpId: digestKey(otpId),
    ownerId: digestKey(ownerId),
    subOrganizationId: subOrganizationId && digestKey(subOrganizationId),
    contact: digestKey(contact),
    identifier: identifier && digestKey(identifier),
    startedAtMs,
    endsAtMs,
  };
}

type Counts = { of(key: string | undefined): number; add(key: string | undefined, change: 1 | -1): void };

function createCounts(): Counts {
  const counts = new Map<string, number>();
  const of = (key: string | undefined) => (key === undefined ? 0 : (counts.get(key) ?? 0));
  return {
    of,
    add(key, change) {
      if (key === undefined) return;
      const count = of(key) + change;
      if (count <= 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}

type Groups = {
  of(key: string | undefined): readonly KeptStart[];
  add(key: string | undefined, start: KeptStart): void;
  remove(key: string | undefined, start: KeptStart): void;
};

/** Starts that have the same hash. The limits keep each group short. */
function createGroups(): Groups {
  const groups = new Map<string, KeptStart[]>();
  return {
    of: (key) => (key === undefined ? [] : (groups.get(key) ?? [])),
    add(key, start) {
      if (key === undefined) return;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [start]);
      else group.push(start);
    },
    remove(key, start) {
      if (key === undefined) return;
      const rest = (groups.get(key) ?? []).filter((each) => each !== start);
      if (rest.length === 0) groups.delete(key);
      else groups.set(key, rest);
    },
  };
}

/** Clients look for the first words. */
function tooMany(why: string): Fault {
  return new Fault("resource_exhausted", `Max number of OTPs have been initiated; ${why}`, {
    errorCode: "RATE_LIMIT_EXCEEDED",
  });
}
