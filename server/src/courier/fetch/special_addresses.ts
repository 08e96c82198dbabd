/**
 * Addresses that nothing is fetched from. The rows are the special-purpose registries of IANA, read on 2026-11-17:
 * https://www.iana.org/assignments/iana-ipv4-special-registry and https://www.iana.org/assignments/iana-ipv6-special-registry,
 * multicast from https://www.iana.org/assignments/multicast-addresses. Rows that IANA calls globally reachable (AS112, AMT) are here too:
 * they are services of the network, and no issuer is one. A range inside another has no row of its own.
 */
import { BlockList, isIP } from "node:net";

type Range = readonly [prefix: string, bits: number, what: string];

const ranges4: readonly Range[] = [
  ["0.0.0.0", 8, "this network, RFC 791"],
  ["10.0.0.0", 8, "private use, RFC 1918"],
  ["100.64.0.0", 10, "shared address space of carriers, RFC 6598; some clouds have their metadata here"],
  ["127.0.0.0", 8, "loopback, RFC 1122"],
  ["169.254.0.0", 16, "link local, RFC 3927: the metadata service of most clouds"],
  ["172.16.0.0", 12, "private use, RFC 1918"],
  ["192.0.0.0", 24, "IETF protocol assignments, RFC 6890"],
  ["192.0.2.0", 24, "documentation, RFC 5737"],
  ["192.31.196.0", 24, "AS112, RFC 7535"],
  ["192.52.193.0", 24, "AMT, RFC 7450"],
  ["192.88.99.0", 24, "6to4 relays, RFC 7526"],
  ["192.168.0.0", 16, "private use, RFC 1918"],
  ["192.175.48.0", 24, "AS112, RFC 7534"],
  ["198.18.0.0", 15, "benchmarks, RFC 2544"],
  ["198.51.100.0", 24, "documentation, RFC 5737"],
  ["203.0.113.0", 24, "documentation, RFC 5737"],
  ["224.0.0.0", 4, "multicast, RFC 5771"],
  ["240.0.0.0", 4, "reserved and limited broadcast, RFC 1112 and 919"],
];

const ranges6: readonly Range[] = [
  // Global unicast is 2000::/3 (https://www.iana.org/assignments/ipv6-address-space). What is before it holds ::, ::1, every way to write
  // an IPv4 address in an IPv6 one (::ffff:0:0/96 mapped, ::/96 compatible, 64:ff9b::/96 and 64:ff9b:1::/48 translated) and 100::/64.
  ["::", 3, "before global unicast: unspecified, loopback, IPv4 in IPv6, discard; RFC 4291, 6052, 8215, 6666, 9780"],
  ["2001::", 23, "IETF protocol assignments, RFC 2928: Teredo, benchmarks, ORCHID"],
  ["2001:db8::", 32, "documentation, RFC 3849"],
  ["2002::", 16, "6to4, RFC 3056: any IPv4 address"],
  ["2620:4f:8000::", 48, "AS112, RFC 7534"],
  ["3fff::", 20, "documentation, RFC 9637"],
  // What is behind it holds 5f00::/16 (RFC 9602), fc00::/7 (unique local, RFC 4193, with fd00:ec2::254), fe80::/10 and ff00::/8.
  ["4000::", 2, "behind global unicast: segment routing; RFC 9602"],
  ["8000::", 1, "behind global unicast: unique local, link local, site local, multicast; RFC 4193, 4291, 3879"],
];

/** One for each family: a list of both holds an IPv4 address against the IPv6 ranges as well, as the mapped one. */
const special = { ipv4: toBlockList(ranges4, "ipv4"), ipv6: toBlockList(ranges6, "ipv6") };

function toBlockList(ranges: readonly Range[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [prefix, bits] of ranges) list.addSubnet(prefix, bits, family);
  return list;
}

/** Whether an address is a public one. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  const number = isIP(address);
  if (number === 0) return false;
  const family = number === 6 ? "ipv6" : "ipv4";
  return !special[family].check(address, family);
}
