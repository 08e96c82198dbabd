import assert from "node:assert/strict";
import { createHmac, hkdfSync, randomBytes } from "node:crypto";
import { test } from "node:test";
import { createCodeSecrets } from "./code_secrets.ts";
import { createKeyring, openKeyring } from "./keyring.ts";

test("codes, target keys and counts have keys of their own, derived as the specification says", () => {
  const secret = new Uint8Array(randomBytes(32));
  const { code, target, countingHash } = createCodeSecrets(secret);
  const content = Buffer.from("content");
  const expected = (label: string, bytes: Uint8Array) =>
    createHmac("sha256", new Uint8Array(hkdfSync("sha256", secret, new Uint8Array(0), `keystead/${label}`, 32)))
      .update(bytes)
      .digest("hex");
  assert.equal(Buffer.from(code(content)).toString("hex"), expected("otp-code", content));
  assert.equal(Buffer.from(target(content)).toString("hex"), expected("otp-target", content));
  const counted = Buffer.from("\0\0\0\x03org\x02\0\0\0\x01u", "latin1");
  assert.equal(
    Buffer.from(countingHash("org", "userIdentifier", "u")).toString("hex"),
    expected("otp-count", counted).slice(0, 32),
  );
});

test("a keyring's codes are the same whenever it is opened, and another keyring's are others", () => {
  const rootKey = new Uint8Array(randomBytes(32));
  const sealed = createKeyring(rootKey, 1);
  const hash = (box: Uint8Array) =>
    Buffer.from(openKeyring(rootKey, 1, box).codes.code(new Uint8Array(1))).toString("hex");
  assert.equal(hash(sealed), hash(sealed));
  assert.notEqual(hash(sealed), hash(createKeyring(rootKey, 1)));
});
