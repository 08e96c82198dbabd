/**
 * The costliest valid body of every endpoint that fits beneath the lane of large bodies. The tables have a row for each endpoint of the
 * registry: a new endpoint without one does not compile, and `costliest.test.ts` fails.
 */
import { createECDH, randomBytes, randomUUID } from "node:crypto";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { p2wpkh, Transaction } from "@scure/btc-signer";
import type { activities, queries } from "../generated/endpoints.ts";
import { authenticatorParams } from "../passkeys.ts";
import { longExpression } from "./expressions.ts";

export type ActivityPath = keyof typeof activities;
export type QueryPath = keyof typeof queries;

/** What the flooding organization has. */
export type Ground = {
  organizationId: string;
  userId: string;
  walletId: string;
  /** Of a secp256k1 account, and its public key. */
  address: string;
  publicKey: string;
  /** Private keys on P-256 and secp256k1. */
  p256KeyId: string;
  privateKeyId: string;
  policyId: string;
  tagId: string;
  keyTagId: string;
  interfaceId: string;
  activityId: string;
};

/** Large bodies have a lane of their own from 64 KiB on. */
const mostBytes = 60_000;
const ids = (count = 1_000) => Array.from({ length: count }, () => randomUUID());
const curve = "CURVE_SECP256K1";
const taproot = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"].map((net) => `ADDRESS_FORMAT_BITCOIN_${net}_P2TR`);

export function apiKey() {
  const publicKey = createECDH("prime256v1").generateKeys("hex", "compressed");
  return { apiKeyName: randomUUID(), publicKey, curveType: "API_KEY_CURVE_P256", expirationSeconds: "3600" };
}

export function accounts(turn: number, count = 100) {
  return Array.from({ length: count }, (_, index) => ({
    curve,
    pathFormat: "PATH_FORMAT_BIP32",
    path: `m/${turn % 1_000_000}/2/3/4/5/6/7/8/9/${index}`,
    addressFormat: taproot[0],
  }));
}

const policy = () => ({ policyName: randomUUID(), effect: "EFFECT_ALLOW", condition: longExpression(), notes: "" });

function users(count: number, keys: number) {
  return Array.from({ length: count }, () => ({
    userName: randomUUID(),
    apiKeys: Array.from({ length: keys }, apiKey),
    authenticators: [],
    oauthProviders: [],
    userTags: [],
  }));
}

function contractInterface(): string {
  const functions = Array.from({ length: 450 }, (_, index) => ({
    type: "function",
    name: `f${index}`,
    inputs: [{ name: "a", type: "uint256" }],
    outputs: [],
    stateMutability: "view",
  }));
  return JSON.stringify(functions);
}

/** As many inputs as fit, each of which the key must sign. */
function psbt({ publicKey }: Ground, turn: number): string {
  const { script } = p2wpkh(fromHex(publicKey));
  const transaction = new Transaction();
  for (let index = 0; index < 290; index++) {
    const txid = (turn * 1_000 + index).toString(16).padStart(64, "0");
    transaction.addInput({ txid, index: 0, witnessUtxo: { script, amount: 1_000n } });
  }
  transaction.addOutput({ script, amount: 1_000n });
  return toHex(transaction.toPSBT());
}

const target = () => ({ targetPublicKey: createECDH("prime256v1").generateKeys("hex") });
const raw = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };
const bundle = () => JSON.stringify({ encappedPublic: "04", ciphertext: "ab".repeat(25_000) });
const mailedKey = () => ({ email: "user@example.com", ...target(), emailCustomization: { appName: "x".repeat(255) } });
/** A point of the curve, so that it is multiplied before the ciphertext turns out to be none. */
function oauth2Credential() {
  const ephemeral = createECDH("prime256v1").generateKeys("hex");
  const encryptedClientSecret = `${"00".repeat(12)}${ephemeral}a0050000${"ab".repeat(1_440)}`;
  return { provider: "OAUTH2_PROVIDER_ALPHA", clientId: randomUUID(), encryptedClientSecret };
}

const nothing = () => ({ fingerprint: `sha256:${"0".repeat(64)}` });

