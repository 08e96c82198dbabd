import assert from "node:assert/strict";
import { test } from "node:test";
import { attestedData, authenticatorData, es256Passkey, flags, sha256 } from "../../test/webauthn/authenticator.ts";
import { writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { parseAuthenticatorData } from "./authenticator_data.ts";

const passkey = es256Passkey(new Uint8Array(32).fill(3), "example.com", new Uint8Array(32).fill(9));
const aaguid = new Uint8Array(16).map((_, i) => i);
const attested = attestedData(passkey, aaguid);
const extensions = writeCbor({ pairs: [["credProtect", 2]] });
const none = new Uint8Array();
const plain = { rpIdHash: sha256("example.com"), flags: flags.up, counter: 7, attested: none, extensions: none };

test("each flag is read by itself, and reserved ones are ignored", () => {
  const read = (bits: number) => {
    const { userPresent, userVerified, backupEligible, backedUp } = parseAuthenticatorData(
      authenticatorData({ ...plain, flags: bits }),
    );
    return { userPresent, userVerified, backupEligible, backedUp };
  };
  const nothing = { userPresent: false, userVerified: false, backupEligible: false, backedUp: false };
  assert.deepEqual(read(0), nothing);
  assert.deepEqual(read(0x22), nothing);
  assert.deepEqual(read(flags.up), { ...nothing, userPresent: true });
  assert.deepEqual(read(flags.uv), { ...nothing, userVerified: true });
  assert.deepEqual(read(flags.be), { ...nothing, backupEligible: true });
  assert.deepEqual(read(flags.be | flags.bs), { ...nothing, backupEligible: true, backedUp: true });
  assert.throws(() => read(flags.bs), { code: "invalid_argument", message: /not eligible for backup/ });
});

test("hash, counter, credential and extensions are read where they lie", () => {
  const data = parseAuthenticatorData(
    authenticatorData({ ...plain, flags: flags.up | flags.at | flags.ed, counter: 0xfffefdfc, attested, extensions }),
  );
  assert.deepEqual(data.rpIdHash, plain.rpIdHash);
  assert.equal(data.counter, 0xfffefdfc);
  assert.deepEqual(data.attested?.aaguid, aaguid);
  assert.deepEqual(data.attested?.credentialId, passkey.credentialId);
  assert.deepEqual(data.attested?.publicKey, new Map(passkey.coseKey));
  assert.equal(parseAuthenticatorData(authenticatorData(plain)).attested, undefined);
});

test("flags and length agree to the byte", () => {
  const whole = { ...plain, flags: flags.up | flags.at | flags.ed, attested, extensions };
  const bytes = authenticatorData(whole);
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => parseAuthenticatorData(bytes.subarray(0, length)), { code: "invalid_argument" }, `${length}`);
  }
  for (const [parts, message] of [
    [{ ...whole, flags: flags.up }, /trailing bytes/],
    [{ ...whole, flags: flags.up | flags.at }, /trailing bytes/],
    [{ ...whole, flags: flags.up | flags.ed }, /./],
    [{ ...whole, extensions: none }, /too short/],
    [{ ...whole, extensions: Uint8Array.of(...extensions, 0) }, /trailing bytes/],
    [{ ...plain, extensions: Uint8Array.of(0) }, /trailing bytes/],
    [{ ...plain, flags: flags.up | flags.ed, extensions: Uint8Array.of(0) }, /extensions that are not a map/],
    [{ ...plain, flags: flags.up | flags.ed, extensions: Uint8Array.of(0xbf, 0xff) }, /left open/],
  ] as const) {
    assert.throws(() => parseAuthenticatorData(authenticatorData(parts)), { code: "invalid_argument", message });
  }
});

test("a credential id has 1 to 1023 bytes, and the whole at most 4096", () => {
  const withId = (length: number) =>
    authenticatorData({
      ...plain,
      flags: flags.up | flags.at,
      attested: attestedData({ ...passkey, credentialId: new Uint8Array(length) }),
    });
  for (const length of [1, 16, 1023]) parseAuthenticatorData(withId(length));
  for (const length of [0, 1024, 3900]) {
    assert.throws(() => parseAuthenticatorData(withId(length)), { message: /1 to 1023 bytes/ });
  }
  assert.throws(() => parseAuthenticatorData(new Uint8Array(4097)), { message: /over 4096 bytes/ });
});

test("a public key that is no map is refused", () => {
  const head = attested.slice(0, 18 + 32);
  for (const key of [[0x00], [0x80], [0x40], [0xf6]]) {
    const bytes = authenticatorData({ ...plain, flags: flags.up | flags.at, attested: Uint8Array.of(...head, ...key) });
    assert.throws(() => parseAuthenticatorData(bytes), { message: /not a COSE key/ });
  }
});
