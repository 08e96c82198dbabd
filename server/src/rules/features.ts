import { Fault } from "@keystead/core/fault.ts";
import type { OtpType } from "@keystead/core/otp/otp_types.ts";
import type { FeatureName, FeatureValue } from "../fields/features.ts";
import type { Settings } from "../state/entities.ts";

export function isFeatureOn({ features }: Settings, name: FeatureName): boolean {
  return features.some((feature) => feature.name === name);
}

/** What an organization has turned off, or never on, is refused to everybody. */
export function requireFeature(settings: Settings, name: FeatureName): void {
  if (isFeatureOn(settings, name)) return;
  throw new Fault(
    "failed_precondition",
    `${name} is off in this organization: its root quorum turns it on with set_organization_feature`,
  );
}

/** As results hold them. No other names are ever written to the settings. */
export function featuresOf({ features }: Settings): FeatureValue[] {
  return features as FeatureValue[];
}

/** What must be on for a user to sign in by a code of this type. */
export const codeFeatures = {
  OTP_TYPE_EMAIL: "FEATURE_NAME_OTP_EMAIL_AUTH",
  OTP_TYPE_SMS: "FEATURE_NAME_SMS_AUTH",
} as const satisfies Record<OtpType, FeatureName>;

/** What a new sub-organization has on unless its creator says otherwise. Top-level organizations begin with none. */
export const subOrganizationFeatures = [
  { name: "FEATURE_NAME_EMAIL_RECOVERY", disabledBy: "disableEmailRecovery" },
  { name: "FEATURE_NAME_EMAIL_AUTH", disabledBy: "disableEmailAuth" },
  { name: "FEATURE_NAME_SMS_AUTH", disabledBy: "disableSmsAuth" },
  { name: "FEATURE_NAME_OTP_EMAIL_AUTH", disabledBy: "disableOtpEmailAuth" },
] as const satisfies readonly { name: FeatureName; disabledBy: string }[];
