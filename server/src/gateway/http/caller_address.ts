/**
 * The IP address that a request comes from. Behind a proxy every connection comes from the proxy; its word, `X-Forwarded-For`, counts for
 * proxies that the operator trusts, and for nobody else: anyone can write that header.
 */
import {
  type Cidr,
  cidrContains,
  formatIpAddress,
  parseCidr,
  parseIpAddress,
} from "@keystead/core/encoding/ip_address.ts";

export type TrustedProxies = readonly Cidr[];

/** What is known of a request's way here. */
export type AddressedRequest = {
  /** Of the connection; undefined where it has none. */
  peer: string | undefined;
  /** The values of `X-Forwarded-For`, in order. */
  forwardedFor: readonly string[];
};

/** The addresses and blocks of a setting, with commas between them. Throws on anything else. */
export function parseTrustedProxies(text: string): TrustedProxies {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const cidr = parseCidr(entry.includes("/") ? entry : `${entry}/${entry.includes(":") ? 128 : 32}`);
      if (cidr === undefined) throw new Error(`\`${entry}\` is neither an IP address nor a CIDR block`);
      return cidr;
    });
}

/**
 * The last address that no trusted proxy vouches for, normalised; IPv4 inside IPv6 is IPv4. Undefined where that is no address: then the
 * caller's is unknown, and must not be taken for the proxy's.
 */
export function callerAddress({ peer, forwardedFor }: AddressedRequest, trusted: TrustedProxies): string | undefined {
  // A zone is a name of an interface of this machine.
  let address = parseIpAddress(peer?.split("%")[0] ?? "");
  const hops = forwardedFor.flatMap((value) => value.split(",")).map((hop) => hop.trim());
  while (address !== undefined && hops.length > 0 && isTrusted(address, trusted)) {
    address = parseIpAddress(withoutPort(hops.pop() ?? ""));
  }
  return address && formatIpAddress(address);
}

function isTrusted(address: Uint8Array, trusted: TrustedProxies): boolean {
  return trusted.some((cidr) => cidrContains(cidr, address));
}

/** Some proxies write `203.0.113.7:4711` and `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const match = /^\[([^\]]*)\](?::[0-9]{1,5})?$/.exec(hop) ?? /^([^:]*):[0-9]{1,5}$/.exec(hop);
  return match?.[1] ?? hop;
}

const header = "x-forwarded-for";

/** Every value of the header, in the order in which they came. */
export function forwardedFor(rawHeaders: readonly string[]): string[] {
  const values: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === header) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}
