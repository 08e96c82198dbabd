// Written by `npm run generate` from the endpoint declarations. Do not edit.
import { approveActivity } from "../activities/approve_activity.ts";
import { createApiKeys } from "../activities/create_api_keys.ts";
import { createApiOnlyUsers } from "../activities/create_api_only_users.ts";
import { createAuthenticators } from "../activities/create_authenticators.ts";
import { createOauth2Credential } from "../activities/create_oauth2_credential.ts";
import { createOauthProviders } from "../activities/create_oauth_providers.ts";
import { createPolicies } from "../activities/create_policies.ts";
import { createPolicy } from "../activities/create_policy.ts";
import { createPrivateKeyTag } from "../activities/create_private_key_tag.ts";
import { createPrivateKeys } from "../activities/create_private_keys.ts";
import { createReadOnlySession } from "../activities/create_read_only_session.ts";
import { createReadWriteSession } from "../activities/create_read_write_session.ts";
import { createSessionProfile } from "../activities/create_session_profile.ts";
import { createSmartContractInterface } from "../activities/create_smart_contract_interface.ts";
import { createSubOrganization } from "../activities/create_sub_organization.ts";
import { createUserTag } from "../activities/create_user_tag.ts";
import { createUsers } from "../activities/create_users.ts";
import { createWallet } from "../activities/create_wallet.ts";
import { createWalletAccounts } from "../activities/create_wallet_accounts.ts";
import { deleteApiKeys } from "../activities/delete_api_keys.ts";
import { deleteAuthenticators } from "../activities/delete_authenticators.ts";
import { deleteOauth2Credential } from "../activities/delete_oauth2_credential.ts";
import { deleteOauthProviders } from "../activities/delete_oauth_providers.ts";
import { deletePolicies } from "../activities/delete_policies.ts";
import { deletePolicy } from "../activities/delete_policy.ts";
import { deletePrivateKeyTags } from "../activities/delete_private_key_tags.ts";
import { deletePrivateKeys } from "../activities/delete_private_keys.ts";
import { deleteSmartContractInterface } from "../activities/delete_smart_contract_interface.ts";
import { deleteSubOrganization } from "../activities/delete_sub_organization.ts";
import { deleteUserTags } from "../activities/delete_user_tags.ts";
import { deleteUsers } from "../activities/delete_users.ts";
import { deleteWalletAccounts } from "../activities/delete_wallet_accounts.ts";
import { deleteWallets } from "../activities/delete_wallets.ts";
import { disableAuthProxy } from "../activities/disable_auth_proxy.ts";
import { emailAuth } from "../activities/email_auth.ts";
import { enableAuthProxy } from "../activities/enable_auth_proxy.ts";
import { exportPrivateKey } from "../activities/export_private_key.ts";
import { exportWallet } from "../activities/export_wallet.ts";
import { exportWalletAccount } from "../activities/export_wallet_account.ts";
import { importPrivateKey } from "../activities/import_private_key.ts";
import { importWallet } from "../activities/import_wallet.ts";
import { initImportPrivateKey } from "../activities/init_import_private_key.ts";
import { initImportWallet } from "../activities/init_import_wallet.ts";
import { initOtp } from "../activities/init_otp.ts";
import { initOtpAuth } from "../activities/init_otp_auth.ts";
import { initUserEmailRecovery } from "../activities/init_user_email_recovery.ts";
import { oauth } from "../activities/oauth.ts";
import { oauth2Authenticate } from "../activities/oauth2_authenticate.ts";
import { oauthLogin } from "../activities/oauth_login.ts";
import { otpAuth } from "../activities/otp_auth.ts";
import { otpLogin } from "../activities/otp_login.ts";
import { recoverUser } from "../activities/recover_user.ts";
import { rejectActivity } from "../activities/reject_activity.ts";
import { removeIpAllowlist } from "../activities/remove_ip_allowlist.ts";
import { removeOrganizationFeature } from "../activities/remove_organization_feature.ts";
import { setIpAllowlist } from "../activities/set_ip_allowlist.ts";
import { setOrganizationFeature } from "../activities/set_organization_feature.ts";
import { signRawPayload } from "../activities/sign_raw_payload.ts";
import { signRawPayloads } from "../activities/sign_raw_payloads.ts";
import { signTransaction } from "../activities/sign_transaction.ts";
import { stampLogin } from "../activities/stamp_login.ts";
import { updateAllowedOrigins } from "../activities/update_allowed_origins.ts";
import { updateAuthProxyConfig } from "../activities/update_auth_proxy_config.ts";
import { updateOauth2Credential } from "../activities/update_oauth2_credential.ts";
import { updateOrganizationName } from "../activities/update_organization_name.ts";
import { updatePolicy } from "../activities/update_policy.ts";
import { updatePrivateKeyTag } from "../activities/update_private_key_tag.ts";
import { updateRootQuorum } from "../activities/update_root_quorum.ts";
import { updateUser } from "../activities/update_user.ts";
import { updateUserEmail } from "../activities/update_user_email.ts";
import { updateUserName } from "../activities/update_user_name.ts";
import { updateUserPhoneNumber } from "../activities/update_user_phone_number.ts";
import { updateUserTag } from "../activities/update_user_tag.ts";
import { updateWallet } from "../activities/update_wallet.ts";
import { verifyOtp } from "../activities/verify_otp.ts";
import { type ActivityForm, type AnyActivity, formsOf } from "../endpoints/define_activity.ts";

