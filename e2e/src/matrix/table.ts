/** The table: every endpoint has its line. The compiler misses one that is not here, and so does the test. */

import type { activities, queries } from "../generated/endpoints.ts";
import { getProofContext, listAppProofs } from "./app_proofs.ts";
import { disableAuthProxy, enableAuthProxy, updateAuthProxyConfig } from "./auth_proxy.ts";
import { getBootProof, getLatestBootProof } from "./boot_proofs.ts";
import {
  createSmartContractInterface,
  deleteSmartContractInterface,
  getSmartContractInterface,
  listSmartContractInterfaces,
} from "./contract_interfaces.ts";
import { createApiOnlyUsers } from "./create_api_only_users.ts";
import { createUsers } from "./create_users.ts";
import { createApiKeys, deleteApiKeys } from "./credentials.ts";
import type { ActivityEntry, QueryEntry } from "./entry.ts";
import { exportPrivateKey, exportWallet, exportWalletAccount } from "./exports.ts";
import { createOauthProviders, deleteOauthProviders, getOauthProviders, oauth, oauthLogin } from "./identities.ts";
import { importPrivateKey, importWallet, initImportPrivateKey, initImportWallet } from "./imports.ts";
import { getIpAllowlist, removeIpAllowlist, setIpAllowlist } from "./ip_allowlists.ts";
import { listActivities, listSuborgs, listVerifiedSuborgs } from "./lists.ts";
import { getLogFile, getLogStatement, listLogLeaves } from "./log_leaves.ts";
import { emailAuth, initOtpAuth, initUserEmailRecovery, otpAuth, recoverUser } from "./mailed_keys.ts";
import {
  createOauth2Credential,
  deleteOauth2Credential,
  getOauth2Credential,
  listOauth2Credentials,
  oauth2Authenticate,
  updateOauth2Credential,
} from "./oauth2_credentials.ts";
import { initOtp, listEmailEvents, verifyOtp } from "./one_time_codes.ts";
import {
  removeOrganizationFeature,
  setOrganizationFeature,
  updateAllowedOrigins,
  updateOrganizationName,
  updateRootQuorum,
} from "./organization.ts";
import { otpLogin } from "./otp_login.ts";
import { createAuthenticators, deleteAuthenticators, getAuthenticator, getAuthenticators } from "./passkeys.ts";
import {
  createPolicies,
  createPolicy,
  deletePolicies,
  deletePolicy,
  getPolicy,
  getPolicyEvaluations,
  listPolicies,
  updatePolicy,
} from "./policies.ts";
import {
  createPrivateKeys,
  createPrivateKeyTag,
  deletePrivateKeys,
  deletePrivateKeyTags,
  getPrivateKey,
  listPrivateKeys,
  listPrivateKeyTags,
  updatePrivateKeyTag,
} from "./private_keys.ts";
import {
  getActivity,
  getApiKey,
  getApiKeys,
  getOrganization,
  getOrganizationConfigs,
  getUser,
  listUsers,
  listUserTags,
  whoami,
} from "./queries.ts";
import { createSessionProfile, getSessionProfile, getSessionProfiles } from "./session_profiles.ts";
import { createReadOnlySession, createReadWriteSession, stampLogin } from "./sessions.ts";
import { signRawPayload, signRawPayloads, signTransaction } from "./signing.ts";
import { simulateActivity } from "./simulation.ts";
import { createSubOrganization, deleteSubOrganization } from "./sub_organizations.ts";
import { createUserTag, deleteUserTags, updateUserTag } from "./tags.ts";
import { deleteUsers, updateUser, updateUserEmail, updateUserName, updateUserPhoneNumber } from "./users.ts";
import { approveActivity, rejectActivity, type VoteEntry } from "./votes.ts";
import { createWalletAccounts, deleteWalletAccounts, getWalletAccount, listWalletAccounts } from "./wallet_accounts.ts";
import { createWallet, deleteWallets, getWallet, listWallets, updateWallet } from "./wallets.ts";

export const voteTable = {
  approve_activity: approveActivity,
  reject_activity: rejectActivity,
} as const satisfies Record<string, VoteEntry>;