/** As long as one may be: read whole, and then of no issuer. */
export const longIdentityToken = `${Buffer.from('{"alg":"RS256"}').toString("base64url")}.${"A".repeat(11_000)}.${"A".repeat(512)}`;
/** A token that cannot be read, and the longest text that its key could have signed. */
export const longVerification = () => ({
  verificationToken: `${"eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9."}${"A".repeat(4_000)}.${"A".repeat(86)}`,
  clientSignature: {
    publicKey: apiKey().publicKey,
    scheme: "CLIENT_SIGNATURE_SCHEME_API_P256",
    message: " ".repeat(58_000),
    signature: "ab".repeat(64),
  },
});
const unknownId = "00000000-0000-4000-8000-000000000000";

/** The parameters of the `turn`th request. */
export const costliestParameters: Record<ActivityPath, (ground: Ground, turn: number) => object> = {
  approve_activity: nothing,
  reject_activity: nothing,
  create_read_only_session: () => ({}),
  create_read_write_session: target,
  create_oauth_providers: ({ userId }) => ({
    userId,
    oauthProviders: Array.from({ length: 5 }, () => ({ providerName: "x", oidcToken: longIdentityToken })),
  }),
  delete_oauth_providers: ({ userId }) => ({ userId, providerIds: [unknownId] }),
  oauth_login: () => ({ oidcToken: longIdentityToken, publicKey: apiKey().publicKey }),
  oauth: () => ({ oidcToken: longIdentityToken, ...target() }),
  otp_login: () => ({ ...longVerification(), publicKey: apiKey().publicKey }),
  email_auth: mailedKey,
  stamp_login: () => ({ publicKey: apiKey().publicKey }),
  create_api_keys: ({ userId }) => ({ userId, apiKeys: Array.from({ length: 10 }, apiKey) }),
  create_api_only_users: () => ({
    apiOnlyUsers: users(20, 10).map(({ userName, userTags, apiKeys }) => ({
      userName,
      userTags,
      apiKeys: apiKeys.map(({ curveType: _, ...key }) => key),
    })),
  }),
  create_authenticators: ({ userId }) => ({
    userId,
    authenticators: Array.from({ length: 10 }, () => authenticatorParams()),
  }),
  create_policies: () => ({ policies: Array.from({ length: 16 }, policy) }),
  create_policy: policy,
  create_oauth2_credential: oauth2Credential,
  update_oauth2_credential: () => ({ oauth2CredentialId: randomUUID(), ...oauth2Credential() }),
  delete_oauth2_credential: () => ({ oauth2CredentialId: randomUUID() }),
  oauth2_authenticate: () => ({
    oauth2CredentialId: randomUUID(),
    authCode: "x".repeat(2_048),
    redirectUri: `https://a.example/${"x".repeat(2_000)}`,
    codeVerifier: "x".repeat(256),
    nonce: "x".repeat(256),
  }),
  set_ip_allowlist: () => ({
    enabled: false,
    rules: Array.from({ length: 100 }, (_, at) => ({ cidr: `192.0.2.${at}/24`, label: "x".repeat(255) })),
  }),
  remove_ip_allowlist: () => ({}),
  create_session_profile: () => ({ sessionProfileName: randomUUID(), scope: longExpression() }),
  create_private_key_tag: () => ({ privateKeyTagName: randomUUID(), privateKeyIds: ids() }),
  create_private_keys: () => ({
    privateKeys: Array.from({ length: 100 }, () => {
      return { privateKeyName: randomUUID(), curve, privateKeyTags: [], addressFormats: taproot };
    }),
  }),
  create_smart_contract_interface: (_, turn) => ({
    smartContractAddress: `0x${turn.toString(16).padStart(40, "0")}`,
    smartContractInterface: contractInterface(),
    type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
    label: randomUUID(),
  }),
  create_sub_organization: () => ({
    subOrganizationName: randomUUID(),
    rootUsers: users(20, 10),
    rootQuorumThreshold: 1,
    wallet: { walletName: randomUUID(), accounts: accounts(0, 50) },
  }),
  create_user_tag: () => ({ userTagName: randomUUID(), userIds: ids() }),
  create_users: () => ({ users: users(20, 10) }),
  create_wallet: (_, turn) => ({ walletName: randomUUID(), accounts: accounts(turn) }),
  create_wallet_accounts: ({ walletId }, turn) => ({ walletId, persist: false, accounts: accounts(turn) }),
  delete_api_keys: ({ userId }) => ({ userId, apiKeyIds: ids() }),
  delete_authenticators: ({ userId }) => ({ userId, authenticatorIds: ids() }),
  delete_policies: () => ({ policyIds: ids() }),
  delete_policy: () => ({ policyId: randomUUID() }),
  delete_private_key_tags: () => ({ privateKeyTagIds: ids() }),
  delete_private_keys: () => ({ privateKeyIds: ids(), deleteWithoutExport: true }),
  delete_smart_contract_interface: () => ({ smartContractInterfaceId: randomUUID() }),
  // Nobody is left who could do it twice.
  delete_sub_organization: () => ({ deleteWithoutExport: false }),
  delete_user_tags: () => ({ userTagIds: ids() }),
  delete_users: () => ({ userIds: ids() }),
  delete_wallet_accounts: () => ({ walletAccountIds: ids(), deleteWithoutExport: true }),
  delete_wallets: () => ({ walletIds: ids(), deleteWithoutExport: true }),
  export_private_key: ({ privateKeyId }) => ({ privateKeyId, ...target() }),
  export_wallet: ({ walletId }) => ({ walletId, ...target() }),
  export_wallet_account: ({ address }) => ({ address, ...target() }),
  import_private_key: ({ userId }) => ({
    userId,
    privateKeyName: randomUUID(),
    encryptedBundle: bundle(),
    curve,
    addressFormats: taproot,
  }),
  import_wallet: ({ userId }) => ({
    userId,
    walletName: randomUUID(),
    encryptedBundle: bundle(),
    accounts: accounts(0, 10),
  }),
  init_import_private_key: ({ userId }) => ({ userId }),
  init_import_wallet: ({ userId }) => ({ userId }),
  // A contact has few live codes, so each has its own.
  init_otp: () => ({
    otpType: "OTP_TYPE_EMAIL",
    contact: `${randomUUID()}@example.com`,
    appName: "x".repeat(255),
    emailCustomization: {
      magicLinkTemplate: `https://example.com/${"x".repeat(2_000)}%s`,
      templateVariables: JSON.stringify({ text: "x".repeat(9_900) }),
    },
  }),
  // Features are off here, and nobody has a recovery key: both are looked at before anything is made.
  init_otp_auth: () => ({ otpType: "OTP_TYPE_EMAIL", contact: "user@example.com", appName: "x".repeat(255) }),
  init_user_email_recovery: mailedKey,
  otp_auth: () => ({ otpId: randomUUID(), otpCode: "0".repeat(256), ...target() }),
  recover_user: ({ userId }) => ({ userId, authenticator: authenticatorParams() }),
  remove_organization_feature: () => ({ name: "FEATURE_NAME_SMS_AUTH" }),
  set_organization_feature: () => ({ name: "FEATURE_NAME_SMS_AUTH", value: "x".repeat(10_000) }),
  sign_raw_payload: ({ p256KeyId, ...ground }, turn) => ({
    signWith: p256KeyId,
    payload: `${ground.organizationId} ${turn} `.padEnd(mostBytes, "é".slice(0, 1)),
    encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
    hashFunction: "HASH_FUNCTION_KECCAK256",
  }),
  sign_raw_payloads: ({ p256KeyId }) => ({
    signWith: p256KeyId,
    payloads: Array.from({ length: 890 }, (_, index) => index.toString(16).padStart(64, "0")),
    ...raw,
  }),
  sign_transaction: (ground, turn) => ({
    signWith: ground.address,
    unsignedTransaction: psbt(ground, turn),
    type: "TRANSACTION_TYPE_BITCOIN",
  }),
  disable_auth_proxy: () => ({}),
  enable_auth_proxy: () => ({}),
  update_auth_proxy_config: (_, turn) => ({
    allowedOrigins: Array.from({ length: 100 }, (_, index) => `https://a${turn}-${index}.${"b".repeat(60)}.example`),
    socialLinkingClientIds: Array.from({ length: 100 }, () => "c".repeat(400)),
  }),
  update_allowed_origins: (_, turn) => ({
    allowedOrigins: Array.from({ length: 100 }, (_, index) => `https://a${turn}-${index}.${"b".repeat(60)}.example`),
  }),
  update_organization_name: () => ({ organizationName: randomUUID() }),
  update_policy: ({ policyId }, turn) => ({ policyId, policyCondition: `${longExpression()} || ${turn} == 0` }),
  update_private_key_tag: ({ keyTagId }) => ({
    privateKeyTagId: keyTagId,
    addPrivateKeyIds: ids(700),
    removePrivateKeyIds: ids(700),
  }),
  update_root_quorum: ({ userId }) => ({ threshold: 1, userIds: Array(1_000).fill(userId) }),
  update_user: ({ userId }) => ({ userId, userTagIds: ids() }),
  update_user_email: ({ userId }, turn) => ({ userId, userEmail: `${turn}@example.com` }),
  update_user_name: ({ userId }) => ({ userId, userName: randomUUID() }),
  update_user_phone_number: ({ userId }) => ({ userId, userPhoneNumber: "+15551234567" }),
  update_user_tag: ({ tagId }) => ({ userTagId: tagId, addUserIds: ids(700), removeUserIds: ids(700) }),
  update_wallet: ({ walletId }) => ({ walletId, walletName: randomUUID() }),
  // Nobody has that many codes to answer; an unknown one is looked for and refused.
  verify_otp: () => ({ otpId: randomUUID(), encryptedOtpBundle: "x".repeat(10_000) }),
};