export const activities = {
  approve_activity: approveActivity,
  create_api_keys: createApiKeys,
  create_api_only_users: createApiOnlyUsers,
  create_authenticators: createAuthenticators,
  create_oauth2_credential: createOauth2Credential,
  create_oauth_providers: createOauthProviders,
  create_policies: createPolicies,
  create_policy: createPolicy,
  create_private_key_tag: createPrivateKeyTag,
  create_private_keys: createPrivateKeys,
  create_read_only_session: createReadOnlySession,
  create_read_write_session: createReadWriteSession,
  create_session_profile: createSessionProfile,
  create_smart_contract_interface: createSmartContractInterface,
  create_sub_organization: createSubOrganization,
  create_user_tag: createUserTag,
  create_users: createUsers,
  create_wallet: createWallet,
  create_wallet_accounts: createWalletAccounts,
  delete_api_keys: deleteApiKeys,
  delete_authenticators: deleteAuthenticators,
  delete_oauth2_credential: deleteOauth2Credential,
  delete_oauth_providers: deleteOauthProviders,
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
  disable_auth_proxy: disableAuthProxy,
  email_auth: emailAuth,
  enable_auth_proxy: enableAuthProxy,
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
  oauth: oauth,
  oauth2_authenticate: oauth2Authenticate,
  oauth_login: oauthLogin,
  otp_auth: otpAuth,
  otp_login: otpLogin,
  recover_user: recoverUser,
  reject_activity: rejectActivity,
  remove_ip_allowlist: removeIpAllowlist,
  remove_organization_feature: removeOrganizationFeature,
  set_ip_allowlist: setIpAllowlist,
  set_organization_feature: setOrganizationFeature,
  sign_raw_payload: signRawPayload,
  sign_raw_payloads: signRawPayloads,
  sign_transaction: signTransaction,
  stamp_login: stampLogin,
  update_allowed_origins: updateAllowedOrigins,
  update_auth_proxy_config: updateAuthProxyConfig,
  update_oauth2_credential: updateOauth2Credential,
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
} as const;

/** By the `type` of the stamped body, which is what decides; the path only routes. */
export const activityForms: ReadonlyMap<string, ActivityForm> = new Map(
  (Object.values(activities) as AnyActivity[]).flatMap(formsOf).map((form) => [form.type, form]),
);
