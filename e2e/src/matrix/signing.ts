/** sign_raw_payload, sign_raw_payloads, sign_transaction. */
import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { parseTransaction, recoverTransactionAddress, serializeTransaction, type TransactionSerialized } from "viem";
import { invalid, notFound } from "../refusals.ts";
import { activityEntry, type BadInput, type ForeignInput } from "./entry.ts";
import type { Json } from "./fixture.ts";
import { newAccount, newPrivateKey, solana } from "./keys.ts";
import { byId } from "./people.ts";

const choices = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" } as const;

const digest = () => randomBytes(32).toString("hex");

const nothingToSignWith = notFound("Could not find any resource to sign with.");

const foreignKeys: ForeignInput<Json>[] = [
  {
    name: "an address",
    bend: (good, { address }) => ({ ...good, signWith: address }),
    refusal: () => nothingToSignWith,
  },
  {
    name: "a private key",
    bend: (good, { privateKeyId }) => ({ ...good, signWith: privateKeyId }),
    refusal: () => nothingToSignWith,
  },
];

const badKeys: BadInput<Json>[] = [
  {
    name: "nothing that signs",
    bend: (good) => ({ ...good, signWith: "anything" }),
    refusal: nothingToSignWith,
    kept: "FAILED",
  },
  {
    name: "a wallet, which does not sign",
    bend: async (good, fixture) => ({ ...good, signWith: (await newAccount(fixture)).walletId }),
    refusal: nothingToSignWith,
    kept: "FAILED",
  },
  {
    name: "an empty signWith",
    bend: (good) => ({ ...good, signWith: "" }),
    refusal: invalid("invalid request body: field `parameters.signWith` must not have fewer than 1 characters"),
  },
];

const messageOnly =
  "ed25519 keys sign the payload itself, as HASH_FUNCTION_NOT_APPLICABLE with PAYLOAD_ENCODING_HEXADECIMAL or PAYLOAD_ENCODING_TEXT_UTF8";

/** As viem's serializer writes it where the domain's type is left out. */
const lostDomain = JSON.stringify({
  domain: {},
  message: { x: true },
  primaryType: "M",
  types: { M: [{ name: "x", type: "bool" }] },
});

function badDomain(payloads: object): BadInput<Json> {
  return {
    name: "typed data whose domain was lost on the way",
    bend: (good) => ({ ...good, ...payloads, encoding: "PAYLOAD_ENCODING_EIP712" }),
    refusal: invalid(
      "`domain` is {} and `types` has no EIP712Domain, so the signature would hold for no contract; add EIP712Domain to `types`",
    ),
    kept: "FAILED",
  };
}

