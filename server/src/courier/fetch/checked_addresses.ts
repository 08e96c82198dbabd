/** From a host to the addresses that may be connected to. Nobody looks a name up again after this. */
import { isIP } from "node:net";
import { FetchFailure } from "./fetch_failure.ts";
import { isLoopbackHost, parseOutgoingUrl, shortHost, type UrlRules } from "./outgoing_url.ts";
import { isPublicAddress } from "./special_addresses.ts";

export type Address = { address: string; family: 4 | 6 };

export type AddressRules = {
  egress: "loopback" | undefined;
  /** One look-up: all addresses of a name. */
  resolve(name: string, signal: AbortSignal): Promise<readonly Address[]>;
  /** Always `isPublicAddress`, but for tests, which have nothing but their own machine. */
  isPublic?(address: string): boolean;
};

/** Throws what a fetch would be refused with for its text alone: no host is asked for it, no name server either. */
export function checkWrittenAddress(text: string, rules: UrlRules & Pick<AddressRules, "isPublic">): void {
  const url = parseOutgoingUrl(text, rules);
  const { egress, isPublic = isPublicAddress } = rules;
  const host = bareHost(url);
  const isOwn = egress === "loopback" && isLoopbackHost(url.hostname);
  if (!isOwn && isIP(host) !== 0 && !isPublic(host)) throw notPublic(url);
}

/** The same words for a name that does not exist: which names the operator's own network has is not for strangers. */
function notPublic(url: URL): FetchFailure {
  return new FetchFailure("refused", `${shortHost(url)} has no public address`);
}

/** All of the answer is held against the registries, not only what would be used: an answer with one private address is a trap. */
export async function findCheckedAddresses(
  url: URL,
  { egress, resolve, isPublic = isPublicAddress }: AddressRules,
  signal: AbortSignal,
): Promise<readonly Address[]> {
  const host = bareHost(url);
  const family = isIP(host);
  const isOwn = egress === "loopback" && isLoopbackHost(url.hostname);
  if (isOwn && family === 0) return loopback;
  const found: readonly Address[] =
    family === 0 ? await resolve(host, signal) : [{ address: host, family: family === 6 ? 6 : 4 }];
  if (isOwn || (found.length > 0 && found.every(({ address }) => isPublic(address)))) return found;
  throw notPublic(url);
}

/** What `localhost` is, whatever a name server says. */
const loopback: readonly Address[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];

/** As sockets and certificates have it: an IPv6 address without its brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
