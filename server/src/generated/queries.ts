// Written by `npm run generate` from the endpoint declarations. Do not edit.
import type { AnyQuery } from "../endpoints/define_query.ts";
import { getActivity } from "../queries/get_activity.ts";
import { getApiKey } from "../queries/get_api_key.ts";
import { getApiKeys } from "../queries/get_api_keys.ts";
import { getAuthenticator } from "../queries/get_authenticator.ts";
import { getAuthenticators } from "../queries/get_authenticators.ts";
import { getBootProof } from "../queries/get_boot_proof.ts";
import { getIpAllowlist } from "../queries/get_ip_allowlist.ts";
import { getLatestBootProof } from "../queries/get_latest_boot_proof.ts";
import { getLogFile } from "../queries/get_log_file.ts";
import { getLogStatement } from "../queries/get_log_statement.ts";
import { getOauth2Credential } from "../queries/get_oauth2_credential.ts";
import { getOauthProviders } from "../queries/get_oauth_providers.ts";
import { getOrganization } from "../queries/get_organization.ts";
import { getOrganizationConfigs } from "../queries/get_organization_configs.ts";
import { getPolicy } from "../queries/get_policy.ts";
import { getPolicyEvaluations } from "../queries/get_policy_evaluations.ts";
import { getPrivateKey } from "../queries/get_private_key.ts";
import { getProofContext } from "../queries/get_proof_context.ts";
import { getSessionProfile } from "../queries/get_session_profile.ts";
import { getSessionProfiles } from "../queries/get_session_profiles.ts";
import { getSmartContractInterface } from "../queries/get_smart_contract_interface.ts";
import { getUser } from "../queries/get_user.ts";
import { getWallet } from "../queries/get_wallet.ts";
import { getWalletAccount } from "../queries/get_wallet_account.ts";
import { listActivities } from "../queries/list_activities.ts";
import { listAppProofs } from "../queries/list_app_proofs.ts";
import { listEmailEvents } from "../queries/list_email_events.ts";
import { listLogLeaves } from "../queries/list_log_leaves.ts";
import { listOauth2Credentials } from "../queries/list_oauth2_credentials.ts";
import { listPolicies } from "../queries/list_policies.ts";
import { listPrivateKeyTags } from "../queries/list_private_key_tags.ts";
import { listPrivateKeys } from "../queries/list_private_keys.ts";
import { listSmartContractInterfaces } from "../queries/list_smart_contract_interfaces.ts";
import { listSuborgs } from "../queries/list_suborgs.ts";
import { listUserTags } from "../queries/list_user_tags.ts";
import { listUsers } from "../queries/list_users.ts";
import { listVerifiedSuborgs } from "../queries/list_verified_suborgs.ts";
import { listWalletAccounts } from "../queries/list_wallet_accounts.ts";
import { listWallets } from "../queries/list_wallets.ts";
import { simulateActivity } from "../queries/simulate_activity.ts";
import { whoami } from "../queries/whoami.ts";

export const queries = {
  get_activity: getActivity,
  get_api_key: getApiKey,
  get_api_keys: getApiKeys,
  get_authenticator: getAuthenticator,
  get_authenticators: getAuthenticators,
  get_boot_proof: getBootProof,
  get_ip_allowlist: getIpAllowlist,
  get_latest_boot_proof: getLatestBootProof,
  get_log_file: getLogFile,
  get_log_statement: getLogStatement,
  get_oauth2_credential: getOauth2Credential,
  get_oauth_providers: getOauthProviders,
  get_organization: getOrganization,
  get_organization_configs: getOrganizationConfigs,
  get_policy: getPolicy,
  get_policy_evaluations: getPolicyEvaluations,
  get_private_key: getPrivateKey,
  get_proof_context: getProofContext,
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
  list_oauth2_credentials: listOauth2Credentials,
  list_policies: listPolicies,
  list_private_key_tags: listPrivateKeyTags,
  list_private_keys: listPrivateKeys,
  list_smart_contract_interfaces: listSmartContractInterfaces,
  list_suborgs: listSuborgs,
  list_user_tags: listUserTags,
  list_users: listUsers,
  list_verified_suborgs: listVerifiedSuborgs,
  list_wallet_accounts: listWalletAccounts,
  list_wallets: listWallets,
  simulate_activity: simulateActivity,
  whoami: whoami,
} as const;

export const queryByPath: ReadonlyMap<string, AnyQuery> = new Map<string, AnyQuery>([
  ["get_activity", getActivity],
  ["get_api_key", getApiKey],
  ["get_api_keys", getApiKeys],
  ["get_authenticator", getAuthenticator],
  ["get_authenticators", getAuthenticators],
  ["get_boot_proof", getBootProof],
  ["get_ip_allowlist", getIpAllowlist],
  ["get_latest_boot_proof", getLatestBootProof],
  ["get_log_file", getLogFile],
  ["get_log_statement", getLogStatement],
  ["get_oauth2_credential", getOauth2Credential],
  ["get_oauth_providers", getOauthProviders],
  ["get_organization", getOrganization],
  ["get_organization_configs", getOrganizationConfigs],
  ["get_policy", getPolicy],
  ["get_policy_evaluations", getPolicyEvaluations],
  ["get_private_key", getPrivateKey],
  ["get_proof_context", getProofContext],
  ["get_session_profile", getSessionProfile],
  ["get_session_profiles", getSessionProfiles],
  ["get_smart_contract_interface", getSmartContractInterface],
  ["get_user", getUser],
  ["get_wallet", getWallet],
  ["get_wallet_account", getWalletAccount],
  ["list_activities", listActivities],
  ["list_app_proofs", listAppProofs],
  ["list_email_events", listEmailEvents],
  ["list_log_leaves", listLogLeaves],
  ["list_oauth2_credentials", listOauth2Credentials],
  ["list_policies", listPolicies],
  ["list_private_key_tags", listPrivateKeyTags],
  ["list_private_keys", listPrivateKeys],
  ["list_smart_contract_interfaces", listSmartContractInterfaces],
  ["list_suborgs", listSuborgs],
  ["list_user_tags", listUserTags],
  ["list_users", listUsers],
  ["list_verified_suborgs", listVerifiedSuborgs],
  ["list_wallet_accounts", listWalletAccounts],
  ["list_wallets", listWallets],
  ["simulate_activity", simulateActivity],
  ["whoami", whoami],
]);
