/** The published names of every accepted `type`. Clients read results by hard-coded keys, so each is written down here. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { activities, activityForms } from "../generated/activities.ts";
import { activityValidators } from "../generated/activity_validators.ts";
import { queries } from "../generated/queries.ts";

const published: readonly [path: string, type: string, intentKey: string, resultKey: string][] = [
  ["approve_activity", "APPROVE_ACTIVITY", "approveActivityIntent", ""],
  ["create_api_keys", "CREATE_API_KEYS", "createApiKeysIntent", "createApiKeysResult"],
  ["create_api_keys", "CREATE_API_KEYS_V2", "createApiKeysIntentV2", "createApiKeysResult"],
  ["create_authenticators", "CREATE_AUTHENTICATORS", "createAuthenticatorsIntent", "createAuthenticatorsResult"],
  ["create_authenticators", "CREATE_AUTHENTICATORS_V2", "createAuthenticatorsIntentV2", "createAuthenticatorsResult"],
  ["delete_authenticators", "DELETE_AUTHENTICATORS", "deleteAuthenticatorsIntent", "deleteAuthenticatorsResult"],
  ["enable_auth_proxy", "ENABLE_AUTH_PROXY", "enableAuthProxyIntent", "enableAuthProxyResult"],
  ["disable_auth_proxy", "DISABLE_AUTH_PROXY", "disableAuthProxyIntent", "disableAuthProxyResult"],
  [
    "update_auth_proxy_config",
    "UPDATE_AUTH_PROXY_CONFIG",
    "updateAuthProxyConfigIntent",
    "updateAuthProxyConfigResult",
  ],
  ["update_allowed_origins", "UPDATE_ALLOWED_ORIGINS", "updateAllowedOriginsIntent", "updateAllowedOriginsResult"],
  ["create_api_only_users", "CREATE_API_ONLY_USERS", "createApiOnlyUsersIntent", "createApiOnlyUsersResult"],
  ["create_sub_organization", "CREATE_SUB_ORGANIZATION", "createSubOrganizationIntent", "createSubOrganizationResult"],
  [
    "create_sub_organization",
    "CREATE_SUB_ORGANIZATION_V2",
    "createSubOrganizationIntentV2",
    "createSubOrganizationResult",
  ],
  [
    "create_sub_organization",
    "CREATE_SUB_ORGANIZATION_V3",
    "createSubOrganizationIntentV3",
    "createSubOrganizationResultV3",
  ],
  [
    "create_sub_organization",
    "CREATE_SUB_ORGANIZATION_V4",
    "createSubOrganizationIntentV4",
    "createSubOrganizationResultV4",
  ],
  [
    "create_sub_organization",
    "CREATE_SUB_ORGANIZATION_V5",
    "createSubOrganizationIntentV5",
    "createSubOrganizationResultV5",
  ],
  [
    "create_sub_organization",
    "CREATE_SUB_ORGANIZATION_V6",
    "createSubOrganizationIntentV6",
    "createSubOrganizationResultV6",
  ],
  [
    "create_sub_organization",
    "CREATE_SUB_ORGANIZATION_V7",
    "createSubOrganizationIntentV7",
    "createSubOrganizationResultV7",
  ],
  [
    "create_sub_organization",
    "CREATE_SUB_ORGANIZATION_V8",
    "createSubOrganizationIntentV8",
    "createSubOrganizationResultV8",
  ],
  ["create_policies", "CREATE_POLICIES", "createPoliciesIntent", "createPoliciesResult"],
  ["create_policy", "CREATE_POLICY_V3", "createPolicyIntentV3", "createPolicyResult"],
  ["create_private_key_tag", "CREATE_PRIVATE_KEY_TAG", "createPrivateKeyTagIntent", "createPrivateKeyTagResult"],
  ["create_private_keys", "CREATE_PRIVATE_KEYS", "createPrivateKeysIntent", "createPrivateKeysResult"],
  ["create_private_keys", "CREATE_PRIVATE_KEYS_V2", "createPrivateKeysIntentV2", "createPrivateKeysResultV2"],
  [
    "create_read_only_session",
    "CREATE_READ_ONLY_SESSION",
    "createReadOnlySessionIntent",
    "createReadOnlySessionResult",
  ],
  [
    "create_read_write_session",
    "CREATE_READ_WRITE_SESSION",
    "createReadWriteSessionIntent",
    "createReadWriteSessionResult",
  ],
  [
    "create_read_write_session",
    "CREATE_READ_WRITE_SESSION_V2",
    "createReadWriteSessionIntentV2",
    "createReadWriteSessionResultV2",
  ],
  [
    "create_smart_contract_interface",
    "CREATE_SMART_CONTRACT_INTERFACE",
    "createSmartContractInterfaceIntent",
    "createSmartContractInterfaceResult",
  ],
  ["create_user_tag", "CREATE_USER_TAG", "createUserTagIntent", "createUserTagResult"],
  ["create_users", "CREATE_USERS", "createUsersIntent", "createUsersResult"],
  ["create_users", "CREATE_USERS_V2", "createUsersIntentV2", "createUsersResult"],
  ["create_users", "CREATE_USERS_V3", "createUsersIntentV3", "createUsersResult"],
  ["create_users", "CREATE_USERS_V4", "createUsersIntentV4", "createUsersResult"],
  ["create_wallet", "CREATE_WALLET", "createWalletIntent", "createWalletResult"],
  ["create_wallet_accounts", "CREATE_WALLET_ACCOUNTS", "createWalletAccountsIntent", "createWalletAccountsResult"],
  ["delete_api_keys", "DELETE_API_KEYS", "deleteApiKeysIntent", "deleteApiKeysResult"],
  ["delete_policies", "DELETE_POLICIES", "deletePoliciesIntent", "deletePoliciesResult"],
  ["delete_policy", "DELETE_POLICY", "deletePolicyIntent", "deletePolicyResult"],
  ["delete_private_key_tags", "DELETE_PRIVATE_KEY_TAGS", "deletePrivateKeyTagsIntent", "deletePrivateKeyTagsResult"],
  ["delete_private_keys", "DELETE_PRIVATE_KEYS", "deletePrivateKeysIntent", "deletePrivateKeysResult"],
  [
    "delete_smart_contract_interface",
    "DELETE_SMART_CONTRACT_INTERFACE",
    "deleteSmartContractInterfaceIntent",
    "deleteSmartContractInterfaceResult",
  ],
  ["delete_sub_organization", "DELETE_SUB_ORGANIZATION", "deleteSubOrganizationIntent", "deleteSubOrganizationResult"],
  ["delete_user_tags", "DELETE_USER_TAGS", "deleteUserTagsIntent", "deleteUserTagsResult"],
  ["delete_users", "DELETE_USERS", "deleteUsersIntent", "deleteUsersResult"],
  ["delete_wallet_accounts", "DELETE_WALLET_ACCOUNTS", "deleteWalletAccountsIntent", "deleteWalletAccountsResult"],
  ["delete_wallets", "DELETE_WALLETS", "deleteWalletsIntent", "deleteWalletsResult"],
  ["export_private_key", "EXPORT_PRIVATE_KEY", "exportPrivateKeyIntent", "exportPrivateKeyResult"],
  ["export_wallet", "EXPORT_WALLET", "exportWalletIntent", "exportWalletResult"],
  ["export_wallet_account", "EXPORT_WALLET_ACCOUNT", "exportWalletAccountIntent", "exportWalletAccountResult"],
  ["import_private_key", "IMPORT_PRIVATE_KEY", "importPrivateKeyIntent", "importPrivateKeyResult"],
  ["import_wallet", "IMPORT_WALLET", "importWalletIntent", "importWalletResult"],
  ["init_import_private_key", "INIT_IMPORT_PRIVATE_KEY", "initImportPrivateKeyIntent", "initImportPrivateKeyResult"],
  ["init_import_wallet", "INIT_IMPORT_WALLET", "initImportWalletIntent", "initImportWalletResult"],
  ["init_otp", "INIT_OTP", "initOtpIntent", "initOtpResult"],
  ["init_otp", "INIT_OTP_V2", "initOtpIntentV2", "initOtpResult"],
  ["init_otp", "INIT_OTP_V3", "initOtpIntentV3", "initOtpResultV2"],
  ["oauth", "OAUTH", "oauthIntent", "oauthResult"],
  ["oauth_login", "OAUTH_LOGIN", "oauthLoginIntent", "oauthLoginResult"],
  ["create_oauth_providers", "CREATE_OAUTH_PROVIDERS", "createOauthProvidersIntent", "createOauthProvidersResult"],
  [
    "create_oauth_providers",
    "CREATE_OAUTH_PROVIDERS_V2",
    "createOauthProvidersIntentV2",
    "createOauthProvidersResultV2",
  ],
  ["delete_oauth_providers", "DELETE_OAUTH_PROVIDERS", "deleteOauthProvidersIntent", "deleteOauthProvidersResult"],
  ["otp_login", "OTP_LOGIN", "otpLoginIntent", "otpLoginResult"],
  ["otp_login", "OTP_LOGIN_V2", "otpLoginIntentV2", "otpLoginResult"],
  ["reject_activity", "REJECT_ACTIVITY", "rejectActivityIntent", ""],
  [
    "remove_organization_feature",
    "REMOVE_ORGANIZATION_FEATURE",
    "removeOrganizationFeatureIntent",
    "removeOrganizationFeatureResult",
  ],
  [
    "set_organization_feature",
    "SET_ORGANIZATION_FEATURE",
    "setOrganizationFeatureIntent",
    "setOrganizationFeatureResult",
  ],
  ["sign_raw_payload", "SIGN_RAW_PAYLOAD", "signRawPayloadIntent", "signRawPayloadResult"],
  ["sign_raw_payload", "SIGN_RAW_PAYLOAD_V2", "signRawPayloadIntentV2", "signRawPayloadResult"],
  ["sign_raw_payloads", "SIGN_RAW_PAYLOADS", "signRawPayloadsIntent", "signRawPayloadsResult"],
  ["sign_transaction", "SIGN_TRANSACTION", "signTransactionIntent", "signTransactionResult"],
  ["sign_transaction", "SIGN_TRANSACTION_V2", "signTransactionIntentV2", "signTransactionResult"],
  [
    "create_oauth2_credential",
    "CREATE_OAUTH2_CREDENTIAL",
    "createOauth2CredentialIntent",
    "createOauth2CredentialResult",
  ],
  [
    "update_oauth2_credential",
    "UPDATE_OAUTH2_CREDENTIAL",
    "updateOauth2CredentialIntent",
    "updateOauth2CredentialResult",
  ],
  [
    "delete_oauth2_credential",
    "DELETE_OAUTH2_CREDENTIAL",
    "deleteOauth2CredentialIntent",
    "deleteOauth2CredentialResult",
  ],
  ["oauth2_authenticate", "OAUTH2_AUTHENTICATE", "oauth2AuthenticateIntent", "oauth2AuthenticateResult"],
  ["set_ip_allowlist", "SET_IP_ALLOWLIST", "setIpAllowlistIntent", "setIpAllowlistResult"],
  ["remove_ip_allowlist", "REMOVE_IP_ALLOWLIST", "removeIpAllowlistIntent", "removeIpAllowlistResult"],
  ["create_session_profile", "CREATE_SESSION_PROFILE", "createSessionProfileIntent", "createSessionProfileResult"],
  ["stamp_login", "STAMP_LOGIN", "stampLoginIntent", "stampLoginResult"],
  [
    "update_organization_name",
    "UPDATE_ORGANIZATION_NAME",
    "updateOrganizationNameIntent",
    "updateOrganizationNameResult",
  ],
  ["update_policy", "UPDATE_POLICY", "updatePolicyIntent", "updatePolicyResult"],
  ["update_policy", "UPDATE_POLICY_V2", "updatePolicyIntentV2", "updatePolicyResultV2"],
  ["update_private_key_tag", "UPDATE_PRIVATE_KEY_TAG", "updatePrivateKeyTagIntent", "updatePrivateKeyTagResult"],
  ["update_root_quorum", "UPDATE_ROOT_QUORUM", "updateRootQuorumIntent", "updateRootQuorumResult"],
  ["email_auth", "EMAIL_AUTH", "emailAuthIntent", "emailAuthResult"],
  ["email_auth", "EMAIL_AUTH_V2", "emailAuthIntentV2", "emailAuthResult"],
  ["email_auth", "EMAIL_AUTH_V3", "emailAuthIntentV3", "emailAuthResult"],
  ["init_otp_auth", "INIT_OTP_AUTH", "initOtpAuthIntent", "initOtpAuthResult"],
  ["init_otp_auth", "INIT_OTP_AUTH_V2", "initOtpAuthIntentV2", "initOtpAuthResultV2"],
  ["init_otp_auth", "INIT_OTP_AUTH_V3", "initOtpAuthIntentV3", "initOtpAuthResultV2"],
  ["otp_auth", "OTP_AUTH", "otpAuthIntent", "otpAuthResult"],
  [
    "init_user_email_recovery",
    "INIT_USER_EMAIL_RECOVERY",
    "initUserEmailRecoveryIntent",
    "initUserEmailRecoveryResult",
  ],
  [
    "init_user_email_recovery",
    "INIT_USER_EMAIL_RECOVERY_V2",
    "initUserEmailRecoveryIntentV2",
    "initUserEmailRecoveryResult",
  ],
  ["recover_user", "RECOVER_USER", "recoverUserIntent", "recoverUserResult"],
  ["update_user", "UPDATE_USER", "updateUserIntent", "updateUserResult"],
  ["update_user_email", "UPDATE_USER_EMAIL", "updateUserEmailIntent", "updateUserEmailResult"],
  ["update_user_name", "UPDATE_USER_NAME", "updateUserNameIntent", "updateUserNameResult"],
  [
    "update_user_phone_number",
    "UPDATE_USER_PHONE_NUMBER",
    "updateUserPhoneNumberIntent",
    "updateUserPhoneNumberResult",
  ],
  ["update_user_tag", "UPDATE_USER_TAG", "updateUserTagIntent", "updateUserTagResult"],
  ["update_wallet", "UPDATE_WALLET", "updateWalletIntent", "updateWalletResult"],
  ["verify_otp", "VERIFY_OTP", "verifyOtpIntent", "verifyOtpResult"],
  ["verify_otp", "VERIFY_OTP_V2", "verifyOtpIntentV2", "verifyOtpResult"],
];

for (const [path, name, intentKey, resultKey] of published) {
  test(`${name} is accepted on ${path} under its published keys, and validated`, () => {
    const form = activityForms.get(`ACTIVITY_TYPE_${name}`);
    assert.ok(form);
    assert.deepEqual([form.activity.path, form.intentKey, form.resultKey], [path, intentKey, resultKey]);
    assert.equal(typeof activityValidators[form.type], "function");
  });
}

test("no other type is accepted", () => {
  const known = published.map(([, name]) => `ACTIVITY_TYPE_${name}`);
  assert.deepEqual([...activityForms.keys()].sort(), known.sort());
});

test("every activity is run by a test in this folder", () => {
  const folder = import.meta.dirname;
  const tests = readdirSync(folder).filter((file) => file.endsWith(".test.ts"));
  const textOf = (files: readonly string[]) => files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  const texts = textOf(tests);
  // Through a gateway it is run by its name.
  const gatewayTexts = textOf(tests.filter((file) => file.endsWith(".gateway.test.ts")));
  const paths = [...activityForms.values()].map(({ activity }) => activity.path);
  const untested = paths.filter(
    (path) => !texts.includes(`from "./${path}.ts"`) && !gatewayTexts.includes(`"${path}", {`),
  );
  assert.deepEqual(untested, []);
});

test("exactly these are beyond the reach of any policy", () => {
  const rootOnly = new Set(
    [...activityForms.values()].filter(({ activity }) => activity.rootQuorumOnly).map(({ activity }) => activity.path),
  );
  assert.deepEqual([...rootOnly].sort(), [
    "delete_sub_organization",
    "remove_organization_feature",
    "set_organization_feature",
    "update_organization_name",
    "update_root_quorum",
  ]);
});

test("only credentials are a user's own to change by default", () => {
  const own = [...activityForms.values()].filter(({ activity }) => activity.ownCredentialOf !== undefined);
  assert.deepEqual([...new Set(own.map(({ activity }) => activity.path))].sort(), [
    "create_api_keys",
    "create_authenticators",
    "create_oauth_providers",
    "create_read_only_session",
    "create_read_write_session",
    "delete_api_keys",
    "delete_authenticators",
    "delete_oauth_providers",
    "recover_user",
    "stamp_login",
  ]);
});

test("exactly these are refused to everyone but the user they name, even to root", () => {
  const own = [...activityForms.values()].filter(({ activity }) => activity.ownActOf !== undefined);
  assert.deepEqual([...new Set(own.map(({ activity }) => activity.path))].sort(), [
    "create_read_write_session",
    "import_private_key",
    "import_wallet",
    "init_import_private_key",
    "init_import_wallet",
    "recover_user",
  ]);
});

test("exactly this one is stamped with a recovery key, and no parent or vote stands in for it", () => {
  const open = [...activityForms.values()].filter(({ activity }) => activity.byRecoveryKey === true);
  assert.deepEqual(
    open.map(({ activity }) => activity.path),
    ["recover_user"],
  );
  for (const { activity } of open) {
    const { vote, openToParent, rootQuorumOnly, findsSubOrganization, neverWaits } = activity;
    assert.deepEqual([vote, openToParent, rootQuorumOnly, findsSubOrganization], Array(4).fill(undefined));
    assert.equal(neverWaits, true);
  }
});

test("exactly these run in the sub-organization of who stamped them, though they name its parent", () => {
  const below = [...activityForms.values()].filter(({ activity }) => activity.findsSubOrganization === true);
  assert.deepEqual([...new Set(below.map(({ activity }) => activity.path))].sort(), [
    "create_read_only_session",
    "create_read_write_session",
    "stamp_login",
  ]);
});

test("exactly these make a session that may submit, so a session with a profile is held to its own there", () => {
  const made = [...activityForms.values()].filter(({ activity }) => activity.makesSession !== undefined);
  assert.deepEqual([...new Set(made.map(({ activity }) => activity.path))].sort(), [
    "create_read_write_session",
    "email_auth",
    "init_user_email_recovery",
    "oauth",
    "oauth_login",
    "otp_auth",
    "otp_login",
    "stamp_login",
  ]);
});

test("exactly these take a stamp that a verification token vouches for: sign-ins, votes and what follows them", () => {
  const attested = [...Object.values(activities), ...Object.values(queries)].filter(
    (endpoint) => (endpoint as { takesAttested?: true }).takesAttested === true,
  );
  assert.deepEqual(attested.map(({ path }) => path).sort(), [
    "approve_activity",
    "get_activity",
    "reject_activity",
    "stamp_login",
    "whoami",
  ]);
});

test("exactly these are open to users of the parent, and none of them is a vote, a user's own act or about keys", () => {
  const open = [...activityForms.values()].map(({ activity }) => activity).filter((each) => each.openToParent === true);
  assert.deepEqual([...new Set(open.map(({ path }) => path))].sort(), [
    "create_oauth_providers",
    "email_auth",
    "init_otp_auth",
    "init_user_email_recovery",
    "oauth",
    "oauth_login",
    "otp_auth",
    "otp_login",
  ]);
  for (const activity of open) {
    const { vote, rootQuorumOnly, ownActOf, findsSubOrganization, policySubject } = activity;
    const none = [vote, rootQuorumOnly, ownActOf, findsSubOrganization, policySubject];
    assert.deepEqual(none, Array(none.length).fill(undefined), activity.path);
  }
});

test("exactly these take bearer values, each of which the schema of a version knows as a text", () => {
  const forms = [...activityForms.values()];
  const bearing = forms.map(({ activity }) => activity).filter((each) => each.bearerParams !== undefined);
  assert.deepEqual([...new Set(bearing.map(({ path }) => path))].sort(), [
    "create_oauth_providers",
    "create_sub_organization",
    "create_users",
    "oauth",
    "oauth2_authenticate",
    "oauth_login",
    "otp_auth",
    "otp_login",
    "update_user_email",
    "update_user_phone_number",
    "verify_otp",
  ]);
  for (const activity of bearing) {
    for (const path of Object.keys(activity.bearerParams ?? {})) {
      const found = forms.filter((form) => form.activity === activity).map(({ params }) => schemaAt(params, path));
      assert.ok(found.includes("string"), `${activity.path}: no version has a text at ${path}`);
    }
  }
});

type Schema = { type?: string; properties?: Record<string, Schema>; items?: Schema; anyOf?: readonly Schema[] };

function schemaAt(schema: unknown, path: string): string | undefined {
  let at = schema as Schema | undefined;
  for (const step of path.replaceAll("[]", ".[]").split(".")) {
    at = at?.anyOf?.[0] ?? at;
    at = step === "[]" ? at?.items : at?.properties?.[step];
  }
  return (at?.anyOf?.[0] ?? at)?.type;
}

test("a result that only the same bytes bring again comes of a body that is sealed, too, in every version", () => {
  for (const { activity, type, params } of activityForms.values()) {
    if (activity.bearer?.onlyForSameBytes !== true) continue;
    assert.equal(activity.sealed, true, type);
    // Whoever could read the body and its stamp could send both.
    const paths = Object.keys(activity.bearerParams ?? {});
    assert.ok(
      paths.some((path) => schemaAt(params, path) === "string"),
      `${type} has no bearer value: name what it takes instead, such as an encrypted code`,
    );
  }
});
