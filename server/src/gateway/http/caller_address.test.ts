import assert from "node:assert/strict";
import { test } from "node:test";
import { callerAddress, forwardedFor, parseTrustedProxies } from "./caller_address.ts";

const address = (peer: string | undefined, forwarded: string[] = [], trusted = "") =>
  callerAddress({ peer, forwardedFor: forwarded }, parseTrustedProxies(trusted));

test("without trusted proxies the connection's address counts, whatever the header says", () => {
  assert.equal(address("203.0.113.7", ["10.0.0.1"]), "203.0.113.7");
  assert.equal(address("::ffff:203.0.113.7"), "203.0.113.7", "IPv4 on a socket of IPv6");
  assert.equal(address("2001:DB8:0::1"), "2001:db8::1");
  assert.equal(address("fe80::1%eth0"), "fe80::1");
  assert.equal(address(undefined, ["203.0.113.7"]), undefined, "a connection without an address");
});

test("of a trusted proxy the last address that it did not add for another trusted one counts", () => {
  const trusted = "10.0.0.0/8, 2001:db8::1";
  assert.equal(
    address("10.0.0.1", ["198.51.100.9, 203.0.113.7"], trusted),
    "203.0.113.7",
    "the caller wrote the first",
  );
  assert.equal(address("10.0.0.1", ["198.51.100.9", "203.0.113.7, 10.0.0.2"], trusted), "203.0.113.7");
  assert.equal(address("::ffff:10.0.0.1", ["203.0.113.7:4711"], trusted), "203.0.113.7");
  assert.equal(address("2001:db8::1", ["[2001:db8::2]:4711"], trusted), "2001:db8::2");
  assert.equal(address("10.0.0.1", [], trusted), "10.0.0.1", "the proxy's own request");
  assert.equal(address("10.0.0.1", ["10.0.0.3, 10.0.0.2"], trusted), "10.0.0.3", "from within");
  assert.equal(address("192.0.2.1", ["203.0.113.7"], trusted), "192.0.2.1", "a proxy that is not trusted");
});

test("what a trusted proxy passes on and is no address leaves the caller unknown", () => {
  for (const forwarded of ["unknown", "", "203.0.113.7, garbage", "203.0.113.7,", "1.2.3.4.5"]) {
    assert.equal(address("10.0.0.1", [forwarded], "10.0.0.1"), undefined, forwarded);
  }
});

test("a setting that names no address is refused", () => {
  assert.deepEqual(parseTrustedProxies(" "), []);
  for (const text of ["localhost", "10.0.0.0/33", "10.0.0.1 10.0.0.2"]) {
    assert.throws(() => parseTrustedProxies(text), /is neither an IP address nor a CIDR block/);
  }
});

test("repeated headers are all read, in order", () => {
  const raw = ["Host", "a", "X-Forwarded-For", "1.1.1.1", "x-forwarded-for", "2.2.2.2"];
  assert.deepEqual(forwardedFor(raw), ["1.1.1.1", "2.2.2.2"]);
});
