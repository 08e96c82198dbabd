import assert from "node:assert/strict";
import { createCipheriv, createDecipheriv, webcrypto } from "node:crypto";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { findVectors } from "../../test/vectors.ts";
import { parseEcdsaDer } from "../encoding/der.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import {
  type BundleSigner,
  makeExportBundle,
  makeImportTargetBundle,
  openImportBundle,
  parseTargetPublicKey,
} from "./bundles.ts";
import { type HpkePrimitives, openMessage, sealMessage } from "./hpke.ts";
import { createWebHpke } from "./hpke_web.ts";
import { nobleCurves } from "./noble_curves.ts";

/** The browser's curve and HKDF with a synchronous AES, as the signer has it. */
const hpke: HpkePrimitives<Uint8Array> = {
  ...createWebHpke(webcrypto.subtle),
  encrypt(key, nonce, aad, plaintext) {
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(aad);
    return Uint8Array.from([...cipher.update(plaintext), ...cipher.final(), ...cipher.getAuthTag()]);
  },
  decrypt(key, nonce, aad, ciphertext) {
    const end = Math.max(0, ciphertext.length - 16);
    const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: 16 }).setAAD(aad);
    try {
      decipher.setAuthTag(ciphertext.subarray(end));
      return Uint8Array.from([...decipher.update(ciphertext.subarray(0, end)), ...decipher.final()]);
    } catch (cause) {
      throw new Fault("invalid_argument", "a ciphertext does not open", { cause });
    }
  },
};

const serviceKey = new Uint8Array(32).fill(7);
const signer: BundleSigner = {
  publicKey: p256.getPublicKey(serviceKey, false),
  sign: (message) => p256.sign(message, serviceKey, { prehash: true, lowS: false }),
};
const organizationId = "f9a31c64-d604-42e4-9bef-a773096afad7";
const userId = "6912b819-f4df-40f4-a192-20ee43090974";
const secret = new Uint8Array(32).fill(0x5e);

type Outer = { version: string; data: string; dataSignature: string; enclaveQuorumPublic: string };

/** Reads a signed bundle as a stranger would, and asserts what clients check of it. */
function readBundle(bundle: string): Record<string, string> {
  const outer = JSON.parse(bundle) as Outer;
  assert.deepEqual(Object.keys(outer), ["version", "data", "dataSignature", "enclaveQuorumPublic"]);
  assert.equal(JSON.stringify(outer), bundle);
  assert.equal(outer.version, "v1.0.0");
  assert.equal(outer.enclaveQuorumPublic, toHex(signer.publicKey));
  assert.match(outer.data + outer.dataSignature, /^[0-9a-f]+$/);
  const data = fromHex(outer.data);
  const publicKey = p256.getPublicKey(serviceKey, true);
  assert.ok(nobleCurves.verifyP256(publicKey, data, parseEcdsaDer(fromHex(outer.dataSignature))));
  const text = new TextDecoder().decode(data);
  const inner = JSON.parse(text) as Record<string, string>;
  assert.equal(JSON.stringify(inner), text);
  return inner;
}

test("an export bundle is signed, names its organization, and opens for the target alone", () => {
  const key = hpke.generateKey();
  const bundle = makeExportBundle(hpke, signer, {
    organizationId,
    targetPublicKey: hpke.publicKey(key),
    plaintext: secret,
  });
  const inner = readBundle(bundle);
  assert.deepEqual(Object.keys(inner), ["encappedPublic", "ciphertext", "organizationId"]);
  assert.equal(inner.organizationId, organizationId);
  assert.match(inner.encappedPublic ?? "", /^04[0-9a-f]{128}$/);
  assert.match(inner.ciphertext ?? "", /^[0-9a-f]{96}$/);
  const [enc, ciphertext] = [fromHex(inner.encappedPublic ?? ""), fromHex(inner.ciphertext ?? "")];
  assert.deepEqual(openMessage(hpke, key, enc, ciphertext), secret);
  assert.throws(() => openMessage(hpke, hpke.generateKey(), enc, ciphertext), { code: "invalid_argument" });
  assert.ok(!bundle.includes(toHex(secret)));
});

test("an export bundle has the fields of one that the hosted service made, in its order", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = { exportBundle: { bundle: Outer } };
  const theirs = vectors.json<File>("client-acceptance/tkhq-sdk.json").exportBundle.bundle;
  const target = hpke.publicKey(hpke.generateKey());
  const ours = JSON.parse(
    makeExportBundle(hpke, signer, { organizationId, targetPublicKey: target, plaintext: secret }),
  ) as Outer;
  const innerKeys = ({ data }: Outer) => Object.keys(JSON.parse(new TextDecoder().decode(fromHex(data))));
  assert.deepEqual(Object.keys(ours), Object.keys(theirs));
  assert.deepEqual(innerKeys(ours), innerKeys(theirs));
  assert.equal(ours.version, theirs.version);
});

test("a target of our own is refused: its secret would be readable to whoever holds the root key", () => {
  for (const compressed of [false, true]) {
    const targetPublicKey = p256.getPublicKey(serviceKey, compressed);
    assert.throws(() => makeExportBundle(hpke, signer, { organizationId, targetPublicKey, plaintext: secret }), {
      code: "invalid_argument",
      message: "invalid target public key: this is a key of the server itself",
    });
  }
});

