// Written by `npm run generate` from the endpoint declarations. Do not edit.
// The checks narrow by `typeof` and `in` on values of no known type, which strict TypeScript does not follow.
// @ts-nocheck
import { Guard } from "typebox/guard";

const getActivity = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && (("organizationId" in value && "activityId" in value) && ((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (typeof value.activityId === "string" && ((value.activityId.length >= 2 || (value.activityId.length >= 1 && Guard.CodePointCount(value.activityId) >= 1)) && (value.activityId.length <= 128 || (value.activityId.length <= 256 && Guard.CodePointCount(value.activityId) <= 128))))))));
  return (value) => check_0(value);
})();

const getApiKey = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && (("organizationId" in value && "apiKeyId" in value) && ((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (typeof value.apiKeyId === "string" && ((value.apiKeyId.length >= 2 || (value.apiKeyId.length >= 1 && Guard.CodePointCount(value.apiKeyId) >= 1)) && (value.apiKeyId.length <= 128 || (value.apiKeyId.length <= 256 && Guard.CodePointCount(value.apiKeyId) <= 128))))))));
  return (value) => check_0(value);
})();

const getApiKeys = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && ((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (value.userId === undefined || (!("userId" in value) || ((typeof value.userId === "string" && ((value.userId.length >= 2 || (value.userId.length >= 1 && Guard.CodePointCount(value.userId) >= 1)) && (value.userId.length <= 128 || (value.userId.length <= 256 && Guard.CodePointCount(value.userId) <= 128)))) || value.userId === null)))))));
  return (value) => check_0(value);
})();

const getOrganizationConfigs = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

const getPrivateKey = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && (("organizationId" in value && "privateKeyId" in value) && ((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (typeof value.privateKeyId === "string" && ((value.privateKeyId.length >= 2 || (value.privateKeyId.length >= 1 && Guard.CodePointCount(value.privateKeyId) >= 1)) && (value.privateKeyId.length <= 128 || (value.privateKeyId.length <= 256 && Guard.CodePointCount(value.privateKeyId) <= 128))))))));
  return (value) => check_0(value);
})();

const getUser = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && (("organizationId" in value && "userId" in value) && ((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (typeof value.userId === "string" && ((value.userId.length >= 2 || (value.userId.length >= 1 && Guard.CodePointCount(value.userId) >= 1)) && (value.userId.length <= 128 || (value.userId.length <= 256 && Guard.CodePointCount(value.userId) <= 128))))))));
  return (value) => check_0(value);
})();

const getWallet = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && (("organizationId" in value && "walletId" in value) && ((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (typeof value.walletId === "string" && ((value.walletId.length >= 2 || (value.walletId.length >= 1 && Guard.CodePointCount(value.walletId) >= 1)) && (value.walletId.length <= 128 || (value.walletId.length <= 256 && Guard.CodePointCount(value.walletId) <= 128))))))));
  return (value) => check_0(value);
})();

const getWalletAccount = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && (("organizationId" in value && "walletId" in value) && ((((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (typeof value.walletId === "string" && ((value.walletId.length >= 2 || (value.walletId.length >= 1 && Guard.CodePointCount(value.walletId) >= 1)) && (value.walletId.length <= 128 || (value.walletId.length <= 256 && Guard.CodePointCount(value.walletId) <= 128))))) && (value.address === undefined || (!("address" in value) || ((typeof value.address === "string" && (value.address.length <= 1000 || (value.address.length <= 2000 && Guard.CodePointCount(value.address) <= 1000))) || value.address === null)))) && (value.path === undefined || (!("path" in value) || ((typeof value.path === "string" && (value.path.length <= 1000 || (value.path.length <= 2000 && Guard.CodePointCount(value.path) <= 1000))) || value.path === null)))))));
  return (value) => check_0(value);
})();

