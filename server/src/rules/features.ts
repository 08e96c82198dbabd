import type { FeatureName, FeatureValue } from "../fields/features.ts";
import type { Settings } from "../state/entities.ts";

export function isFeatureOn({ features }: Settings, name: FeatureName): boolean {
  return features.some((feature) => feature.name === name);
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
