/** Endpoints whose parameters and results are bearer values, for tests of how those are kept. Importing this file declares them. */
import { randomBytes, randomUUID } from "node:crypto";
import { Fault } from "@keystead/core/fault.ts";
import { makeVerificationToken } from "@keystead/core/otp/verification_token.ts";
import { type ActivityForm, type AnyActivity, defineActivity, formsOf } from "../src/endpoints/define_activity.ts";
import { Type } from "../src/fields/schema.ts";
import { activities, activityForms } from "../src/generated/activities.ts";
import { activityValidators } from "../src/generated/activity_validators.ts";
import type { ActivityPath } from "./gateway_rig.ts";

/** A token by nobody, of the right shape. */
export function someToken(expiresAtMs: number): string {
  const signer = { sign: () => new Uint8Array(randomBytes(64)) };
  return makeVerificationToken(signer, {
    tokenId: randomUUID(),
    expiresAtMs,
    organizationId: randomUUID(),
    verificationType: "OTP_TYPE_EMAIL",
    contact: "user@example.com",
    publicKey: undefined,
  });
}

/** Takes a token and may wait for approvals. With the note "fail" it fails, and says the token. */
export const testUseToken = defineActivity({
  path: "test_use_token",
  type: "ACTIVITY_TYPE_TEST_USE_TOKEN",
  intentKey: "testUseTokenIntent",
  resultKey: "testUseTokenResult",
  summary: "Only in tests",
  params: Type.Object({
    verificationToken: Type.String(),
    note: Type.String(),
    users: Type.Optional(Type.Array(Type.Object({ userName: Type.String(), token: Type.Optional(Type.String()) }))),
  }),
  result: Type.Object({ length: Type.Number() }),
  bearerParams: { verificationToken: "verificationToken", "users[].token": "verificationToken" },
  state: () => undefined,
  run(_, { verificationToken, note }) {
    if (note === "fail") throw new Fault("invalid_argument", `bad token \`${verificationToken}\``);
    return { changes: [], result: { length: verificationToken.length } };
  },
});

/** Takes a code and gives a token for it, which lasts an hour. */
export const testTradeCode = defineActivity({
  path: "test_trade_code",
  type: "ACTIVITY_TYPE_TEST_TRADE_CODE",
  intentKey: "testTradeCodeIntent",
  resultKey: "testTradeCodeResult",
  summary: "Only in tests",
  params: Type.Object({ otpCode: Type.String() }),
  result: Type.Object({ verificationToken: Type.String(), endsAtMs: Type.Number() }),
  sealed: true,
  pure: true,
  neverWaits: true,
  bearerParams: { otpCode: "oneTimeCode" },
  bearer: { field: "verificationToken", endsAtMs: ({ endsAtMs }) => Number(endsAtMs), onlyForSameBytes: true },
  state: () => undefined,
  run(_, __, { nowMs }) {
    const endsAtMs = nowMs + 3_600_000;
    return { changes: [], result: { verificationToken: someToken(endsAtMs), endsAtMs } };
  },
});

/** As paths of the rig. */
export const useToken = "test_use_token" as ActivityPath;
export const tradeCode = "test_trade_code" as ActivityPath;

for (const activity of [testUseToken, testTradeCode] as unknown as AnyActivity[]) {
  for (const form of formsOf(activity)) (activityForms as Map<string, ActivityForm>).set(form.type, form);
  (activityValidators as Record<string, (value: unknown) => boolean>)[activity.type] = () => true;
  (activities as unknown as Record<string, AnyActivity>)[activity.path] = activity;
}
