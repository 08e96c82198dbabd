import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { RLP } from "micro-eth-signer/core/rlp.js";
import { fromHex, toHex } from "../encoding/hex.ts";
import { type RlpItem, toRlp, toRlpInteger } from "../encoding/rlp.ts";
import type { RecoverableSignature } from "./signature.ts";
import { parseTempo, serialiseTempo, type TempoTransaction, tempoDigest, withTempoSignature } from "./tempo.ts";

const privateKey = fromHex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

function sign(digest: Uint8Array): RecoverableSignature {
  const [recovery, ...rs] = secp256k1.sign(digest, privateKey, { prehash: false, format: "recovered" });
  return { r: Uint8Array.from(rs.slice(0, 32)), s: Uint8Array.from(rs.slice(32)), yParity: recovery === 1 ? 1 : 0 };
}

/** Values that the chain's published TypeScript library gives for one call to 0x7099… on chain 1. */
const published = {
  unsigned: "76e501808080d8d79470997970c51812dc3a010c7d01b50e0d17dc79c88080c0808080808080c0",
  digest: "e1222a45806457acbe3a13940aae4c34f3180659fa16613b5a45dc183adae07c",
  signed:
    "76f86801808080d8d79470997970c51812dc3a010c7d01b50e0d17dc79c88080c0808080808080c0b8416b37e17bf41d92dfee5ffdce55431bf01dd7875b2229d6258350c5ee6fe6a54225b867dc1b19c9ec97833ebdccd830d2846c5b724b72dcd754d694d08b5e80ee1c",
  awaitingFeePayer: "76e501808080d8d79470997970c51812dc3a010c7d01b50e0d17dc79c88080c0808080808000c0",
  signedByFeePayer: "76e801808080d8d79470997970c51812dc3a010c7d01b50e0d17dc79c88080c08080808080c3800102c0",
  withKeyAuthorization:
    "76f8a201808080d8d79470997970c51812dc3a010c7d01b50e0d17dc79c88080c0808080808080c0f87bf7808094be95c3f554e9fc85ec51be69a3d807a0d55bcf2c84499602d2dad99420c000000000000000000000000000000000000183989680b841635dc2033e60185bb36709c29c75d64ea51dfbd91c32ef4be198e4ceb169fb4d50c2667ac4c771072746acfdcf1f1483336dcca8bd2df47cd83175dbe60f05401b",
};

test("the published library's digest and signed bytes", () => {
  const transaction = parseTempo(fromHex(published.unsigned));
  assert.equal(toHex(tempoDigest(transaction)), published.digest);
  assert.equal(toHex(withTempoSignature(transaction, sign(tempoDigest(transaction)))), published.signed);
  assert.throws(() => parseTempo(fromHex(published.signed)), { errorCode: "INVALID_TRANSACTION" });
});

test("with a fee payer, awaited or signed, the sender signs the placeholder and no fee token", () => {
  const awaited = parseTempo(fromHex(published.awaitingFeePayer));
  const paid = parseTempo(fromHex(published.signedByFeePayer));
  assert.deepEqual(awaited.feePayer, { kind: "awaited" });
  assert.deepEqual(paid.feePayer, { kind: "signed", yParity: 0n, r: 1n, s: 2n });
  assert.equal(toHex(tempoDigest(awaited)), toHex(keccak_256(fromHex(published.awaitingFeePayer))));
  assert.deepEqual(tempoDigest(paid), tempoDigest(awaited));
  const inToken = { ...paid, feeToken: new Uint8Array(20).fill(0x20) };
  assert.deepEqual(tempoDigest(parseTempo(serialiseTempo(inToken))), tempoDigest(awaited));
  // What is returned still carries the fee payer's part.
  assert.match(toHex(withTempoSignature(paid, sign(tempoDigest(paid)))), /c3800102c0b841/);
});

test("a key authorization is part of what is read and signed", () => {
  const bytes = fromHex(published.withKeyAuthorization);
  const transaction = parseTempo(bytes);
  assert.deepEqual(tempoDigest(transaction), keccak_256(bytes));
  const { keyId, keyType, chainId, terms, signature } = transaction.keyAuthorization ?? assert.fail();
  assert.deepEqual([toHex(keyId), keyType, chainId], ["be95c3f554e9fc85ec51be69a3d807a0d55bcf2c", 0n, 0n]);
  assert.deepEqual(terms[0], toRlpInteger(1_234_567_890n));
  assert.equal(terms.length, 2);
  assert.equal(signature?.length, 65);
  const unsignedGrant = serialiseTempo({
    ...transaction,
    keyAuthorization: { keyId, keyType, chainId, terms, signature: undefined },
  });
  assert.equal(parseTempo(unsignedGrant).keyAuthorization?.signature, undefined);
});

