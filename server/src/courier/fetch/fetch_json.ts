/**
 * The one way by which the courier fetches from addresses that others have chosen. What is asked, and by whom the name is answered, may
 * be an attacker's; this holds what the courier reaches to public addresses under valid certificates, and what an answer costs to limits.
 */
import { readJson } from "@keystead/core/encoding/json.ts";
import { Fault } from "@keystead/core/fault.ts";
import { type AddressRules, findCheckedAddresses } from "./checked_addresses.ts";
import { exchange, type OutgoingRequest } from "./exchange.ts";
import { FetchFailure } from "./fetch_failure.ts";
import { createFetchSlots } from "./fetch_slots.ts";
import { parseOutgoingUrl, shortHost, type UrlRules } from "./outgoing_url.ts";
import { resolveName } from "./resolve_name.ts";

/** The answer, read, and the bytes that it was read from. */
export type FetchedJson = { status: number; value: unknown; bytes: Uint8Array };
/** Rejects with a FetchFailure. */
export type FetchJson = (request: OutgoingRequest) => Promise<FetchedJson>;

export const fetchLimits = {
  /** Waiting for a turn, look-up, connection and answer together. */
  totalMs: 5_000,
  maxBytes: 256 * 1024,
  /** Brackets, commas and colons: parsing the worst 256 KiB would take as long as a hundred key sets. */
  maxMarks: 20_000,
  total: 32,
  perHost: 4,
  waiting: 64,
} as const;

export type FetchRules = UrlRules &
  Omit<AddressRules, "resolve"> & {
    resolve?: AddressRules["resolve"];
    limits?: { readonly [L in keyof typeof fetchLimits]: number };
  };

export function createFetchJson({ resolve = resolveName, limits = fetchLimits, ...rules }: FetchRules): FetchJson {
  const slots = createFetchSlots(limits);
  const addressRules = { ...rules, resolve };

  async function fetchFrom(url: URL, request: OutgoingRequest, signal: AbortSignal): Promise<FetchedJson> {
    const end = await slots.take(url.host, signal);
    try {
      const addresses = await findCheckedAddresses(url, addressRules, signal);
      const { status, bytes } = await exchange(url, addresses, request, limits, signal);
      return { status, value: parse(bytes, url, limits), bytes };
    } finally {
      end();
    }
  }

  return async (request) => {
    const url = parseOutgoingUrl(request.url, rules);
    const signal = AbortSignal.timeout(limits.totalMs);
    try {
      return await fetchFrom(url, request, signal);
    } catch (error) {
      if (!signal.aborted || (error instanceof FetchFailure && error.kind !== "unreachable")) throw error;
      throw new FetchFailure("timeout", `${shortHost(url)} did not answer within ${limits.totalMs / 1000} seconds`);
    }
  };
}

function parse(bytes: Uint8Array, url: URL, { maxBytes, maxMarks }: { maxBytes: number; maxMarks: number }): unknown {
  try {
    return readJson(bytes, maxBytes, maxMarks);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new FetchFailure(
      "answer",
      `${shortHost(url)} answers with JSON that is not read: ${error.detail ?? "not JSON"}`,
    );
  }
}
