/** What every implementation of HPKE's primitives promises: the published vectors, and messages that open for their key alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type HpkePrimitives, openMessage, recipientMessageKey, sealMessage, senderKey } from "../src/crypto/hpke.ts";
import { fromHex, toHex } from "../src/encoding/hex.ts";
import { findVectors } from "./vectors.ts";

type Primitives<Key> = HpkePrimitives<Key, Uint8Array | Promise<Uint8Array>>;

const utf8 = new TextEncoder();
const refusal = { code: "invalid_argument" };

/** Registers the tests for one implementation. */
export function testHpkeContract<Key>(name: string, primitives: Primitives<Key>): void {
  testRfcVectors(name, primitives);
  testWycheproof(name, primitives);
  testPublishedMessages(name, primitives);

  test(`${name}: a message opens for its key, and for no other key, point or ciphertext one bit away`, async () => {
    const key = primitives.generateKey();
    const plaintext = utf8.encode("thirty-two bytes of some secret!");
    const publicKey = primitives.publicKey(key);
    const { enc, ciphertext } = sealMessage(primitives, publicKey, plaintext);
    const sealed = await ciphertext;
    assert.equal(enc.length, 65);
    assert.equal(sealed.length, plaintext.length + 16);
    assert.deepEqual(await openMessage(primitives, key, enc, sealed), plaintext);
    const kept = primitives.importKey(primitives.exportKey(key));
    assert.deepEqual(await openMessage(primitives, kept, enc, sealed), plaintext);

    const staysShut = async (open: () => Uint8Array | Promise<Uint8Array>) => {
      await assert.rejects(async () => await open(), refusal);
    };
    await staysShut(() => openMessage(primitives, primitives.generateKey(), enc, sealed));
    for (let bit = 0; bit < 8 * sealed.length; bit += 5) {
      await staysShut(() => openMessage(primitives, key, enc, flip(sealed, bit)));
    }
    for (let bit = 0; bit < 8 * enc.length; bit += 5) {
      await staysShut(() => openMessage(primitives, key, flip(enc, bit), sealed));
    }
    for (const length of [0, 1, 15, 16, sealed.length - 1]) {
      await staysShut(() => openMessage(primitives, key, enc, sealed.subarray(0, length)));
    }
  });

  test(`${name}: every message has a key of its own`, async () => {
    const publicKey = primitives.publicKey(primitives.generateKey());
    const seals = Array.from({ length: 8 }, () => sealMessage(primitives, publicKey, Uint8Array.of(1)));
    assert.equal(new Set(seals.map(({ enc }) => toHex(enc))).size, seals.length);
    await Promise.all(seals.map(({ ciphertext }) => ciphertext));
  });

  test(`${name}: a recipient may be given by a compressed point, and by nothing off the curve`, async () => {
    const key = primitives.generateKey();
    const long = primitives.publicKey(key);
    const short = Uint8Array.of(2 | ((long[64] ?? 0) & 1), ...long.subarray(1, 33));
    assert.deepEqual(primitives.uncompressPoint(short), long);
    const { enc, ciphertext } = sealMessage(primitives, short, Uint8Array.of(7));
    assert.deepEqual(await openMessage(primitives, key, enc, await ciphertext), Uint8Array.of(7));
    const hybrid = long.map((byte, i) => (i === 0 ? 6 + ((long[64] ?? 0) & 1) : byte));
    const infinity = new Uint8Array(1);
    const bad = [flip(long, 8 * 64), hybrid, infinity, new Uint8Array(), long.subarray(0, 64), new Uint8Array(65)];
    for (const point of bad) {
      assert.throws(() => primitives.uncompressPoint(point), refusal, toHex(point));
      assert.throws(() => primitives.agree(key, point), refusal, toHex(point));
      assert.throws(() => sealMessage(primitives, point, Uint8Array.of(7)), refusal, toHex(point));
    }
  });

  test(`${name}: a scalar outside the curve is no key`, () => {
    const order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63255";
    const bad = ["00".repeat(32), `${order}1`, `${order}2`, "ff".repeat(32), "01".repeat(31), "01".repeat(33), ""];
    for (const hex of bad) assert.throws(() => primitives.importKey(fromHex(hex)), refusal, hex);
    for (const hex of [`${"00".repeat(31)}01`, `${order}0`]) {
      assert.equal(toHex(primitives.exportKey(primitives.importKey(fromHex(hex)))), hex);
    }
  });
}

