import assert from "node:assert/strict";
import { test } from "node:test";
import { runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { junkAccount } from "../../test/known_keys.ts";
import { organization, person } from "../../test/members.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { signRawPayload } from "./sign_raw_payload.ts";
import { signRawPayloads } from "./sign_raw_payloads.ts";

const pages = organization({ users: [person("ann")] });
const account = junkAccount("acme", {
  curve: "CURVE_SECP256K1",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
});
const opened: string[] = [];
const keyAccess = testKeyAccess({ records: [account] });
const keys = {
  ...keyAccess,
  open(record: Parameters<typeof keyAccess.open>[0]) {
    opened.push(record.kind);
    return keyAccess.open(record);
  },
};
const { address: signWith } = account.record;

const text = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_KECCAK256" } as const;
const digests = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" } as const;
const typedData = { encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" } as const;

function sign(payloads: string[], choices: typeof text | typeof digests | typeof typedData) {
  return runActivity(signRawPayloads, pages, { signWith, payloads, ...choices }, { keys }).result.signatures;
}

test("each payload gets the signature it would get alone, in the order asked", () => {
  const payloads = ["b", "a", "", "b"];
  const alone = payloads.map((payload) => {
    return runActivity(signRawPayload, pages, { signWith, payload, ...text }, { keys }).result;
  });
  opened.length = 0;
  assert.deepEqual(sign(payloads, text), alone);
  assert.deepEqual(opened, ["walletAccount"]);
});

test("one payload that is refused refuses all, before the secret is opened", () => {
  opened.length = 0;
  const refusal = { code: "invalid_argument", message: /^expected a 32-bytes-long digest: hash the payload first, / };
  assert.throws(() => sign(["00".repeat(32), "00".repeat(31), "00".repeat(32)], digests), refusal);
  assert.deepEqual(opened, []);
});

test("a thousand payloads are taken, one more or none is not", () => {
  const isValid = activityValidators.ACTIVITY_TYPE_SIGN_RAW_PAYLOADS;
  const fits = (count: number) => isValid?.({ signWith, payloads: Array(count).fill("00"), ...text });
  assert.deepEqual([0, 1, 1_000, 1_001].map(fits), [false, true, true, false]);
  assert.equal(sign(Array(1_000).fill("00".repeat(32)), digests).length, 1_000);
});

test("together they may be so long, and typed data less", () => {
  const half = "a".repeat(512 * 1024);
  assert.equal(sign([half, half], text).length, 2);
  assert.throws(() => sign([half, half, "a"], text), {
    code: "invalid_argument",
    message: "the payloads are too long together: 1048577 characters where 1048576 are taken",
  });
  const third = "{".repeat(100 * 1024);
  assert.throws(() => sign([third, third, third], typedData), {
    code: "invalid_argument",
    message: "the payloads are too long together: 307200 characters where 262144 are taken",
  });
  assert.throws(() => sign([third], typedData), { code: "invalid_argument", message: /^invalid EIP-712 typed data/ });
});
