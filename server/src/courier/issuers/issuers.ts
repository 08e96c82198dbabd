/**
 * Statements about issuers: what their keys were, and when. Strangers name issuers, so everything here is bounded: how often one issuer is
 * asked, how many new ones are asked about, how many are remembered.
 */
import { makeStatement, refetchPauseMs, type StatementMac } from "@keystead/core/oidc/issuer_statement.ts";
import { type IssuerRequest, statementAges } from "../../frames/courier_messages.ts";
import type { FetchJson } from "../fetch/fetch_json.ts";
import { fetchKeys, fetchKeysUrl, refuseUnasked } from "./fetch_issuer.ts";
import { IssuerFailure, unusable } from "./issuer_failure.ts";
import { createTokenBucket } from "./token_bucket.ts";

export const issuerLimits = {
  /** How old the address of the keys may be. */
  discoveryMs: 24 * 3_600_000,
  /** Between two fetches of one issuer's keys, and after a failure of an issuer that never worked. */
  pauseMs: refetchPauseMs,
  /** After a failure of an issuer that has worked. */
  retryMs: 10_000,
  /** The bound for all callers together; the gateway knows them and counts for each. */
  newPerHour: 1_000,
  /** The bound for those where the gateway says that somebody is registered. */
  registeredPerHour: 10_000,
  /** The bound for those that never worked. The others keep the rest of the fetches. */
  newAtOnce: 8,
  remembered: 500,
} as const;

export type IssuersDependencies = {
  fetchJson: FetchJson;
  /** Throws a FetchFailure for an address that is not fetched from for how it is written. */
  checkAddress(url: string): void;
  mac: StatementMac;
  /** The only ones that are asked; undefined: any. */
  allowed: ReadonlySet<string> | undefined;
  now(): number;
  /** A failure of an issuer that is configured or has worked, in words for the operator. */
  note(message: string): void;
  limits?: { readonly [L in keyof typeof issuerLimits]: number };
};

export type Issuers = {
  /** A statement that is newer than that, or an IssuerFailure. `onNew` is called where one that never worked is asked for it. */
  statementOf(request: IssuerRequest, onNew: () => void): Promise<Uint8Array>;
};

type Statement = { bytes: Uint8Array; fetchedAtMs: number };

type Known = {
  keysUrl: { url: string; fetchedAtMs: number } | undefined;
  statement: Statement | undefined;
  askedAtMs: number;
  failure: IssuerFailure | undefined;
  fetching: Promise<void> | undefined;
};

export function createIssuers(dependencies: IssuersDependencies): Issuers {
  const { fetchJson, checkAddress, mac, allowed, now, note, limits = issuerLimits } = dependencies;
  /** The one used last is the last. */
  const known = new Map<string, Known>();
  const newIssuers = createTokenBucket(limits.newPerHour, now);
  const registeredIssuers = createTokenBucket(limits.registeredPerHour, now);
  let newAtOnce = 0;

  /** A time that the clock has yet to reach is no time that has passed. */
  const isWithin = (sinceMs: number, spanMs: number) => now() >= sinceMs && now() - sinceMs < spanMs;

  function findKnown(issuer: string, isRegistered: boolean): Known {
    const found = known.get(issuer);
    if (found !== undefined) {
      known.delete(issuer);
      known.set(issuer, found);
      return found;
    }
    const bucket = isRegistered ? registeredIssuers : newIssuers;
    if (allowed === undefined && !bucket.take()) throw busy("too many new issuers were named; try again later");
    const entry: Known = {
      keysUrl: undefined,
      statement: undefined,
      askedAtMs: Number.NEGATIVE_INFINITY,
      failure: undefined,
      fetching: undefined,
    };
    known.set(issuer, entry);
    for (const [other, { fetching }] of known) {
      if (known.size <= limits.remembered) break;
      if (fetching === undefined && other !== issuer) known.delete(other);
    }
    return entry;
  }

  function findUsable({ statement }: Known, newerThanMs: number, ageMs: number): Uint8Array | undefined {
    if (statement === undefined || statement.fetchedAtMs <= newerThanMs) return undefined;
    return isWithin(statement.fetchedAtMs, ageMs) ? statement.bytes : undefined;
  }

  async function fetchStatement(issuer: string, entry: Known): Promise<Statement> {
    const { keysUrl } = entry;
    const isCurrent = keysUrl !== undefined && isWithin(keysUrl.fetchedAtMs, limits.discoveryMs);
    // Whatever fails, the next time begins with the document: the keys may have moved.
    entry.keysUrl = undefined;
    const current = isCurrent ? keysUrl : { url: await fetchKeysUrl(fetchJson, issuer), fetchedAtMs: now() };
    const keys = await fetchKeys(fetchJson, issuer, current.url);
    entry.keysUrl = current;
    const fetchedAtMs = now();
    return { bytes: makeStatement(mac, { issuer, keys, fetchedAtMs }), fetchedAtMs };
  }

  async function fetchNow(issuer: string, entry: Known, isNew: boolean, onNew: () => void): Promise<void> {
    if (isNew && newAtOnce >= limits.newAtOnce) throw busy("too many new issuers are asked at once; try again");
    if (isNew) {
      newAtOnce += 1;
      onNew();
    }
    entry.askedAtMs = now();
    try {
      entry.statement = await fetchStatement(issuer, entry);
      entry.failure = undefined;
    } catch (error) {
      if (!(error instanceof IssuerFailure)) throw error;
      entry.failure = error;
      if (!isNew) note(error.message);
    } finally {
      if (isNew) newAtOnce -= 1;
    }
  }

  /** How long it must not be asked again. */
  function pauseMsOf({ failure, statement }: Known): number {
    return failure !== undefined && statement !== undefined ? limits.retryMs : limits.pauseMs;
  }

  return {
    async statementOf({ issuer, newerThanMs, isRegistered }, onNew) {
      if (allowed !== undefined && !allowed.has(issuer)) {
        throw unusable(issuer, "KEYSTEAD_OIDC_ISSUERS of this server does not list it");
      }
      // Before it counts as a new one.
      refuseUnasked(issuer, checkAddress);
      const entry = findKnown(issuer, isRegistered);
      const fresh = findUsable(entry, newerThanMs, statementAges.freshMs);
      if (fresh !== undefined) return fresh;
      if (entry.fetching === undefined && !isWithin(entry.askedAtMs, pauseMsOf(entry))) {
        const isNew = entry.statement === undefined && allowed === undefined && !isRegistered;
        entry.fetching = fetchNow(issuer, entry, isNew, onNew).finally(() => {
          entry.fetching = undefined;
        });
      }
      await entry.fetching;
      const usable = findUsable(entry, newerThanMs, statementAges.usableMs);
      if (usable !== undefined) return usable;
      throw (
        entry.failure ?? unusable(issuer, "its keys were fetched within this minute, and the token's is not among them")
      );
    },
  };
}

function busy(why: string): IssuerFailure {
  return new IssuerFailure("busy", why);
}
