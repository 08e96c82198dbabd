import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTempo, serialiseTempo, type TempoTransaction, tempoDigest } from "../../chains/tempo.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { EvmText, type Struct } from "../values/values.ts";
import { tempoStruct } from "./tempo.ts";

const sender = new EvmText("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266");
const token = new Uint8Array(20).fill(0xda);
const to = new Uint8Array(20).fill(0x11);

const base: TempoTransaction = {
  chainId: 42_431n,
  maxPriorityFeePerGas: 1n,
  maxFeePerGas: 900n,
  gas: 100_000n,
  calls: [
    { to, value: 0n, data: fromHex("a9059cbb00") },
    { to: undefined, value: 0n, data: fromHex("60806040") },
    { to, value: 0n, data: fromHex("a905") },
  ],
  accessList: [],
  nonceKey: 2n,
  nonce: 3n,
  validBefore: 1_900_000_000n,
  validAfter: 0n,
  feeToken: token,
  feePayer: { kind: "sender" },
  authorizationList: [],
  keyAuthorization: undefined,
};

const read = (change: Partial<TempoTransaction>) => parseTempo(serialiseTempo({ ...base, ...change }));
const factsOf = (change: Partial<TempoTransaction> = {}): Struct => tempoStruct(read(change), () => sender);

test("every field, and the calls in their order", () => {
  const text = (hex: string) => new EvmText(hex);
  assert.deepEqual(
    { ...factsOf() },
    {
      chain_id: 42_431n,
      nonce: 3n,
      gas_limit: 100_000n,
      max_fee_per_gas: 900n,
      max_priority_fee_per_gas: 1n,
      valid_before: 1_900_000_000n,
      valid_after: 0n,
      from: sender,
      fee_token: text(`0x${toHex(token)}`),
      calls: [
        { to: text(`0x${toHex(to)}`), input: text("0xa9059cbb00"), function_signature: text("0xa9059cbb") },
        { to: text(""), input: text("0x60806040"), function_signature: text("") },
        { to: text(`0x${toHex(to)}`), input: text("0xa905"), function_signature: text("") },
      ],
    },
  );
});

test("a fee token that the sender does not sign for is not shown as its choice", () => {
  const feePayer = { kind: "signed", yParity: 0n, r: 1n, s: 2n } as const;
  const other = new Uint8Array(20).fill(0x22);
  assert.deepEqual(tempoDigest(read({ feePayer })), tempoDigest(read({ feePayer, feeToken: other })));
  assert.deepEqual(factsOf({ feePayer }).fee_token, new EvmText(""));
  assert.deepEqual(factsOf({ feeToken: undefined }).fee_token, new EvmText(""));
});

test("what no policy has a name for is refused: a key that gets the account, a value in a call", () => {
  const refused = { code: "invalid_argument", errorCode: "INVALID_TRANSACTION", message: /which no policy can see/ };
  const keyAuthorization = { chainId: 1n, keyType: 0n, keyId: to, terms: [], signature: undefined };
  assert.throws(() => factsOf({ keyAuthorization }), refused);
  assert.throws(() => factsOf({ calls: [{ to, value: 1n, data: new Uint8Array() }] }), refused);
});
