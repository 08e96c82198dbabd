/**
 * Turns of the auth proxy's requests. Each reads a configuration from the database and parses its body before anything is known of its
 * caller but the address. So a site has one request read at a time, sites take turns, as do the addresses of one, and while organizations
 * are served, all together rest for most of the time. A site is an address of IPv4 or a /48 of IPv6: whoever has one has 65,536 addresses
 * that could each be the first to ask. Nothing slow may be waited for within a turn: no signer, issuer or captcha.
 */
import { Fault } from "@keystead/core/fault.ts";
import { metered } from "../../store/thread_meter.ts";
import { createAdmission } from "../bounds/admission.ts";
import type { AdmissionLimits } from "../bounds/admission_limits.ts";
import { admissionLimits, memoryBounds } from "../bounds/memory_bounds.ts";
import { Overloaded } from "../bounds/overloaded.ts";
import { createPresence, type Presence, restAfter } from "../bounds/presence.ts";
import { addressKey, siteKey } from "./address_budgets.ts";

export type ProxyTurns = {
  /** Does the work when it is this address's turn. Refused when too many wait, or for too long. */
  take<T>(address: string | undefined, bodyBytes: number, work: () => Promise<T>): Promise<T>;
  waitingBytes(): number;
};

/** More than one, so that one whose database answers late does not stop the others. */
const places = 2;

/** What is done in a turn costs about the same for all, so the addresses' turns are counted. */
const cost = 1_000;

export const proxyTurnLimits: AdmissionLimits = {
  inFlight: 1,
  cost: Number.POSITIVE_INFINITY,
  allInFlight: places,
  allCost: Number.POSITIVE_INFINITY,
  allBytes: memoryBounds.proxy,
  allReplies: Number.POSITIVE_INFINITY,
  waiting: 256,
  waitingBytes: memoryBounds.proxy,
  waitMs: admissionLimits.waitMs,
};

/** People behind one address must not wait for long, however slow the machine is. */
const mostRestMs = 50;

/** No organization is called that: whoever was seen is somebody else. */
const proxy = "auth proxy";

export type ProxyTurnsOptions = {
  limits?: AdmissionLimits;
  /** The proxy's callers are not seen there: strangers must not make the long work of an organization rest. */
  presence?: Pick<Presence, "isAlone">;
  measure?: typeof metered;
};

export function createProxyTurns({
  limits = proxyTurnLimits,
  presence = createPresence(),
  measure = metered,
}: ProxyTurnsOptions = {}): ProxyTurns {
  const admission = createAdmission(limits);

  async function enter(site: string, address: string, bytes: number): Promise<void> {
    try {
      await admission.enter(site, { cost, bytes }, address);
    } catch (error) {
      throw inOurWords(error);
    }
  }

  return {
    async take(address, bodyBytes, work) {
      const site = siteKey(address);
      await enter(site, addressKey(address), bodyBytes);
      const { value, workedMs } = measure(work);
      try {
        return await value;
      } finally {
        // Each place rests for what both have taken: together they have less than a third of the thread.
        const restMs = presence.isAlone(proxy) ? 0 : Math.min(restAfter(places * workedMs()), mostRestMs);
        const leave = () => admission.leave(site, { cost, bytes: bodyBytes });
        // Other events come first in any case: whatever came in one poll would otherwise be one long piece of work.
        if (restMs > 0) setTimeout(leave, restMs);
        else setImmediate(leave);
      }
    },
    waitingBytes: admission.waitingBytes,
  };
}

/** An address is no organization. */
function inOurWords(error: unknown): unknown {
  if (error instanceof Overloaded) return new Overloaded("requests at once");
  if (!(error instanceof Fault) || error.code !== "resource_exhausted") return error;
  return new Fault("resource_exhausted", "too many requests wait; try again");
}
