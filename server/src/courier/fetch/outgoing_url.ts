/** Which addresses are fetched from, as far as their text tells. The URL standard decides what a text means, and nothing else reads it. */
import { FetchFailure } from "./fetch_failure.ts";

export type UrlRules = {
  /** `loopback`: http and https to this machine too, where the host is written as such. For development. */
  egress: "loopback" | undefined;
  /** Beside those of https: 443, and 8443, which many servers of identities have. */
  furtherPorts?: ReadonlySet<string>;
};

const usualPorts: ReadonlySet<string> = new Set(["", "8443"]);

export function parseOutgoingUrl(text: string, { egress, furtherPorts }: UrlRules): URL {
  const url = URL.parse(text);
  if (url === null) throw new FetchFailure("refused", "the address cannot be read");
  const isOwn = egress === "loopback" && isLoopbackHost(url.hostname);
  const refuse = (why: string) => new FetchFailure("refused", `${shortHost(url)} ${why}`);
  if (url.protocol !== "https:" && !(isOwn && url.protocol === "http:")) {
    throw new FetchFailure("refused", "the address must begin with https://");
  }
  if (url.username !== "" || url.password !== "") throw refuse("has a user name in its address");
  // An empty fragment is one, too; the parsed address does not tell it.
  if (url.href.includes("#")) throw refuse("has a fragment in its address");
  if (url.hostname.endsWith(".")) throw refuse("ends in a dot");
  if (!isOwn && !usualPorts.has(url.port) && !furtherPorts?.has(url.port)) {
    throw refuse("must be asked on port 443 or 8443");
  }
  return url;
}

/** By what is written, not by what a name resolves to: a name's answer comes from elsewhere. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(hostname);
}

/** The ports of addresses that the operator has written down: they are allowed by that. */
export function portsOf(urls: Iterable<string>): ReadonlySet<string> {
  return new Set(Array.from(urls, (url) => URL.parse(url)?.port ?? ""));
}

/** For words: a host may be as long as an address. */
export function shortHost({ host }: URL): string {
  return host.length <= 100 ? host : `${host.slice(0, 100)}…`;
}
