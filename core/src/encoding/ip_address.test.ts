import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { cidrContains, formatCidr, formatIpAddress, parseCidr, parseIpAddress } from "./ip_address.ts";

const normal = (text: string) => {
  const bytes = parseIpAddress(text);
  return bytes && formatIpAddress(bytes);
};

test("addresses are read, and written as RFC 5952 recommends", () => {
  const written = {
    "203.0.113.7": "203.0.113.7",
    "2001:DB8:0:0:1:0:0:1": "2001:db8::1:0:0:1",
    "2001:0db8::0001": "2001:db8::1",
    "2001:db8:0:1:1:1:1:1": "2001:db8:0:1:1:1:1:1",
    "::": "::",
    "::1": "::1",
    "1::": "1::",
    "::ffff:203.0.113.7": "203.0.113.7",
    "::FFFF:cb00:7107": "203.0.113.7",
    "64:ff9b::192.0.2.33": "64:ff9b::c000:221",
  };
  for (const [text, expected] of Object.entries(written)) assert.equal(normal(text), expected, text);
});

test("what is no address is not read as one", () => {
  const others = [
    "",
    "1.2.3",
    "1.2.3.4.5",
    "01.2.3.4",
    "256.1.1.1",
    "1.2.3.4 ",
    "0x1.2.3.4",
    ":",
    ":::",
    "1:2",
    "::1::",
  ];
  const more = [
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8:9",
    "::12345",
    "fe80::1%eth0",
    "[::1]",
    "1.2.3.4::",
    "::g",
    ":1::2",
  ];
  for (const text of [...others, ...more]) assert.equal(parseIpAddress(text), undefined, text);
  for (const text of [
    "1.2.3.4",
    "1.2.3.4/",
    "1.2.3.4/33",
    "::/129",
    "1.2.3.4/024",
    "1.2.3.4/-1",
    "/8",
    "1.2.3.4/8/8",
  ]) {
    assert.equal(parseCidr(text), undefined, text);
  }
});

test("a block is written with its surplus bits cleared, and one of mapped addresses as IPv4", () => {
  const written = {
    "192.168.1.77/24": "192.168.1.0/24",
    "10.255.255.255/20": "10.255.240.0/20",
    "0.0.0.0/0": "0.0.0.0/0",
    "2001:db8:1:2::5/48": "2001:db8:1::/48",
    "::ffff:192.168.1.77/120": "192.168.1.0/24",
  };
  for (const [text, expected] of Object.entries(written)) {
    const cidr = parseCidr(text);
    assert.equal(cidr && formatCidr(cidr), expected, text);
  }
});

test("Node.js agrees which texts are addresses and which blocks hold them", () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6());
  const block = fc.oneof(
    fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 })),
    fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })),
  );
  const property = fc.property(block, address, ([base, prefix], other) => {
    for (const text of [base, other]) assert.equal(parseIpAddress(text) !== undefined, isIP(text) !== 0, text);
    const cidr = parseCidr(`${base}/${prefix}`);
    const bytes = parseIpAddress(other);
    assert.ok(cidr && bytes);
    const known = parseIpAddress(formatIpAddress(bytes));
    assert.deepEqual(known, bytes);
    const family = (of: Uint8Array) => (of.length === 4 ? "ipv4" : "ipv6");
    const list = new BlockList();
    list.addSubnet(formatIpAddress(cidr.bytes), cidr.prefix, family(cidr.bytes));
    if (cidr.bytes.length === bytes.length) {
      assert.equal(
        cidrContains(cidr, bytes),
        list.check(formatIpAddress(bytes), family(bytes)),
        `${base}/${prefix} ${other}`,
      );
    } else assert.equal(cidrContains(cidr, bytes), false);
    assert.equal(cidrContains(cidr, cidr.bytes), true);
  });
  fc.assert(property, { numRuns: 1_000 });
});
