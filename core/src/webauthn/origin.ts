/** Which web pages and apps may use a passkey: the origin that the browser reports, against the passkey's own domain. */
import type { Curves } from "../crypto/curves.ts";
import { sameBytes } from "../encoding/bytes.ts";
import type { ClientData } from "./client_data.ts";

/** What origins are checked against. */
export type OriginRule = {
  /** The organization's list; without one, the origin must belong to the passkey's domain. An empty list allows nothing. */
  allowedOrigins: readonly string[] | undefined;
  rpIdHash: Uint8Array;
};

/** An origin as browsers write it: lower case, international names in their ASCII form. No IP address can have passkeys. */
const webOrigin = /^(?<scheme>https?):\/\/(?<host>[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?$/;
/** The hash of the app's signing certificate. Android itself checks that the app may speak for the domain. */
const androidOrigin = /^android:apk-key-hash:[A-Za-z0-9_-]{1,64}$/;
/** A domain name has at most 253 characters. */
const maxOriginLength = 300;

/**
 * Why the page is not allowed; undefined when it is. A list says which pages a person sees when the browser asks for the passkey. So it
 * also holds for the page around a frame: that one decides what a person believes to approve.
 */
export function originFlaw(
  curves: Pick<Curves, "sha256">,
  { origin, topOrigin }: Pick<ClientData, "origin" | "topOrigin">,
  { allowedOrigins, rpIdHash }: OriginRule,
): string | undefined {
  if (origin.length > maxOriginLength) return "the origin is too long";
  if (allowedOrigins !== undefined) {
    if (!allowedOrigins.includes(origin)) return `the origin \`${origin}\` is not an allowed one`;
    return topOrigin === undefined || allowedOrigins.includes(topOrigin) ? undefined : frameFlaw(topOrigin);
  }
  if (androidOrigin.test(origin)) return undefined;
  const { scheme, host } = webOrigin.exec(origin)?.groups ?? {};
  if (host === undefined || (scheme !== "https" && !isLocalhost(host))) {
    return `the origin \`${origin}\` is neither https nor localhost`;
  }
  return isWithin(curves, host, rpIdHash) ? undefined : `the origin \`${origin}\` is outside the passkey's domain`;
}

function frameFlaw(topOrigin: string): string {
  if (topOrigin === "") return "the page is in a frame, and nothing says of which page";
  return `the page is in a frame of \`${topOrigin.slice(0, maxOriginLength)}\`, which is not an allowed origin`;
}

/** The whole domain is the machine's own (RFC 6761), and browsers allow passkeys in it without https. */
function isLocalhost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost");
}

const utf8 = new TextEncoder();

/** Whether the host, or a domain above it, is the one that was hashed. Only the hash of a passkey's domain is known. */
function isWithin({ sha256 }: Pick<Curves, "sha256">, host: string, rpIdHash: Uint8Array): boolean {
  for (let start = 0; ; ) {
    if (sameBytes(sha256(utf8.encode(host.slice(start))), rpIdHash)) return true;
    const dot = host.indexOf(".", start);
    if (dot < 0) return false;
    start = dot + 1;
  }
}