type RfcFile = {
  mode: number;
  info: string;
  skRm: string;
  skEm: string;
  pkRm: string;
  enc: string;
  key: string;
  base_nonce: string;
  encryptions: { aad: string; ct: string; nonce: string; pt: string }[];
  exports: unknown[];
}[];

function testRfcVectors<Key>(name: string, primitives: Primitives<Key>): void {
  test(`${name}: RFC 9180 base mode gives the published key and nonce on both sides, and opens every encryption`, async (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    let ran = 0;
    // Excluded: modes 1 and 2 (a shared secret, an authenticated sender), which the wire does not have.
    const excluded = { otherModes: 0, exports: 0 };
    for (const group of vectors.json<RfcFile>("hpke-rfc9180/p256-sha256-aes256gcm.json")) {
      if (group.mode !== 0) {
        excluded.otherModes += group.encryptions.length + group.exports.length;
        continue;
      }
      excluded.exports += group.exports.length; // Nor does the wire export further secrets from a message's key.
      const [info, recipientPublicKey] = [fromHex(group.info), fromHex(group.pkRm)];
      const ephemeral = primitives.importKey(fromHex(group.skEm));
      const recipient = primitives.importKey(fromHex(group.skRm));
      const sides = [
        senderKey(primitives, ephemeral, recipientPublicKey, info),
        recipientMessageKey(primitives, recipient, fromHex(group.enc), info),
      ];
      for (const { enc, key, nonce } of sides) {
        assert.equal(toHex(enc), group.enc);
        assert.equal(toHex(key), group.key);
        assert.equal(toHex(nonce), group.base_nonce);
        // The first one is the single message that we ever send; the others prove the cipher under the same key.
        assert.equal(group.encryptions[0]?.nonce, toHex(nonce));
        for (const row of group.encryptions) {
          const [n, aad, pt] = [fromHex(row.nonce), fromHex(row.aad), fromHex(row.pt)];
          assert.equal(toHex(await primitives.encrypt(key, n, aad, pt)), row.ct);
          assert.deepEqual(await primitives.decrypt(key, n, aad, fromHex(row.ct)), pt);
        }
      }
      ran += group.encryptions.length;
    }
    assert.deepEqual({ ran, ...excluded }, { ran: 172, otherModes: 350, exports: 3 });
  });
}

type EcdhFile = {
  testGroups: {
    tests: { tcId: number; flags: string[]; public: string; private: string; shared: string; result: string }[];
  }[];
};
type AesFile = {
  testGroups: {
    keySize: number;
    ivSize: number;
    tests: {
      tcId: number;
      key: string;
      iv: string;
      aad: string;
      msg: string;
      ct: string;
      tag: string;
      result: string;
    }[];
  }[];
};
type HkdfFile = {
  testGroups: {
    tests: { tcId: number; ikm: string; salt: string; info: string; size: number; okm: string; result: string }[];
  }[];
};

/** What stands before the 65 bytes of a point in the usual SubjectPublicKeyInfo of P-256. */
const spkiHead = "3059301306072a8648ce3d020106082a8648ce3d030107034200";

