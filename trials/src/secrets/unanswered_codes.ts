/** Codes of every kind that are sent and that nobody answers. */
import { randomUUID } from "node:crypto";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import type { OtpType } from "@keystead/core/otp/otp_types.ts";
import { activityForms } from "@keystead/e2e/generated/endpoints.ts";
import { createKey, keyFrom } from "@keystead/e2e/key_pairs.ts";
import type { KeysteadServer } from "@keystead/e2e/keystead_server.ts";
import { assertAccepted, call } from "@keystead/e2e/wire.ts";
import type { Client } from "@keystead/sdk";

export type UnansweredCode = {
  otpId: string;
  contact: string;
  /** Of the key that its answer would be encrypted to, in hex; older forms have none. */
  targetPublicKey: string | undefined;
};

/** One after the other. The last kind is for the contacts of users. */
const types = ["ACTIVITY_TYPE_INIT_OTP_V3", "ACTIVITY_TYPE_INIT_OTP_V2", "ACTIVITY_TYPE_INIT_OTP_AUTH_V3"] as const;
type StartType = (typeof types)[number];

type Contacts = Record<OtpType, string>;

/** Each round has contacts of its own: only so many codes are sent to one. */
const contactsOf = (n: number): Contacts => ({
  OTP_TYPE_EMAIL: `user-${n}@example.com`,
  OTP_TYPE_SMS: `+1555${String(n).padStart(7, "0")}`,
});

export type CodeStarter = {
  /** The code of round `n`. */
  start(otpType: OtpType, n: number): Promise<UnansweredCode>;
};

/** For that many rounds. */
export async function createCodeStarter(server: KeysteadServer, sdk: Client, rounds: number): Promise<CodeStarter> {
  for (const name of ["FEATURE_NAME_OTP_EMAIL_AUTH", "FEATURE_NAME_SMS_AUTH"] as const) {
    await sdk.setOrganizationFeature({ name });
  }
  const all = Array.from({ length: rounds }, (_, n) => contactsOf(n));
  const users = all.filter((_, n) => typeOf(n) === "ACTIVITY_TYPE_INIT_OTP_AUTH_V3").map(newUser);
  if (users.length > 0) await sdk.createUsers({ users });
  return { start: (otpType, n) => startCode(server, typeOf(n), otpType, contactsOf(n)[otpType]) };
}

const typeOf = (n: number) => types[n % types.length] as StartType;

function newUser({ OTP_TYPE_EMAIL: userEmail, OTP_TYPE_SMS: userPhoneNumber }: Contacts) {
  const { publicKey, curve: curveType } = createKey();
  const apiKeys = [{ apiKeyName: "Key", publicKey, curveType }];
  return {
    userName: randomUUID(),
    userEmail,
    userPhoneNumber,
    apiKeys,
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  };
}

/** Of nine characters out of 32, as codes are unless a client wants another form, and for as long as one may last. */
export async function startCode(
  { url, bootstrap }: KeysteadServer,
  type: StartType,
  otpType: OtpType,
  contact: string,
): Promise<UnansweredCode> {
  const { organizationId, apiPrivateKey } = bootstrap;
  const form = activityForms.get(type);
  if (form === undefined) throw new Error(`${type} is no activity`);
  const parameters = { otpType, contact, appName: "Example", expirationSeconds: "600" };
  const body = { type, timestampMs: String(Date.now()), organizationId, parameters };
  const key = keyFrom("API_KEY_CURVE_P256", fromHex(apiPrivateKey));
  const answer = await call(url, `/public/v1/submit/${form.path}`, key, body);
  assertAccepted(answer);
  const { otpId, otpEncryptionTargetBundle: bundle } = answer.json.activity.result[form.resultKey];
  return { otpId, contact, targetPublicKey: bundle === undefined ? undefined : targetPublicKeyIn(bundle) };
}

function targetPublicKeyIn(bundle: string): string {
  const { data } = JSON.parse(bundle) as { data: string };
  const { targetPublic } = JSON.parse(Buffer.from(data, "hex").toString()) as { targetPublic: string };
  return targetPublic;
}
