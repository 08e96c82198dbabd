/** One-time codes through gateway and signer: asking for one, reading the message that brings it, answering it in either form. */
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { encryptOtpCodeToBundle } from "@turnkey/crypto";
import type { AnyActivity } from "../src/endpoints/define_activity.ts";
import { submit } from "../src/gateway/submit/submit.ts";
import type { SubmitDependencies } from "../src/gateway/submit/submit_dependencies.ts";
import { activityForms } from "../src/generated/activities.ts";
import { openMessage, type TimedMessage } from "../src/outbox/sealed_message.ts";
import { openKeyring } from "../src/signer/secrets/keyring.ts";
import { dialectOf } from "../src/views/dialect.ts";
import { stampEvidence } from "./evidence.ts";
import { type Activity, type GatewayRig, type Person, Refused } from "./gateway_rig.ts";

export const initTypes = ["ACTIVITY_TYPE_INIT_OTP", "ACTIVITY_TYPE_INIT_OTP_V2", "ACTIVITY_TYPE_INIT_OTP_V3"] as const;

/** Parameters of a code for a contact, as all versions but the first take them. */
export function codeParams(contact = "user@example.com", more: object = {}) {
  const otpType = contact.includes("@") ? "OTP_TYPE_EMAIL" : "OTP_TYPE_SMS";
  return { otpType, contact, appName: "Example", ...more };
}

export type Sending = { by?: Person; host?: SubmitDependencies; organizationId?: string };

let ticks = 0;

export function bodyOf(rig: GatewayRig, type: string, parameters: object, organizationId = rig.organizationId) {
  const timestampMs = String(rig.signer.clock.nowMs - (ticks++ % 5_000));
  return Buffer.from(JSON.stringify({ type, timestampMs, organizationId, parameters }));
}

/** A body of any version, as it is; a refusal is thrown. */
export async function sendBody(
  rig: GatewayRig,
  body: Uint8Array,
  { by = rig.root, host = rig.dependencies }: Sending = {},
): Promise<Activity> {
  const { type } = JSON.parse(Buffer.from(body).toString()) as { type: string };
  const { activity } = activityForms.get(type) as { activity: AnyActivity };
  const evidence = stampEvidence(signStamp(by.privateKey, "SIGNATURE_SCHEME_TK_API_P256", body));
  const answer = await submit(host, activity, { body, evidence, idempotencyKey: undefined }, dialectOf(undefined));
  if ("failure" in answer) throw new Refused(answer.failure);
  return answer.activity;
}

export function sendType(rig: GatewayRig, type: string, parameters: object, sending: Sending = {}): Promise<Activity> {
  return sendBody(rig, bodyOf(rig, type, parameters, sending.organizationId), sending);
}

export type Started = { otpId: string; otpEncryptionTargetBundle?: string };

export function startedOf({ result }: Pick<Activity, "result">): Started {
  return (result.initOtpResultV2 ?? result.initOtpResult) as Started;
}

export async function startCode(
  rig: GatewayRig,
  parameters: object = codeParams(),
  { type = "ACTIVITY_TYPE_INIT_OTP_V3", ...sending }: Sending & { type?: string } = {},
): Promise<Started & { code: string }> {
  const activity = await sendType(rig, type, parameters, sending);
  const { code } = await messageOf(rig, activity);
  return { ...startedOf(activity), code };
}

/** The message that an activity asked to be sent, opened. */
export async function messageOf({ store, signer }: GatewayRig, { id }: Pick<Activity, "id">): Promise<TimedMessage> {
  const { courierKey } = openKeyring(signer.rootKey, 1, signer.keyring);
  const { organization_id, message_id, sealed } = await store.db
    .selectFrom("outbox")
    .selectAll()
    .where("activity_id", "=", id)
    .executeTakeFirstOrThrow();
  const place = { organizationId: organization_id, messageId: message_id };
  const message = openMessage(courierKey, place, new Uint8Array(sealed ?? []));
  if (message === undefined) throw new Error("the message does not open");
  return message;
}

/** As the published client encrypts an answer, under our key. */
export function encryptAnswer(
  { signer }: Pick<GatewayRig, "signer">,
  { otpEncryptionTargetBundle = "" }: Started,
  typed: string,
  publicKey: string,
): Promise<string> {
  const { otp } = openKeyring(signer.rootKey, 1, signer.keyring).publicKeys;
  return encryptOtpCodeToBundle(typed, otpEncryptionTargetBundle, publicKey, otp);
}

export function tokenOf({ result }: Pick<Activity, "result">): string {
  return (result.verifyOtpResult as { verificationToken: string }).verificationToken;
}