/** The same for one payload and for several; `to` puts a payload where the activity wants it. */
function badPayloads(to: (payload: string) => object): BadInput<Json>[] {
  const kept = "FAILED";
  return [
    ...badKeys,
    ...["", "00", digest().slice(2), `${digest()}00`].map((payload) => ({
      name: `a digest of ${payload.length} digits`,
      bend: (good: Json) => ({ ...good, ...to(payload) }),
      refusal: invalid(
        "expected a 32-bytes-long digest: hash the payload first, or choose HASH_FUNCTION_SHA256 or HASH_FUNCTION_KECCAK256",
      ),
      kept: "FAILED" as const,
    })),
    {
      name: "a hash function of its own, which an Ed25519 key has already",
      bend: async (good, fixture) => ({
        ...good,
        signWith: (await newAccount(fixture, fixture.place, solana)).address,
      }),
      refusal: invalid(`invalid hash function: ${messageOnly}`),
      kept,
    },
    {
      name: "no hash function for a key that signs digests",
      bend: (good) => ({ ...good, hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" }),
      refusal: invalid(
        "invalid hash function: this key signs a digest; choose HASH_FUNCTION_SHA256 or HASH_FUNCTION_KECCAK256, or HASH_FUNCTION_NO_OP if the payload is a digest already",
      ),
      kept,
    },
    {
      name: "no typed data",
      bend: (good) => ({ ...good, ...to("{}"), encoding: "PAYLOAD_ENCODING_EIP712" }),
      refusal: invalid(/^invalid EIP-712 typed data: /),
      kept,
    },
    {
      name: "a hash function that is none",
      bend: (good) => ({ ...good, hashFunction: "HASH_FUNCTION_NONE" }),
      refusal: invalid(/^invalid hash function: field `parameters\.hashFunction` must be one of /),
    },
    {
      name: "an encoding that is none",
      bend: (good) => ({ ...good, encoding: "PAYLOAD_ENCODING_NONE" }),
      refusal: invalid(/^invalid payload encoding: field `parameters\.encoding` must be one of /),
    },
  ];
}

/** Low s, and of the key that the account shows. */
function checkSignature({ r, s, v, ...nothing }: Json, publicKey: string, payload: string): void {
  assert.deepEqual(nothing, {});
  assert.match(v, /^0[01]$/);
  assert.match(`${r} ${s}`, /^[0-9a-f]{64} [0-9a-f]{64}$/);
  const isGood = secp256k1.verify(fromHex(r + s), fromHex(payload), fromHex(publicKey), { prehash: false, lowS: true });
  assert.ok(isGood);
  const recovered = secp256k1.Signature.fromBytes(fromHex(r + s))
    .addRecoveryBit(Number(v))
    .recoverPublicKey(fromHex(payload));
  assert.equal(recovered.toHex(true), publicKey);
}

type Choices = { encoding: string; hashFunction: string };

export const signRawPayload = activityEntry<{ signWith: string; payload: string } & Choices>({
  good: async (fixture) => ({ signWith: (await newAccount(fixture)).address, payload: digest(), ...choices }),
  required: ["signWith", "payload", "encoding", "hashFunction"],
  result: (_, { result }) => result,
  shows({ signWith, payload }, { before, after, result }) {
    assert.deepEqual(after, before);
    checkSignature(result, byId(after.accounts, "address", signWith).publicKey, payload);
  },
  bad: [...badPayloads((payload) => ({ payload })), badDomain({ payload: lostDomain })],
  foreign: foreignKeys,
  versions: {
    ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: async (fixture) => ({
      privateKeyId: await newPrivateKey(fixture),
      payload: digest(),
      ...choices,
    }),
  },
  also: {
    "a private key signs by its id and by its address": async (fixture) => {
      const privateKeyId = await newPrivateKey(fixture);
      const { privateKey } = await fixture.ask("get_private_key", { privateKeyId });
      const payload = digest();
      const compressed = secp256k1.Point.fromHex(privateKey.publicKey).toHex(true);
      for (const signWith of [privateKeyId, privateKeyId.toUpperCase(), privateKey.addresses[0].address]) {
        checkSignature(await fixture.done("sign_raw_payload", { signWith, payload, ...choices }), compressed, payload);
      }
    },
  },
});

export const signRawPayloads = activityEntry<{ signWith: string; payloads: string[] } & Choices>({
  good: async (fixture) => ({
    signWith: (await newAccount(fixture)).address,
    payloads: [digest(), digest()],
    ...choices,
  }),
  required: ["signWith", "payloads", "encoding", "hashFunction"],
  result: ({ payloads }, { result }) => {
    assert.equal(result.signatures.length, payloads.length);
    return { signatures: result.signatures };
  },
  shows({ signWith, payloads }, { before, after, result }) {
    assert.deepEqual(after, before);
    const { publicKey } = byId(after.accounts, "address", signWith);
    for (const [index, payload] of payloads.entries()) checkSignature(result.signatures[index], publicKey, payload);
  },
  bad: [
    ...badPayloads((payload) => ({ payloads: [digest(), payload] })),
    badDomain({ payloads: [lostDomain] }),
    {
      name: "none",
      bend: (good) => ({ ...good, payloads: [] }),
      refusal: invalid("invalid request body: field `parameters.payloads` must not have fewer than 1 items"),
    },
    {
      name: "too many",
      bend: (good) => ({ ...good, payloads: Array.from({ length: 1_001 }, () => "00") }),
      refusal: invalid("invalid request body: field `parameters.payloads` must not have more than 1000 items"),
    },
  ],
  foreign: foreignKeys,
});

/** EIP-1559, as clients send it: without `0x`. */
function unsigned(): string {
  const transaction = serializeTransaction({
    chainId: 1,
    nonce: randomBytes(2).readUInt16BE(),
    to: "0x000000000000000000000000000000000000dEaD",
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 2n,
    maxPriorityFeePerGas: 1n,
  });
  return transaction.slice(2);
}

async function checkTransaction(unsignedTransaction: string, signedTransaction: string, address: string) {
  assert.match(signedTransaction, /^[0-9a-f]+$/);
  const serializedTransaction = `0x${signedTransaction}` as TransactionSerialized<"eip1559">;
  const { r: _, s: __, v: ___, yParity: ____, ...rest } = parseTransaction(serializedTransaction);
  assert.equal(serializeTransaction(rest), `0x${unsignedTransaction}`);
  assert.equal(await recoverTransactionAddress({ serializedTransaction }), address);
}

function unparsable(name: string, unsignedTransaction: string): BadInput<Json> {
  return {
    name,
    bend: (good) => ({ ...good, unsignedTransaction }),
    refusal: invalid(/^failed to parse transaction: /, "INVALID_TRANSACTION"),
    kept: "FAILED",
  };
}

export const signTransaction = activityEntry<{ signWith: string; unsignedTransaction: string; type: string }>({
  good: async (fixture) => ({
    signWith: (await newAccount(fixture)).address,
    unsignedTransaction: unsigned(),
    type: "TRANSACTION_TYPE_ETHEREUM",
  }),
  required: ["signWith", "unsignedTransaction", "type"],
  result: (_, { result }) => ({ signedTransaction: result.signedTransaction }),
  async shows({ signWith, unsignedTransaction }, { before, after, result }) {
    assert.deepEqual(after, before);
    await checkTransaction(unsignedTransaction, result.signedTransaction, signWith);
  },
  bad: [
    ...badKeys,
    unparsable("not hex", "zz"),
    unparsable("an empty list", "c0"),
    unparsable("one byte too many", `${unsigned()}00`),
    unparsable("one byte too few", unsigned().slice(0, -2)),
    {
      name: "a transaction of another curve",
      bend: (good) => ({ ...good, type: "TRANSACTION_TYPE_SOLANA" }),
      refusal: invalid("invalid curve: TRANSACTION_TYPE_SOLANA is signed with a key on CURVE_ED25519"),
      kept: "FAILED",
    },
    {
      name: "a transaction of another chain",
      bend: (good) => ({ ...good, type: "TRANSACTION_TYPE_TRON" }),
      refusal: invalid("invalid address format: TRANSACTION_TYPE_TRON is not signed with an ADDRESS_FORMAT_ETHEREUM"),
      kept: "FAILED",
    },
    {
      name: "a type that is none",
      bend: (good) => ({ ...good, type: "TRANSACTION_TYPE_NONE" }),
      refusal: invalid(/^invalid request body: field `parameters\.type` must be one of /),
    },
  ],
  foreign: foreignKeys,
  versions: {
    ACTIVITY_TYPE_SIGN_TRANSACTION: async (fixture) => ({
      privateKeyId: await newPrivateKey(fixture, fixture.place, { privateKeyName: `Signs ${randomUUID()}` }),
      unsignedTransaction: unsigned(),
      type: "TRANSACTION_TYPE_ETHEREUM",
    }),
  },
});
