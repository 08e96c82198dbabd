/** What policies call each kind of activity, and which of its parameters they can see. */
import { activityParams } from "./activity_params.ts";
import type { PolicyType } from "./types.ts";

export type ActivityKind = { resource: string; action: string; params: Readonly<Record<string, PolicyType>> };

/**
 * By resource, then by action. Kinds that the published table leaves out stand with the resource they act on, and all
 * that sign with SIGN. No policy decides on votes, on the four acts of the root quorum, or on what has no member yet
 * (CREATE_ORGANIZATION, ACCEPT_INVITATION): those have no row.
 */
const rows: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  ORGANIZATION: { CREATE: ["CREATE_SUB_ORGANIZATION"], DELETE: ["DELETE_ORGANIZATION", "DELETE_SUB_ORGANIZATION"] },
  INVITATION: { CREATE: ["CREATE_INVITATIONS"], DELETE: ["DELETE_INVITATION"] },
  POLICY: {
    CREATE: ["CREATE_POLICY", "CREATE_POLICIES"],
    UPDATE: ["UPDATE_POLICY"],
    DELETE: ["DELETE_POLICY", "DELETE_POLICIES"],
  },
  SMART_CONTRACT_INTERFACE: {
    CREATE: ["CREATE_SMART_CONTRACT_INTERFACE"],
    DELETE: ["DELETE_SMART_CONTRACT_INTERFACE"],
  },
  WALLET: {
    CREATE: ["CREATE_WALLET", "CREATE_WALLET_ACCOUNTS"],
    UPDATE: ["UPDATE_WALLET", "UPDATE_WALLET_ACCOUNT_NAME"],
    DELETE: ["DELETE_WALLETS", "DELETE_WALLET_ACCOUNTS"],
    EXPORT: ["EXPORT_WALLET", "EXPORT_WALLET_ACCOUNT"],
    IMPORT: ["INIT_IMPORT_WALLET", "IMPORT_WALLET"],
  },
  PRIVATE_KEY: {
    CREATE: ["CREATE_PRIVATE_KEYS", "CREATE_PRIVATE_KEY_TAG"],
    UPDATE: ["UPDATE_PRIVATE_KEY_TAG"],
    DELETE: ["DISABLE_PRIVATE_KEY", "DELETE_PRIVATE_KEYS", "DELETE_PRIVATE_KEY_TAGS"],
    EXPORT: ["EXPORT_PRIVATE_KEY"],
    IMPORT: ["INIT_IMPORT_PRIVATE_KEY", "IMPORT_PRIVATE_KEY"],
    // Also when a wallet account signs.
    SIGN: [
      "SIGN_RAW_PAYLOAD",
      "SIGN_RAW_PAYLOADS",
      "SIGN_TRANSACTION",
      "ETH_SEND_TRANSACTION",
      "SOL_SEND_TRANSACTION",
      "SPARK_SIGN_FROST",
      "SPARK_PREPARE_TRANSFER",
      "SPARK_CLAIM_TRANSFER",
      "SPARK_PREPARE_LIGHTNING_RECEIVE",
      "ETH_SEND_RAW_TRANSACTION",
      "ETH_UNDELEGATE_7702",
      "EXECUTE_SWAP",
      "EARN_DEPOSIT",
      "EARN_WITHDRAW",
    ],
  },
  USER: {
    CREATE: ["CREATE_USERS", "CREATE_API_ONLY_USERS", "CREATE_USER_TAG"],
    UPDATE: ["UPDATE_USER", "UPDATE_USER_NAME", "UPDATE_USER_EMAIL", "UPDATE_USER_PHONE_NUMBER", "UPDATE_USER_TAG"],
    DELETE: ["DELETE_USERS", "DELETE_USER_TAGS"],
  },
  CREDENTIAL: {
    CREATE: ["CREATE_API_KEYS", "CREATE_AUTHENTICATORS", "CREATE_OAUTH_PROVIDERS"],
    DELETE: ["DELETE_API_KEYS", "DELETE_AUTHENTICATORS", "DELETE_OAUTH_PROVIDERS"],
  },
  AUTH: {
    CREATE: [
      "EMAIL_AUTH",
      "INIT_OTP_AUTH",
      "OTP_AUTH",
      "OAUTH",
      "OAUTH_LOGIN",
      "OTP_LOGIN",
      "STAMP_LOGIN",
      "CREATE_READ_WRITE_SESSION",
      "CREATE_READ_ONLY_SESSION",
      "CREATE_OAUTH2_CREDENTIAL",
      "OAUTH2_AUTHENTICATE",
    ],
    UPDATE: ["UPDATE_OAUTH2_CREDENTIAL"],
    DELETE: ["DELETE_OAUTH2_CREDENTIAL"],
  },
  OTP: { CREATE: ["INIT_OTP"], VERIFY: ["VERIFY_OTP"] },
  RECOVERY: { CREATE: ["INIT_USER_EMAIL_RECOVERY", "RECOVER_USER"] },
  AUTH_PROXY: { CREATE: ["ENABLE_AUTH_PROXY"], UPDATE: ["UPDATE_AUTH_PROXY_CONFIG"], DELETE: ["DISABLE_AUTH_PROXY"] },
  WEBHOOK_ENDPOINT: {
    CREATE: ["CREATE_WEBHOOK_ENDPOINT"],
    UPDATE: ["UPDATE_WEBHOOK_ENDPOINT"],
    DELETE: ["DELETE_WEBHOOK_ENDPOINT"],
  },
  MFA_POLICY: { CREATE: ["CREATE_MFA_POLICY"], UPDATE: ["UPDATE_MFA_POLICY"], DELETE: ["DELETE_MFA_POLICY"] },
  SESSION_PROFILE: { CREATE: ["CREATE_SESSION_PROFILE"] },
  CONFIG: {
    CREATE: ["CREATE_SWAP_QUOTE"],
    UPDATE: [
      "UPDATE_ALLOWED_ORIGINS",
      "SET_IP_ALLOWLIST",
      "UPSERT_SWAP_CONFIG",
      "EARN_DEPLOY_WRAPPER",
      "EARN_SET_WRAPPER_STATE",
      "CLAIM_SWAP_FEES",
      "CLAIM_EARN_FEES",
    ],
    DELETE: ["REMOVE_IP_ALLOWLIST"],
  },
  SPONSORSHIP: { UPDATE: ["UPSERT_GAS_USAGE_CONFIG"] },
  FIAT_TRANSACTION: { CREATE: ["INIT_FIAT_ON_RAMP"] },
  ON_RAMP_CREDENTIALS: {
    CREATE: ["CREATE_FIAT_ON_RAMP_CREDENTIAL"],
    UPDATE: ["UPDATE_FIAT_ON_RAMP_CREDENTIAL"],
    DELETE: ["DELETE_FIAT_ON_RAMP_CREDENTIAL"],
  },
  PAYMENT_METHOD: { UPDATE: ["SET_PAYMENT_METHOD"], DELETE: ["DELETE_PAYMENT_METHOD"] },
  SUBSCRIPTION: { CREATE: ["ACTIVATE_BILLING_TIER"] },
  TVC_APP: {
    CREATE: ["CREATE_TVC_APP"],
    UPDATE: ["UPDATE_TVC_APP_LIVE_DEPLOYMENT"],
    DELETE: ["DELETE_TVC_APP_AND_DEPLOYMENTS"],
  },
  TVC_DEPLOYMENT: {
    CREATE: ["CREATE_TVC_DEPLOYMENT"],
    UPDATE: ["CREATE_TVC_MANIFEST_APPROVALS", "RESTORE_TVC_DEPLOYMENT", "POST_TVC_QUORUM_KEY_SHARE"],
    DELETE: ["DELETE_TVC_DEPLOYMENT"],
  },
  TVC_OPERATOR: { CREATE: ["CREATE_TVC_OPERATOR"] },
  TVC_QUORUM_KEY: { CREATE: ["CREATE_TVC_QUORUM_KEY"], ENCRYPT: ["RE_ENCRYPT_TVC_QUORUM_KEY_SHARE"] },
  SECRET: { IMPORT: ["INIT_IMPORT_SECRETS", "IMPORT_SECRETS"], EXPORT: ["EXPORT_SECRETS"] },
};

/** By kind. It has no prototype, so that a kind nobody has heard of is absent whatever it is called. */
export const activityKinds: Readonly<Record<string, ActivityKind>> = Object.assign(
  Object.create(null),
  Object.fromEntries(
    Object.entries(rows).flatMap(([resource, actions]) =>
      Object.entries(actions).flatMap(([action, kinds]) =>
        kinds.map((kind): [string, ActivityKind] => [kind, { resource, action, params: activityParams[kind] ?? {} }]),
      ),
    ),
  ),
);

/** What all versions of an activity are called together: the type without its prefix and its version. */
export function kindOf(activityType: string): string {
  const kind = activityType.replace(/^ACTIVITY_TYPE_/, "").replace(/_V[0-9]+$/, "");
  // One published client writes it so.
  return kind === "ETH_UNDELEGATE7702" ? "ETH_UNDELEGATE_7702" : kind;
}
