import assert from "node:assert/strict";
import { test } from "node:test";
import { EvmText } from "../values/values.ts";
import { activityParams } from "../vocabulary/activity_params.ts";
import { compileParams } from "./params.ts";

function paramsOf(kind: string, params: Record<string, unknown>) {
  return compileParams(activityParams[kind] ?? assert.fail(kind))(params);
}

test("names are the wire's in snake case, with the exceptions that are written down", () => {
  assert.deepEqual(paramsOf("DELETE_API_KEYS", { userId: "u", apiKeyIds: ["a", "b"] }), {
    user_id: "u",
    api_key_ids: ["a", "b"],
  });
  assert.equal(paramsOf("EARN_DEPOSIT", { chainCaip2: "eip155:1" }).chain, "eip155:1");
});

test("what was not sent, or is not of its type, has no value", () => {
  const nothing = { user_id: undefined, api_key_ids: undefined };
  assert.deepEqual(paramsOf("DELETE_API_KEYS", {}), nothing);
  assert.deepEqual(paramsOf("DELETE_API_KEYS", { userId: null, apiKeyIds: null }), nothing);
  assert.deepEqual(paramsOf("DELETE_API_KEYS", { userId: 7, apiKeyIds: ["a", 7] }), nothing);
  assert.equal(paramsOf("CREATE_SWAP_QUOTE", {}).slippage_bps, undefined);
});

test("a login without a profile has the empty one", () => {
  assert.deepEqual(paramsOf("STAMP_LOGIN", {}), { session_profile_id: "" });
  assert.deepEqual(paramsOf("OTP_LOGIN", { sessionProfileId: "p" }), { session_profile_id: "p" });
});

test("numbers come as numbers or as digits, and never rounded", () => {
  const length = (otpLength: unknown) => paramsOf("INIT_OTP_AUTH", { otpLength }).otp_length;
  assert.equal(length(9), 9n);
  assert.equal(
    length("115792089237316195423570985008687907853269984665640564039457584007913129639935"),
    2n ** 256n - 1n,
  );
  for (const wrong of [1.5, 2 ** 53, "0x9", "09", "-1", "", true]) assert.equal(length(wrong), undefined);
});

test("an EVM address is the same in either case, other text is exact", () => {
  const address = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
  assert.deepEqual(paramsOf("CLAIM_EARN_FEES", { wrapperAddress: address }).wrapper_address, new EvmText(address));
  assert.equal(paramsOf("CREATE_SWAP_QUOTE", { destinationAddress: "HAgk14" }).destination_address, "HAgk14");
});

test("a Spark derivation says which it is; what is not in it is empty", () => {
  const signature = (derivation: object) => ({
    derivation,
    message: "00",
    verifyingKey: "02",
    operatorCommitments: [],
  });
  const { signatures } = paramsOf("SPARK_SIGN_FROST", {
    signWith: "spark1",
    signatures: [
      signature({ signingLeaf: { leafId: "l" } }),
      signature({ staticDeposit: { index: 3 } }),
      signature({}),
    ],
  });
  const shown = (type: string, leaf_id: string, index: bigint) => ({
    derivation: { type, signing_leaf: { leaf_id }, static_deposit: { index } },
    message: "00",
    verifying_key: "02",
    operator_commitments: [],
    adaptor_public_key: "",
  });
  assert.deepEqual(signatures, [shown("signing_leaf", "l", 0n), shown("static_deposit", "", 3n), shown("", "", 0n)]);
  const both = signature({ identity: {}, signingLeaf: { leafId: "l" } });
  assert.throws(() => paramsOf("SPARK_SIGN_FROST", { signWith: "spark1", signatures: [both] }), {
    code: "invalid_argument",
  });
});
