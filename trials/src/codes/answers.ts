/** One-time codes of a deployment: they are asked for, read where its servers write their messages, and answered encrypted. */
import { randomUUID } from "node:crypto";
import { messageTo } from "@keystead/e2e/mailbox.ts";
import { encryptOtpCodeToBundle, generateP256KeyPair } from "@turnkey/crypto";
import { type Organization, resultOf, type Stage, type Stamped } from "../races/stage.ts";

export type Started = { otpId: string; otpEncryptionTargetBundle: string };

export type Code = Started & { organization: Organization; code: string };

const client = generateP256KeyPair();

/** Six digits, which are the easiest to guess, for as long as a code may last. */
export async function startCode(stage: Stage, organization: Organization): Promise<Code> {
  const contact = `${randomUUID()}@example.com`;
  const form = { otpLength: 6, alphanumeric: false, expirationSeconds: "600" };
  const parameters = { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example", ...form };
  const feature = { name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" };
  const { organizationId, root } = stage.first;
  await stage.send(stage.stamped(organizationId, root, "set_organization_feature", feature));
  const started: Started = await stage.done(organization, organization.people[0], "init_otp", parameters);
  const { code } = await messageTo(contact);
  return { ...started, organization, code };
}

/** As the published client encrypts an answer, given the key that the server signs target bundles with. */
export function encryptAnswer(
  { otpEncryptionTargetBundle }: Started,
  typed: string,
  publicKey = client.publicKey,
): Promise<string> {
  const { enclaveQuorumPublic } = JSON.parse(otpEncryptionTargetBundle);
  return encryptOtpCodeToBundle(typed, otpEncryptionTargetBundle, publicKey, enclaveQuorumPublic);
}

/** An answer in a body of its own. */
export async function answerTo(stage: Stage, started: Code, typed: string): Promise<Stamped> {
  const { otpId, organization } = started;
  const parameters = { otpId, encryptedOtpBundle: await encryptAnswer(started, typed) };
  return stage.stamped(organization, organization.people[0], "verify_otp", parameters);
}

export function tokenOf(answer: Parameters<typeof resultOf>[0]): string {
  return resultOf(answer, { path: "verify_otp" }).verificationToken;
}
