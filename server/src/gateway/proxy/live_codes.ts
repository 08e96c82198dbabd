/**
 * Codes that an address has started for one contact and nobody has answered. A contact has three live codes, and ten in an hour
 * (signer/memory/code_starts.ts). One address gets a part of them, or anyone could keep a stranger from signing in.
 */
import { Fault } from "@keystead/core/fault.ts";
import { addressKey } from "./address_budgets.ts";

export type LiveCodes = {
  /** Holds a place for a code of this contact. Throws where the address has all that it may. */
  hold(contact: string, address: string | undefined, lifeMs: number): CodePlace;
  /** The code was answered: only whoever has the contact can do that, so it counts no more. Others than ours are let be. */
  answered(otpId: string): void;
};

export type CodePlace = {
  started(otpId: string): void;
  /** No code came of it. */
  giveBack(): void;
};

const liveCodesPerAddress = 2;
const codesPerAddressAndHour = 5;
const hourMs = 3_600_000;
const maxContacts = 50_000;
/** As many as are live at once. */
const maxIds = liveCodesPerAddress * maxContacts;

type Place = { startedAtMs: number; endsAtMs: number };

export function createLiveCodes(now: () => number = Date.now): LiveCodes {
  /** By contact and address. Those that have asked last are at the end, of both. */
  const places = new Map<string, Place[]>();
  const byId = new Map<string, () => void>();

  function giveBack(key: string, place: Place): void {
    const others = (places.get(key) ?? []).filter((each) => each !== place);
    if (others.length === 0) places.delete(key);
    // Keeps its place in the order.
    else places.set(key, others);
  }

  return {
    hold(contact, address, lifeMs) {
      const key = `${contact} ${addressKey(address)}`;
      const nowMs = now();
      const lately = (places.get(key) ?? []).filter(({ startedAtMs }) => startedAtMs > nowMs - hourMs);
      const live = lately.filter(({ endsAtMs }) => endsAtMs > nowMs);
      if (live.length >= liveCodesPerAddress) throw tooMany("wait until one expires");
      if (lately.length >= codesPerAddressAndHour) throw tooMany("try again in an hour");
      const place = { startedAtMs: nowMs, endsAtMs: nowMs + lifeMs };
      places.delete(key);
      dropOldest(places, maxContacts);
      places.set(key, [...lately, place]);
      return {
        started(otpId) {
          dropOldest(byId, maxIds);
          byId.set(otpId.toLowerCase(), () => giveBack(key, place));
        },
        giveBack: () => giveBack(key, place),
      };
    },
    answered(otpId) {
      const id = otpId.toLowerCase();
      byId.get(id)?.();
      byId.delete(id);
    },
  };
}

function dropOldest(entries: Map<string, unknown>, max: number): void {
  if (entries.size >= max) for (const oldest of entries.keys().take(1)) entries.delete(oldest);
}

/** Clients look for the first words. */
function tooMany(what: string): Fault {
  return new Fault(
    "resource_exhausted",
    `Max number of OTPs have been initiated from this address for this contact; ${what}`,
    { errorCode: "RATE_LIMIT_EXCEEDED" },
  );
}
