/**
 * What one address may ask of the auth proxy. Whoever has a configuration's id, which every page shows, can ask for codes and sign-ups;
 * this bounds what one place can do. Counts are this gateway's own, and end with it.
 */
import { Fault } from "@keystead/core/fault.ts";

export type ProxyBudgets = {
  /** In an hour, for each address. */
  signUps: number;
  codes: number;
};

export const defaultBudgets: ProxyBudgets = { signUps: 100, codes: 30 };

export type HourlyBudget = {
  /** Takes one; throws where none is left in this hour. */
  take(address: string | undefined): void;
};

const hourMs = 3_600_000;
const maxAddresses = 20_000;

export function createHourlyBudget(limit: number, now: () => number = Date.now): HourlyBudget {
  /** When each address took its last ones, the address that has asked last at the end. */
  const taken = new Map<string, number[]>();
  return {
    take(address) {
      const key = addressKey(address);
      const nowMs = now();
      const recent = (taken.get(key) ?? []).filter((atMs) => atMs > nowMs - hourMs);
      taken.delete(key);
      if (recent.length < limit) recent.push(nowMs);
      else {
        taken.set(key, recent);
        throw tooMany();
      }
      if (taken.size >= maxAddresses) for (const oldest of taken.keys().take(1)) taken.delete(oldest);
      taken.set(key, recent);
    },
  };
}

/** One person often has 2^64 addresses of IPv6. All whose address is not known share one budget. */
export function addressKey(address: string | undefined): string {
  if (address === undefined) return "unknown";
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === "" ? [] : tail.split(":");
  const zeros = address.includes("::") ? Array.from({ length: 8 - groups.length - behind.length }, () => "0") : [];
  return [...groups, ...zeros, ...behind].slice(0, 4).join(":");
}

function tooMany(): Fault {
  return new Fault("resource_exhausted", "Too many requests from this address. Please wait and try again later", {
    errorCode: "RATE_LIMIT_EXCEEDED",
  });
}

export type LiveCodes = {
  /** Holds a place for a code of this contact; the returned function gives it back. Throws where the address has two of them. */
  hold(contact: string, address: string | undefined, lifeMs: number): () => void;
};

const codesPerAddress = 2;
const maxContacts = 50_000;

/** A contact has three codes at a time. One address holds two of them at most, or anyone could keep a stranger from signing in. */
export function createLiveCodes(now: () => number = Date.now): LiveCodes {
  const ends = new Map<string, { endsAtMs: number }[]>();
  return {
    hold(contact, address, lifeMs) {
      const key = `${contact} ${addressKey(address)}`;
      const live = (ends.get(key) ?? []).filter(({ endsAtMs }) => endsAtMs > now());
      if (live.length >= codesPerAddress) {
        throw new Fault(
          "resource_exhausted",
          "Max number of OTPs have been initiated from this address for this contact; wait until one expires",
          { errorCode: "RATE_LIMIT_EXCEEDED" },
        );
      }
      const place = { endsAtMs: now() + lifeMs };
      ends.delete(key);
      if (ends.size >= maxContacts) for (const oldest of ends.keys().take(1)) ends.delete(oldest);
      ends.set(key, [...live, place]);
      return () => {
        place.endsAtMs = 0;
      };
    },
  };
}
