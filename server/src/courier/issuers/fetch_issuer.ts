/** What an issuer publishes about itself: OpenID Connect Discovery 1.0, section 4, and its key set (RFC 7517). */
import { Fault } from "@keystead/core/fault.ts";
import { maxIssuerBytes } from "@keystead/core/oidc/issuer_statement.ts";
import { readPublishedKeys, writeKeySet } from "@keystead/core/oidc/key_set.ts";
import { FetchFailure } from "../fetch/fetch_failure.ts";
import type { FetchedJson, FetchJson } from "../fetch/fetch_json.ts";
import { isLoopbackHost } from "../fetch/outgoing_url.ts";
import { unusable } from "./issuer_failure.ts";

const maxUrlLength = 2_048;
const discoveryDocument = "its discovery document";

/**
 * Where the issuer's document is. An issuer has the one spelling that the URL standard gives it: else one host would have endless issuers,
 * each with a fetch of its own.
 */
export function discoveryUrlOf(issuer: string): string {
  const url = URL.parse(issuer);
  const isPlain = url !== null && (url.href === issuer || url.href === `${issuer}/`) && !/[?#]/.test(issuer);
  if (!isPlain || new TextEncoder().encode(issuer).length > maxIssuerBytes) {
    throw unusable(issuer.slice(0, maxIssuerBytes), "an issuer is a plain https address without a query");
  }
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

/** Throws where the issuer is not asked for how it is written. */
export function refuseUnasked(issuer: string, checkAddress: (url: string) => void): void {
  const url = discoveryUrlOf(issuer);
  try {
    checkAddress(url);
  } catch (error) {
    throw inWordsOf(issuer, discoveryDocument, error);
  }
}

/** The address of the keys. The document must be the issuer's own: else a host could speak for another. */
export async function fetchKeysUrl(fetchJson: FetchJson, issuer: string): Promise<string> {
  const { value } = await fetchPart(fetchJson, issuer, discoveryUrlOf(issuer), discoveryDocument);
  const { issuer: named, jwks_uri: keysUrl } = membersOf(value);
  if (named !== issuer) throw unusable(issuer, "its discovery document is of another issuer");
  if (typeof keysUrl !== "string" || keysUrl.length > maxUrlLength) {
    throw unusable(issuer, "its discovery document has no `jwks_uri`");
  }
  if (isOnThisMachine(keysUrl) && !isOnThisMachine(issuer)) {
    throw unusable(issuer, "its discovery document names keys on this machine");
  }
  return keysUrl;
}

/** The usable keys, as a statement carries them. */
export async function fetchKeys(fetchJson: FetchJson, issuer: string, keysUrl: string): Promise<string> {
  const { bytes } = await fetchPart(fetchJson, issuer, keysUrl, "its keys");
  try {
    return writeKeySet(readPublishedKeys(bytes));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw unusable(issuer, `its keys: ${error.message}`);
  }
}

async function fetchPart(fetchJson: FetchJson, issuer: string, url: string, part: string): Promise<FetchedJson> {
  try {
    return await fetchJson({ url });
  } catch (error) {
    throw inWordsOf(issuer, part, error);
  }
}

function inWordsOf(issuer: string, part: string, error: unknown): unknown {
  return error instanceof FetchFailure ? unusable(issuer, `${part}: ${error.message}`) : error;
}

/** Own members alone: a document has none of those that JavaScript adds. */
function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function isOnThisMachine(url: string): boolean {
  return isLoopbackHost(URL.parse(url)?.hostname ?? "");
}
