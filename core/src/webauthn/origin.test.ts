import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256 } from "../../test/webauthn/authenticator.ts";
import { originFlaw } from "./origin.ts";

const flaw = (origin: string, rpId: string, allowedOrigins?: readonly string[]) =>
  originFlaw({ sha256 }, { origin, topOrigin: undefined }, { allowedOrigins, rpIdHash: sha256(rpId) });

test("without a list, the host or a domain above it is the passkey's", () => {
  for (const [origin, rpId] of [
    ["https://example.com", "example.com"],
    ["https://example.com:8443", "example.com"],
    ["https://login.example.com", "example.com"],
    ["https://a.b.example.com", "b.example.com"],
    ["https://a.b.example.com", "a.b.example.com"],
    ["https://xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["https://localhost:3000", "localhost"],
    ["http://localhost:3000", "localhost"],
    ["http://localhost", "localhost"],
    ["http://app.localhost:5173", "localhost"],
  ] as const) {
    assert.equal(flaw(origin, rpId), undefined, `${origin} for ${rpId}`);
  }
  for (const [origin, rpId] of [
    ["https://example.org", "example.com"],
    ["https://badexample.com", "example.com"],
    ["https://example.com.evil.org", "example.com"],
    ["https://example.com", "login.example.com"],
    ["https://example.com", ""],
    ["https://example.com", ".com"],
    ["https://localhost.evil.org", "localhost"],
  ] as const) {
    assert.match(flaw(origin, rpId) ?? "", /outside the passkey's domain/, `${origin} for ${rpId}`);
  }
});

test("without a list, everything that is neither https nor localhost is refused", () => {
  for (const origin of [
    "http://example.com",
    "http://notlocalhost",
    "http://localhost.example.com",
    "ftp://example.com",
    "example.com",
    "",
    "null",
    "https://",
    "https://example.com/",
    "https://example.com/path",
    "https://example.com?",
    "https://example.com#",
    "https://user@example.com",
    "https://evil.org@example.com",
    "https://example.com:",
    "https://example.com:123456",
    "https://example.com.",
    "https://.example.com",
    "https://a..example.com",
    "https://Example.com",
    "HTTPS://example.com",
    "https://example.com ",
    " https://example.com",
    "https://example.com\n",
    "https://example.com\u0000",
    "https://exämple.com",
    "https://[::1]",
    "https:example.com",
    "https:\\\\example.com",
    "chrome-extension://abcdefghijklmnop",
    "ios:bundle-id:com.example",
    "android:apk-key-hash:",
    "android:apk-key-hash:a b",
    "android:apk-key-hash:abc\n",
    "android:package:com.example",
  ]) {
    assert.match(flaw(origin, "example.com") ?? "", /neither https nor localhost/, JSON.stringify(origin));
  }
});

test("an Android app passes without a list, because its system has checked the domain", () => {
  const origin = "android:apk-key-hash:7d1043473d55bfa90e8530d35801d4e381bc69f0";
  assert.equal(flaw(origin, "example.com"), undefined);
  assert.equal(flaw("android:apk-key-hash:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "example.com"), undefined);
});

test("with a list, the origin is one of it to the letter, whatever the passkey's domain is", () => {
  const list = ["https://app.example.org", "android:apk-key-hash:abc", "https://example.com:8443"];
  for (const origin of list) assert.equal(flaw(origin, "example.com", list), undefined);
  for (const origin of [
    "https://example.com",
    "https://app.example.org:443",
    "https://APP.example.org",
    "https://app.example.org/",
    "https://sub.app.example.org",
    "http://localhost",
    "android:apk-key-hash:abcd",
  ]) {
    assert.match(flaw(origin, "example.com", list) ?? "", /is not an allowed one/, origin);
    assert.match(flaw(origin, "example.com", []) ?? "", /is not an allowed one/, origin);
  }
});

test("an origin that no domain is long enough for is refused before anything is hashed", () => {
  const page = { origin: `https://${"a.".repeat(200)}example.com`, topOrigin: undefined };
  assert.equal(
    originFlaw({ sha256: () => assert.fail("hashed") }, page, { allowedOrigins: undefined, rpIdHash: sha256("") }),
    "the origin is too long",
  );
});
