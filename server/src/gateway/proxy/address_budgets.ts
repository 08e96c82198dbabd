/**
 * What one address may ask of the auth proxy. Whoever has a configuration's id, which every page shows, can ask for codes, sign-ups and
 * look-ups, and have issuers and providers asked; this bounds what one place can do. Counts are this gateway's own, and end with it.
 */
import { BudgetSpent } from "../bounds/budget_spent.ts";

export type ProxyBudgets = {
  /** In an hour, for each address. */
  signUps: number;
  codes: number;
  /** Answers to codes, and logins by them and by identities. A sign-in by a code or at an OAuth 2.0 provider is two. */
  signIns: number;
  /** Of accounts. Clients ask one to three times for each sign-in. */
  lookUps: number;
};

export const defaultBudgets: ProxyBudgets = { signUps: 100, codes: 30, signIns: 300, lookUps: 600 };

/** Issuers that never worked, for each site in an hour: the courier asks 1,000 for all together. */
export const newIssuersPerSite = 20;

export type HourlyBudget = {
  /** Throws where none is left in this hour. It only looks: nothing is taken, and the address does not count as one that has asked. */
  check(address: string | undefined): void;
  /** Takes one; throws where none is left in this hour. */
  take(address: string | undefined): void;
  /** What was taken a moment ago, and cost nothing. */
  giveBack(address: string | undefined): void;
};

/** What was taken counts for an hour, to five minutes: so an address costs the same memory, however often it asks. */
const partMs = 300_000;
const partsOfAnHour = 12;
const maxAddresses = 20_000;

/** How many an address has taken in each five minutes in which it took any. */
type Taken = Map<number, number>;

export function createHourlyBudget(
  limit: number,
  now: () => number = Date.now,
  keyOf: (address: string | undefined) => string = addressKey,
): HourlyBudget {
  /** The address that has tried last to take one is at the end. */
  const addresses = new Map<string, Taken>();
  const partNow = () => Math.floor(now() / partMs);

  return {
    check(address) {
      const taken = addresses.get(keyOf(address));
      if (sumOfAnHour(taken ?? new Map(), partNow()) >= limit) throw new BudgetSpent();
    },
    take(address) {
      const key = keyOf(address);
      const part = partNow();
      const taken: Taken = addresses.get(key) ?? new Map();
      for (const before of taken.keys()) if (!isOfTheHour(before, part)) taken.delete(before);
      addresses.delete(key);
      if (addresses.size >= maxAddresses) for (const oldest of addresses.keys().take(1)) addresses.delete(oldest);
      addresses.set(key, taken);
      if (sumOfAnHour(taken, part) >= limit) throw new BudgetSpent();
      taken.set(part, (taken.get(part) ?? 0) + 1);
    },
    giveBack(address) {
      const taken = addresses.get(keyOf(address));
      const part = partNow();
      const count = taken?.get(part) ?? 0;
      if (count > 0) taken?.set(part, count - 1);
    },
  };
}

function isOfTheHour(part: number, now: number): boolean {
  return part > now - partsOfAnHour;
}

function sumOfAnHour(taken: Taken, now: number): number {
  return taken.entries().reduce((sum, [part, count]) => (isOfTheHour(part, now) ? sum + count : sum), 0);
}

/** One person often has 2^64 addresses of IPv6. All whose address is not known share one budget. */
export function addressKey(address: string | undefined): string {
  return networkOf(address, 4);
}

/** Whose addresses those of one place are: a site may have 65,536 of such networks of IPv6. */
export function siteKey(address: string | undefined): string {
  return networkOf(address, 3);
}

/** Of an address of IPv6 so many groups, of another all. */
function networkOf(address: string | undefined, groupCount: number): string {
  if (address === undefined) return "unknown";
  if (!address.includes(":")) return address;
  const [head = "", tail = ""] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const behind = tail === "" ? [] : tail.split(":");
  const zeros = address.includes("::") ? Array.from({ length: 8 - groups.length - behind.length }, () => "0") : [];
  return [...groups, ...zeros, ...behind].slice(0, groupCount).join(":");
}