test("an import target bundle is signed and names organization and user", () => {
  const targetPublicKey = hpke.publicKey(hpke.generateKey());
  const inner = readBundle(makeImportTargetBundle(signer, { organizationId, userId, targetPublicKey }));
  assert.deepEqual(Object.entries(inner), [
    ["targetPublic", toHex(targetPublicKey)],
    ["organizationId", organizationId],
    ["userId", userId],
  ]);
});

test("a target public key is taken in four spellings and either case, and in no other", () => {
  const long = p256.getPublicKey(secret, false);
  const short = p256.getPublicKey(secret, true);
  for (const point of [long, short]) {
    for (const hex of [toHex(point), toHex(point).toUpperCase()]) {
      assert.deepEqual(parseTargetPublicKey(hpke, hex), new Uint8Array(long));
      assert.deepEqual(parseTargetPublicKey(hpke, `0x${hex}`), new Uint8Array(long));
    }
  }
  const wrong = toHex(long.map((byte, i) => (i === 64 ? byte ^ 1 : byte)));
  const bad = [
    "",
    "0x",
    "00",
    wrong,
    toHex(long).slice(2),
    `0X${toHex(long)}`,
    ` ${toHex(long)}`,
    `0x0x${toHex(long)}`,
  ];
  for (const text of [...bad, `06${toHex(long).slice(2)}`, toHex(short).slice(0, -1), `${toHex(short)}00`]) {
    assert.throws(() => parseTargetPublicKey(hpke, text), {
      code: "invalid_argument",
      message: /^invalid target public key/,
    });
  }
});

function clientBundle(target: Uint8Array, plaintext: Uint8Array): string {
  const { enc, ciphertext } = sealMessage(hpke, hpke.publicKey(target), plaintext);
  return JSON.stringify({ encappedPublic: toHex(enc), ciphertext: toHex(ciphertext) });
}

test("an encrypted bundle opens with the pending target it was made for, which is named", () => {
  const targets = Array.from({ length: 3 }, () => hpke.generateKey());
  for (const made of targets) {
    const { plaintext, target } = openImportBundle(hpke, targets, clientBundle(made, secret));
    assert.deepEqual(plaintext, secret);
    assert.equal(target, made);
  }
  const [used, ...rest] = targets;
  assert.ok(used !== undefined);
  assert.throws(() => openImportBundle(hpke, rest, clientBundle(used, secret)), { code: "invalid_argument" });
  assert.throws(() => openImportBundle(hpke, [], clientBundle(used, secret)), { code: "invalid_argument" });
});

test("unknown keys beside the two are tolerated, as clients may grow", () => {
  const target = hpke.generateKey();
  const bundle = JSON.stringify({ ...JSON.parse(clientBundle(target, secret)), suite: 1 });
  assert.deepEqual(openImportBundle(hpke, [target], bundle).plaintext, secret);
});

test("whatever is wrong with an encrypted bundle, the answer is one and the same", () => {
  const target = hpke.generateKey();
  const good = JSON.parse(clientBundle(target, secret)) as { encappedPublic: string; ciphertext: string };
  const { encappedPublic, ciphertext } = good;
  const compressed = toHex(p256.Point.fromHex(encappedPublic).toBytes(true));
  const bad = [
    "",
    "null",
    "[]",
    "7",
    "{}",
    "not json",
    JSON.stringify({ encappedPublic }),
    JSON.stringify({ encappedPublic, ciphertext: 7 }),
    JSON.stringify({ encappedPublic, ciphertext: "" }),
    JSON.stringify({ encappedPublic, ciphertext: ciphertext.slice(1) }),
    JSON.stringify({ encappedPublic, ciphertext: ciphertext.slice(2) }),
    JSON.stringify({ encappedPublic, ciphertext: `0x${ciphertext}` }),
    JSON.stringify({ encappedPublic: compressed, ciphertext }),
    JSON.stringify({ encappedPublic: `${encappedPublic.slice(0, -2)}00`, ciphertext }),
    JSON.stringify({ encappedPublic: "00", ciphertext }),
    JSON.stringify({ encappedPublic, ciphertext: "00".repeat(16 * 1024 + 1) }),
    `{"encappedPublic":"${encappedPublic}","encappedPublic":"${encappedPublic}","ciphertext":"${ciphertext}"}`,
    clientBundle(hpke.generateKey(), secret),
  ];
  const answers = bad.map((bundle) => {
    try {
      openImportBundle(hpke, [target], bundle);
    } catch (error) {
      assert.ok(error instanceof Fault, String(error));
      return `${error.code}: ${error.message}`;
    }
    return assert.fail(`opened: ${bundle}`);
  });
  assert.deepEqual(
    [...new Set(answers)],
    [
      "invalid_argument: invalid encrypted bundle: it does not open with a pending import of this user, which lasts one use",
    ],
  );
});

test("an error of the platform is not mistaken for a bundle that does not fit", () => {
  const target = hpke.generateKey();
  const broken: HpkePrimitives<Uint8Array> = {
    ...hpke,
    decrypt() {
      throw new Error("out of memory");
    },
  };
  assert.throws(() => openImportBundle(broken, [target], clientBundle(target, secret)), /out of memory/);
});