const paginationOptions = { limit: "100" };

/** What is asked beside the organization. */
export const costliestQuestions: Record<QueryPath, (ground: Ground, turn: number) => object> = {
  get_activity: ({ activityId }) => ({ activityId }),
  get_api_key: () => ({ apiKeyId: randomUUID() }),
  get_api_keys: ({ userId }) => ({ userId }),
  get_authenticator: () => ({ authenticatorId: randomUUID() }),
  get_authenticators: ({ userId }) => ({ userId }),
  get_boot_proof: () => ({ ephemeralKey: "04".repeat(130) }),
  get_latest_boot_proof: () => ({ appName: "signer" }),
  get_log_file: () => ({ logId: "0".repeat(32), path: "checkpoint" }),
  get_log_statement: () => ({}),
  get_oauth_providers: () => ({}),
  get_organization: () => ({}),
  get_organization_configs: () => ({}),
  get_policy: ({ policyId }) => ({ policyId }),
  get_policy_evaluations: ({ activityId }) => ({ activityId }),
  get_private_key: ({ privateKeyId }) => ({ privateKeyId }),
  get_proof_context: () => ({ digest: randomBytes(32).toString("hex") }),
  get_session_profile: () => ({ sessionProfileId: randomUUID() }),
  get_session_profiles: () => ({}),
  get_smart_contract_interface: ({ interfaceId }) => ({ smartContractInterfaceId: interfaceId }),
  get_user: ({ userId }) => ({ userId }),
  get_wallet: ({ walletId }) => ({ walletId }),
  get_wallet_account: ({ walletId, address }) => ({ walletId, address }),
  list_activities: () => ({ paginationOptions }),
  get_ip_allowlist: () => ({}),
  get_oauth2_credential: () => ({ oauth2CredentialId: randomUUID() }),
  list_oauth2_credentials: () => ({}),
  list_app_proofs: ({ activityId }) => ({ activityId }),
  list_email_events: () => ({ email: "user@example.com", paginationOptions }),
  list_log_leaves: () => ({ paginationOptions }),
  list_policies: () => ({}),
  list_private_key_tags: () => ({}),
  list_private_keys: () => ({ paginationOptions }),
  list_smart_contract_interfaces: () => ({}),
  list_suborgs: () => ({ paginationOptions }),
  list_user_tags: () => ({}),
  list_verified_suborgs: () => ({ paginationOptions }),
  list_users: () => ({}),
  list_wallet_accounts: ({ walletId }) => ({ walletId, paginationOptions }),
  list_wallets: () => ({}),
  simulate_activity: () => ({
    activity: { type: "ACTIVITY_TYPE_CREATE_USER_TAG", parameters: { userTagName: "Supposed", userIds: [] } },
    policies: { add: Array.from({ length: 16 }, policy).map(({ notes: _, ...draft }) => draft) },
  }),
  whoami: () => ({}),
};
