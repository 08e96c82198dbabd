import { Fault } from "@keystead/core/fault.ts";
import type { ContactKind } from "@keystead/core/otp/otp_types.ts";
import type { FeatureName, FeatureValue } from "../fields/features.ts";
import type { Settings } from "../state/entities.ts";

export function isFeatureOn({ features }: Settings, name: FeatureName): boolean {
  return features.some((feature) => feature.name === name);
}

/** What lets the holder of a contact sign in as its user, by a code that was sent there. */
const codeFeatures = {
  email: "FEATURE_NAME_OTP_EMAIL_AUTH",
  phone: "FEATURE_NAME_SMS_AUTH",
} as const satisfies Record<ContactKind, FeatureName>;

/** An organization may want no sign-in by codes: then neither its parent nor a mailbox opens it. */
export function refuseUnlessCodesSignIn(settings: Settings, kind: ContactKind, organizationId: string): void {
  refuseUnlessOn(settings, codeFeatures[kind], organizationId);
}

/** What an organization has turned off, or never on, is refused to everybody. */
export function refuseUnlessOn(settings: Settings, name: FeatureName, organizationId: string): void {
  if (isFeatureOn(settings, name)) return;
  throw new Fault(
    "permission_denied",
    `request not authorized: ${name} is off in organization ${organizationId}; turn it on with set_organization_feature`,
    { errorCode: "REQUEST_NOT_AUTHORIZED" },
  );
}

/** As results hold them. No other names are ever written to the settings. */
export function featuresOf({ features }: Settings): FeatureValue[] {
  return features as FeatureValue[];
}

/** What a new sub-organization has on unless its creator says otherwise. Top-level organizations begin with none. */
export const subOrganizationFeatures = [
  { name: "FEATURE_NAME_EMAIL_RECOVERY", disabledBy: "disableEmailRecovery" },
  { name: "FEATURE_NAME_EMAIL_AUTH", disabledBy: "disableEmailAuth" },
  { name: "FEATURE_NAME_SMS_AUTH", disabledBy: "disableSmsAuth" },
  { name: "FEATURE_NAME_OTP_EMAIL_AUTH", disabledBy: "disableOtpEmailAuth" },
] as const satisfies readonly { name: FeatureName; disabledBy: string }[];