const listActivities = (() => {
  const External = [/^ACTIVITY_TYPE_[A-Z0-9_]+$/u];
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && ((((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (value.filterByStatus === undefined || (!("filterByStatus" in value) || ((Array.isArray(value.filterByStatus) && (value.filterByStatus.every((unique_0, index) => (((((((unique_0 === "ACTIVITY_STATUS_CREATED" || unique_0 === "ACTIVITY_STATUS_PENDING") || unique_0 === "ACTIVITY_STATUS_COMPLETED") || unique_0 === "ACTIVITY_STATUS_FAILED") || unique_0 === "ACTIVITY_STATUS_CONSENSUS_NEEDED") || unique_0 === "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED") || unique_0 === "ACTIVITY_STATUS_REJECTED"))) && value.filterByStatus.length <= 100)) || value.filterByStatus === null)))) && (value.filterByType === undefined || (!("filterByType" in value) || ((Array.isArray(value.filterByType) && (value.filterByType.every((unique_1, index) => ((typeof unique_1 === "string" && ((unique_1.length <= 100 || (unique_1.length <= 200 && Guard.CodePointCount(unique_1) <= 100)) && External[0].test(unique_1))))) && value.filterByType.length <= 200)) || value.filterByType === null)))) && (value.paginationOptions === undefined || (!("paginationOptions" in value) || (((typeof value.paginationOptions === "object" && value.paginationOptions !== null && !(Array.isArray(value.paginationOptions))) && (((value.paginationOptions.limit === undefined || (!("limit" in value.paginationOptions) || ((typeof value.paginationOptions.limit === "string" && (value.paginationOptions.limit.length <= 10 || (value.paginationOptions.limit.length <= 20 && Guard.CodePointCount(value.paginationOptions.limit) <= 10))) || value.paginationOptions.limit === null))) && (value.paginationOptions.before === undefined || (!("before" in value.paginationOptions) || ((typeof value.paginationOptions.before === "string" && ((value.paginationOptions.before.length >= 2 || (value.paginationOptions.before.length >= 1 && Guard.CodePointCount(value.paginationOptions.before) >= 1)) && (value.paginationOptions.before.length <= 128 || (value.paginationOptions.before.length <= 256 && Guard.CodePointCount(value.paginationOptions.before) <= 128)))) || value.paginationOptions.before === null)))) && (value.paginationOptions.after === undefined || (!("after" in value.paginationOptions) || ((typeof value.paginationOptions.after === "string" && ((value.paginationOptions.after.length >= 2 || (value.paginationOptions.after.length >= 1 && Guard.CodePointCount(value.paginationOptions.after) >= 1)) && (value.paginationOptions.after.length <= 128 || (value.paginationOptions.after.length <= 256 && Guard.CodePointCount(value.paginationOptions.after) <= 128)))) || value.paginationOptions.after === null))))) || value.paginationOptions === null)))))));
  return (value) => check_0(value);
})();

const listPrivateKeyTags = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

const listPrivateKeys = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

const listSuborgs = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && ((((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (value.filterType === undefined || (!("filterType" in value) || ((typeof value.filterType === "string" && (value.filterType.length <= 64 || (value.filterType.length <= 128 && Guard.CodePointCount(value.filterType) <= 64))) || value.filterType === null)))) && (value.filterValue === undefined || (!("filterValue" in value) || ((typeof value.filterValue === "string" && (value.filterValue.length <= 10000 || (value.filterValue.length <= 20000 && Guard.CodePointCount(value.filterValue) <= 10000))) || value.filterValue === null)))) && (value.paginationOptions === undefined || (!("paginationOptions" in value) || (((typeof value.paginationOptions === "object" && value.paginationOptions !== null && !(Array.isArray(value.paginationOptions))) && (((value.paginationOptions.limit === undefined || (!("limit" in value.paginationOptions) || ((typeof value.paginationOptions.limit === "string" && (value.paginationOptions.limit.length <= 10 || (value.paginationOptions.limit.length <= 20 && Guard.CodePointCount(value.paginationOptions.limit) <= 10))) || value.paginationOptions.limit === null))) && (value.paginationOptions.before === undefined || (!("before" in value.paginationOptions) || ((typeof value.paginationOptions.before === "string" && ((value.paginationOptions.before.length >= 2 || (value.paginationOptions.before.length >= 1 && Guard.CodePointCount(value.paginationOptions.before) >= 1)) && (value.paginationOptions.before.length <= 128 || (value.paginationOptions.before.length <= 256 && Guard.CodePointCount(value.paginationOptions.before) <= 128)))) || value.paginationOptions.before === null)))) && (value.paginationOptions.after === undefined || (!("after" in value.paginationOptions) || ((typeof value.paginationOptions.after === "string" && ((value.paginationOptions.after.length >= 2 || (value.paginationOptions.after.length >= 1 && Guard.CodePointCount(value.paginationOptions.after) >= 1)) && (value.paginationOptions.after.length <= 128 || (value.paginationOptions.after.length <= 256 && Guard.CodePointCount(value.paginationOptions.after) <= 128)))) || value.paginationOptions.after === null))))) || value.paginationOptions === null)))))));
  return (value) => check_0(value);
})();

