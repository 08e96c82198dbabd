/** IP addresses and blocks of them, as text and as bytes: 4 for IPv4, 16 for IPv6. An IPv4 address inside IPv6 is read as IPv4. */

/** A block of addresses: those that begin with the first `prefix` bits of `bytes`. All further bits are zero. */
export type Cidr = { readonly bytes: Uint8Array; readonly prefix: number };

/** `::ffff:0:0/96`, where IPv6 has the IPv4 addresses. */
const mappedPrefix = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255);

/** The bytes of an address; undefined for any other text. Leading zeros, zones and brackets are not part of an address. */
export function parseIpAddress(text: string): Uint8Array | undefined {
  const bytes = parseAsWritten(text);
  return bytes && unmapped(bytes);
}

/** A block with its surplus bits cleared; undefined for any other text. */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([^/]+)\/(0|[1-9][0-9]{0,2})$/.exec(text);
  const written = match?.[1] === undefined ? undefined : parseAsWritten(match[1]);
  if (written === undefined) return undefined;
  const prefix = Number(match?.[2]);
  if (prefix > written.length * 8) return undefined;
  const bytes = written.map((byte, at) => byte & maskAt(at, prefix));
  const isMapped = bytes.length === 16 && prefix >= mappedPrefix.length * 8 && unmapped(bytes).length === 4;
  return isMapped ? { bytes: unmapped(bytes), prefix: prefix - mappedPrefix.length * 8 } : { bytes, prefix };
}

/** IPv4 with dots; IPv6 as RFC 5952 writes it. */
export function formatIpAddress(bytes: Uint8Array): string {
  return bytes.length === 4 ? bytes.join(".") : formatV6(bytes);
}

export function formatCidr({ bytes, prefix }: Cidr): string {
  return `${formatIpAddress(bytes)}/${prefix}`;
}

/** Whether the block has this address. No block of IPv6 has an address of IPv4, nor the other way round. */
export function cidrContains({ bytes, prefix }: Cidr, address: Uint8Array): boolean {
  return (
    bytes.length === address.length && bytes.every((byte, at) => byte === ((address[at] ?? 0) & maskAt(at, prefix)))
  );
}

/** The bits of the byte at this place that the first `prefix` bits of an address reach into. */
function maskAt(at: number, prefix: number): number {
  const bits = Math.min(8, Math.max(0, prefix - at * 8));
  return (0xff << (8 - bits)) & 0xff;
}

function unmapped(bytes: Uint8Array): Uint8Array {
  return mappedPrefix.every((byte, at) => bytes[at] === byte) ? bytes.slice(mappedPrefix.length) : bytes;
}

function parseAsWritten(text: string): Uint8Array | undefined {
  // The longest: six groups and an IPv4 address.
  if (text.length > 45) return undefined;
  return text.includes(":") ? parseV6(text) : parseV4(text);
}

function parseV4(text: string): Uint8Array | undefined {
  const parts = text.split(".");
  // Others read a leading zero as octal.
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)) {
    return undefined;
  }
  return Uint8Array.from(parts, Number);
}

function parseV6(text: string): Uint8Array | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = [bytesOfGroups(halves[0] ?? "", halves.length === 1), bytesOfGroups(halves[1] ?? "", true)];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 16 - head.length - tail.length;
  // `::` stands for at least one group.
  if (halves.length === 1 ? missing !== 0 : missing < 2) return undefined;
  return Uint8Array.from([...head, ...new Uint8Array(missing), ...tail]);
}

/** The bytes of groups with colons between them. The last may be an IPv4 address, where it ends the whole. */
function bytesOfGroups(text: string, isEnd: boolean): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    const v4 = isEnd && at === groups.length - 1 ? parseV4(group) : undefined;
    if (v4 !== undefined) bytes.push(...v4);
    else if (/^[0-9a-fA-F]{1,4}$/.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff);
    else return undefined;
  }
  return bytes;
}

function formatV6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, at) =>
    (((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0)).toString(16),
  );
  const { start, length } = longestZeros(groups);
  if (length < 2) return groups.join(":");
  return `${groups.slice(0, start).join(":")}::${groups.slice(start + length).join(":")}`;
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: readonly string[]): { start: number; length: number } {
  let longest = { start: 0, length: 0 };
  let start = 0;
  for (const [at, group] of groups.entries()) {
    if (group !== "0") start = at + 1;
    else if (at + 1 - start > longest.length) longest = { start, length: at + 1 - start };
  }
  return longest;
}