const empty = new Uint8Array();
const address = new Uint8Array(20).fill(0x11);
const integer = toRlpInteger;

const whole: TempoTransaction = {
  chainId: 42_431n,
  maxPriorityFeePerGas: 1n,
  maxFeePerGas: 2n ** 128n - 1n,
  gas: 100_000n,
  calls: [
    { to: address, value: 7n, data: Uint8Array.of(0xa9, 0x05, 0x9c, 0xbb) },
    { to: undefined, value: 0n, data: empty },
  ],
  accessList: [{ address, storageKeys: [new Uint8Array(32)] }],
  nonceKey: 2n ** 256n - 1n,
  nonce: 9n,
  validBefore: 1_900_000_000n,
  validAfter: 1_800_000_000n,
  feeToken: address,
  feePayer: { kind: "sender" },
  authorizationList: [{ chainId: 1n, address, nonce: 3n, signature: new Uint8Array(65).fill(1) }],
  keyAuthorization: undefined,
};

test("every field is read, and written as another implementation of RLP writes it", () => {
  const items = [
    42_431n,
    1n,
    2n ** 128n - 1n,
    100_000n,
    [
      [address, 7n, Uint8Array.of(0xa9, 0x05, 0x9c, 0xbb)],
      [empty, empty, empty],
    ],
    [[address, [new Uint8Array(32)]]],
    2n ** 256n - 1n,
    9n,
    1_900_000_000n,
    1_800_000_000n,
    address,
    empty,
    [[1n, address, 3n, new Uint8Array(65).fill(1)]],
  ];
  const bytes = Uint8Array.of(0x76, ...RLP.encode(items));
  assert.deepEqual(parseTempo(bytes), whole);
  assert.deepEqual(serialiseTempo(whole), bytes);
});

test("everything else is refused, with the reason", () => {
  const call: RlpItem = [[address, empty, empty]];
  const items: RlpItem[] = [integer(1n), empty, empty, empty, call, [], empty, empty, empty, empty, empty, empty, []];
  const grant: RlpItem = [[empty, empty, address], new Uint8Array(65)];
  const bytes = (parts: readonly RlpItem[]) => Uint8Array.of(0x76, ...toRlp(parts));
  assert.ok(parseTempo(bytes(items)));
  assert.ok(parseTempo(bytes([...items, grant])));
  for (const [why, input] of [
    [/not of type 0x76/, empty],
    [/not of type 0x76/, Uint8Array.of(0x78, ...toRlp(items))],
    [/12 items where 13 belong/, bytes(items.slice(1))],
    [/already signed, or of a later version/, bytes([...items, new Uint8Array(65)])],
    [/already signed, or of a later version/, bytes([...items, grant, new Uint8Array(65)])],
    [/already signed, or of a later version/, bytes([...items, empty, [[]]])],
    [/it calls nothing/, bytes(items.with(4, []))],
    [/2 items where 3 belong/, bytes(items.with(4, [[address, empty]]))],
    [/19 bytes where 20 belong/, bytes(items.with(4, [[address.subarray(1), empty, empty]]))],
    [/neither a signature nor a placeholder/, bytes(items.with(11, Uint8Array.of(1)))],
    [/neither a signature nor a placeholder/, bytes(items.with(11, address))],
    [/2 items where 3 belong/, bytes(items.with(11, [integer(1n), integer(1n)]))],
    [/leave it to the fee payer/, bytes(items.with(11, Uint8Array.of(0)).with(10, address))],
    [/an integer with a leading zero/, bytes(items.with(7, Uint8Array.of(0)))],
    [/an integer over 16 bytes/, bytes(items.with(2, integer(2n ** 128n)))],
    [/one or two items/, bytes([...items, []])],
    [/one or two items/, bytes([...items, [[empty, empty, address], empty, empty]])],
    [/2 items where 3 belong/, bytes([...items, [[empty, empty]]])],
    [/trailing bytes/, Uint8Array.of(...bytes(items), 0)],
  ] as const) {
    assert.throws(() => parseTempo(input), { errorCode: "INVALID_TRANSACTION", message: why });
  }
});