function testWycheproof<Key>(name: string, primitives: Primitives<Key>): void {
  const ecdhSuites = [
    { file: "ecdh_secp256r1_ecpoint_test.json", head: "", cases: 237, excluded: 0 },
    // Excluded: other spellings of the structure around the point. They test a parser of ASN.1, and we have none.
    { file: "ecdh_secp256r1_test.json", head: spkiHead, cases: 233, excluded: 175 },
  ];
  for (const suite of ecdhSuites) {
    test(`${name}: every verdict of ${suite.file} is right`, (t) => {
      const vectors = findVectors(t);
      if (vectors === undefined) return;
      let [ran, excluded] = [0, 0];
      const tests = vectors.json<EcdhFile>(`wycheproof/${suite.file}`).testGroups.flatMap((group) => group.tests);
      for (const { tcId, flags, public: publicKey, private: privateKey, shared, result } of tests) {
        if (!publicKey.startsWith(suite.head) || (suite.head !== "" && publicKey.length !== suite.head.length + 130)) {
          excluded++;
          continue;
        }
        // The file writes scalars as signed integers of any length.
        const key = primitives.importKey(fromHex(privateKey.padStart(64, "0").slice(-64)));
        const agree = () => toHex(primitives.agree(key, fromHex(publicKey.slice(suite.head.length))));
        // "acceptable" is a compressed point, which we take, and once a point off the curve, which we do not.
        const isTaken = result === "valid" || (result === "acceptable" && !flags.includes("InvalidAsn"));
        if (isTaken) assert.equal(agree(), shared, `tcId ${tcId}`);
        else assert.throws(agree, refusal, `tcId ${tcId}`);
        ran++;
      }
      assert.deepEqual({ ran, excluded }, { ran: suite.cases, excluded: suite.excluded });
    });
  }

  test(`${name}: every verdict of aes_gcm_test.json on keys of 256 bits and nonces of 96 is right`, async (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    let [ran, excluded] = [0, 0];
    for (const { keySize, ivSize, tests } of vectors.json<AesFile>("wycheproof/aes_gcm_test.json").testGroups) {
      if (keySize !== 256 || ivSize !== 96) {
        excluded += tests.length; // Other sizes have no place in the suite.
        continue;
      }
      for (const { tcId, key, iv, aad, msg, ct, tag, result } of tests) {
        const [k, n, a] = [fromHex(key), fromHex(iv), fromHex(aad)];
        const opened = async () => toHex(await primitives.decrypt(k, n, a, fromHex(ct + tag)));
        if (result === "valid") {
          assert.equal(toHex(await primitives.encrypt(k, n, a, fromHex(msg))), ct + tag, `tcId ${tcId}`);
          assert.equal(await opened(), msg, `tcId ${tcId}`);
        } else await assert.rejects(opened, refusal, `tcId ${tcId}`);
        ran++;
      }
    }
    assert.deepEqual({ ran, excluded }, { ran: 44, excluded: 167 });
  });

  test(`${name}: every verdict of hkdf_sha256_test.json is right`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    let ran = 0;
    for (const { tests } of vectors.json<HkdfFile>("wycheproof/hkdf_sha256_test.json").testGroups) {
      for (const { tcId, ikm, salt, info, size, okm, result } of tests) {
        const derive = () => toHex(primitives.hkdf(fromHex(ikm), fromHex(salt), fromHex(info), size));
        // Only a length that HKDF does not have is invalid; hpke.ts asks for 12 and 32.
        if (result === "invalid") assert.throws(derive, `tcId ${tcId}`);
        else assert.equal(derive(), okm, `tcId ${tcId}`);
        ran++;
      }
    }
    assert.equal(ran, 58);
  });
}

type ClientFile = {
  exportBundle: {
    bundle: { data: string };
    targetPrivateKey: string;
    expectedMnemonic: string;
  };
};

function testPublishedMessages<Key>(name: string, primitives: Primitives<Key>): void {
  test(`${name}: the message inside a bundle of the hosted service opens`, async (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    const { exportBundle } = vectors.json<ClientFile>("client-acceptance/tkhq-sdk.json");
    type Signed = { encappedPublic: string; ciphertext: string };
    const signed = JSON.parse(new TextDecoder().decode(fromHex(exportBundle.bundle.data))) as Signed;
    const key = primitives.importKey(fromHex(exportBundle.targetPrivateKey));
    const opened = await openMessage(primitives, key, fromHex(signed.encappedPublic), fromHex(signed.ciphertext));
    assert.equal(new TextDecoder().decode(opened), exportBundle.expectedMnemonic);
  });
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  return bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}
