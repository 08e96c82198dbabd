import { type Static, Type } from "./schema.ts";

export const featureNames = [
  "FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY",
  "FEATURE_NAME_WEBAUTHN_ORIGINS",
  "FEATURE_NAME_EMAIL_AUTH",
  "FEATURE_NAME_EMAIL_RECOVERY",
  "FEATURE_NAME_WEBHOOK",
  "FEATURE_NAME_SMS_AUTH",
  "FEATURE_NAME_OTP_EMAIL_AUTH",
  "FEATURE_NAME_AUTH_PROXY",
  "FEATURE_NAME_SOLANA_RENT_PREFUND_ENABLED",
  "FEATURE_NAME_SWAP_CONFIG",
  "FEATURE_NAME_EARN_CONFIG",
  // Ours: whether users of sub-organizations may have codes sent.
  "FEATURE_NAME_SUB_ORGANIZATION_CODES",
] as const;

export type FeatureName = (typeof featureNames)[number];

export const featureName = Type.Enum(featureNames, { description: "Name of a feature." });

export const feature = Type.Object({
  name: featureName,
  value: Type.Optional(Type.String({ maxLength: 10_000 })),
});

export const features = Type.Array(feature);

export type FeatureValue = Static<typeof feature>;