export const activityTable = {
  create_api_keys: createApiKeys,
  create_api_only_users: createApiOnlyUsers,
  create_authenticators: createAuthenticators,
  create_policies: createPolicies,
  create_policy: createPolicy,
  create_private_key_tag: createPrivateKeyTag,
  create_private_keys: createPrivateKeys,
  create_read_only_session: createReadOnlySession,
  create_read_write_session: createReadWriteSession,
  create_session_profile: createSessionProfile,
  create_oauth2_credential: createOauth2Credential,
  update_oauth2_credential: updateOauth2Credential,
  delete_oauth2_credential: deleteOauth2Credential,
  oauth2_authenticate: oauth2Authenticate,
  set_ip_allowlist: setIpAllowlist,
  remove_ip_allowlist: removeIpAllowlist,
  create_smart_contract_interface: createSmartContractInterface,
  create_sub_organization: createSubOrganization,
  create_user_tag: createUserTag,
  create_users: createUsers,
  create_wallet: createWallet,
  create_wallet_accounts: createWalletAccounts,
  delete_api_keys: deleteApiKeys,
  delete_authenticators: deleteAuthenticators,
  delete_policies: deletePolicies,
  delete_policy: deletePolicy,
  delete_private_key_tags: deletePrivateKeyTags,
  delete_private_keys: deletePrivateKeys,
  delete_smart_contract_interface: deleteSmartContractInterface,
  delete_sub_organization: deleteSubOrganization,
  delete_user_tags: deleteUserTags,
  delete_users: deleteUsers,
  delete_wallet_accounts: deleteWalletAccounts,
  delete_wallets: deleteWallets,
  email_auth: emailAuth,
  export_private_key: exportPrivateKey,
  export_wallet: exportWallet,
  export_wallet_account: exportWalletAccount,
  import_private_key: importPrivateKey,
  import_wallet: importWallet,
  init_import_private_key: initImportPrivateKey,
  init_import_wallet: initImportWallet,
  init_otp: initOtp,
  init_otp_auth: initOtpAuth,
  init_user_email_recovery: initUserEmailRecovery,
  otp_auth: otpAuth,
  otp_login: otpLogin,
  create_oauth_providers: createOauthProviders,
  delete_oauth_providers: deleteOauthProviders,
  oauth_login: oauthLogin,
  oauth,
  recover_user: recoverUser,
  remove_organization_feature: removeOrganizationFeature,
  set_organization_feature: setOrganizationFeature,
  sign_raw_payload: signRawPayload,
  sign_raw_payloads: signRawPayloads,
  sign_transaction: signTransaction,
  stamp_login: stampLogin,
  disable_auth_proxy: disableAuthProxy,
  enable_auth_proxy: enableAuthProxy,
  update_auth_proxy_config: updateAuthProxyConfig,
  update_allowed_origins: updateAllowedOrigins,
  update_organization_name: updateOrganizationName,
  update_policy: updatePolicy,
  update_private_key_tag: updatePrivateKeyTag,
  update_root_quorum: updateRootQuorum,
  update_user: updateUser,
  update_user_email: updateUserEmail,
  update_user_name: updateUserName,
  update_user_phone_number: updateUserPhoneNumber,
  update_user_tag: updateUserTag,
  update_wallet: updateWallet,
  verify_otp: verifyOtp,
} as const satisfies Record<Exclude<keyof typeof activities, keyof typeof voteTable>, ActivityEntry>;

export const queryTable = {
  get_activity: getActivity,
  get_api_key: getApiKey,
  get_api_keys: getApiKeys,
  get_authenticator: getAuthenticator,
  get_authenticators: getAuthenticators,
  get_boot_proof: getBootProof,
  get_latest_boot_proof: getLatestBootProof,
  get_log_file: getLogFile,
  get_log_statement: getLogStatement,
  get_oauth_providers: getOauthProviders,
  get_organization: getOrganization,
  get_organization_configs: getOrganizationConfigs,
  get_policy: getPolicy,
  get_policy_evaluations: getPolicyEvaluations,
  get_private_key: getPrivateKey,
  get_proof_context: getProofContext,
  get_ip_allowlist: getIpAllowlist,
  get_oauth2_credential: getOauth2Credential,
  list_oauth2_credentials: listOauth2Credentials,
  get_session_profile: getSessionProfile,
  get_session_profiles: getSessionProfiles,
  get_smart_contract_interface: getSmartContractInterface,
  get_user: getUser,
  get_wallet: getWallet,
  get_wallet_account: getWalletAccount,
  list_activities: listActivities,
  list_app_proofs: listAppProofs,
  list_email_events: listEmailEvents,
  list_log_leaves: listLogLeaves,
  list_policies: listPolicies,
  list_private_key_tags: listPrivateKeyTags,
  list_private_keys: listPrivateKeys,
  list_smart_contract_interfaces: listSmartContractInterfaces,
  list_suborgs: listSuborgs,
  list_user_tags: listUserTags,
  list_verified_suborgs: listVerifiedSuborgs,
  list_users: listUsers,
  list_wallet_accounts: listWalletAccounts,
  list_wallets: listWallets,
  simulate_activity: simulateActivity,
  whoami,
} as const satisfies Record<keyof typeof queries, QueryEntry>;