const listUserTags = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

const listUsers = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

const listWalletAccounts = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && ((((typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))) && (value.walletId === undefined || (!("walletId" in value) || ((typeof value.walletId === "string" && ((value.walletId.length >= 2 || (value.walletId.length >= 1 && Guard.CodePointCount(value.walletId) >= 1)) && (value.walletId.length <= 128 || (value.walletId.length <= 256 && Guard.CodePointCount(value.walletId) <= 128)))) || value.walletId === null)))) && (value.includeWalletDetails === undefined || (!("includeWalletDetails" in value) || (typeof value.includeWalletDetails === "boolean" || value.includeWalletDetails === null)))) && (value.paginationOptions === undefined || (!("paginationOptions" in value) || (((typeof value.paginationOptions === "object" && value.paginationOptions !== null && !(Array.isArray(value.paginationOptions))) && (((value.paginationOptions.limit === undefined || (!("limit" in value.paginationOptions) || ((typeof value.paginationOptions.limit === "string" && (value.paginationOptions.limit.length <= 10 || (value.paginationOptions.limit.length <= 20 && Guard.CodePointCount(value.paginationOptions.limit) <= 10))) || value.paginationOptions.limit === null))) && (value.paginationOptions.before === undefined || (!("before" in value.paginationOptions) || ((typeof value.paginationOptions.before === "string" && ((value.paginationOptions.before.length >= 2 || (value.paginationOptions.before.length >= 1 && Guard.CodePointCount(value.paginationOptions.before) >= 1)) && (value.paginationOptions.before.length <= 128 || (value.paginationOptions.before.length <= 256 && Guard.CodePointCount(value.paginationOptions.before) <= 128)))) || value.paginationOptions.before === null)))) && (value.paginationOptions.after === undefined || (!("after" in value.paginationOptions) || ((typeof value.paginationOptions.after === "string" && ((value.paginationOptions.after.length >= 2 || (value.paginationOptions.after.length >= 1 && Guard.CodePointCount(value.paginationOptions.after) >= 1)) && (value.paginationOptions.after.length <= 128 || (value.paginationOptions.after.length <= 256 && Guard.CodePointCount(value.paginationOptions.after) <= 128)))) || value.paginationOptions.after === null))))) || value.paginationOptions === null)))))));
  return (value) => check_0(value);
})();

const listWallets = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

const whoami = (() => {
  const check_0 = ((value) => ((typeof value === "object" && value !== null && !(Array.isArray(value))) && ("organizationId" in value && (typeof value.organizationId === "string" && ((value.organizationId.length >= 2 || (value.organizationId.length >= 1 && Guard.CodePointCount(value.organizationId) >= 1)) && (value.organizationId.length <= 128 || (value.organizationId.length <= 256 && Guard.CodePointCount(value.organizationId) <= 128)))))));
  return (value) => check_0(value);
})();

/** Whether a value is a well-formed request, by path. It has no prototype, so no path finds anything inherited. */
export const queryValidators: Readonly<Record<string, (value: unknown) => boolean>> = {
  __proto__: null,
  get_activity: getActivity,
  get_api_key: getApiKey,
  get_api_keys: getApiKeys,
  get_organization_configs: getOrganizationConfigs,
  get_private_key: getPrivateKey,
  get_user: getUser,
  get_wallet: getWallet,
  get_wallet_account: getWalletAccount,
  list_activities: listActivities,
  list_private_key_tags: listPrivateKeyTags,
  list_private_keys: listPrivateKeys,
  list_suborgs: listSuborgs,
  list_user_tags: listUserTags,
  list_users: listUsers,
  list_wallet_accounts: listWalletAccounts,
  list_wallets: listWallets,
  whoami: whoami,
};
