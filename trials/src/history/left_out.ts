/**
 * What the history does without, each with its reason. Every other endpoint of the registry must have its entries in `picture.ts`,
 * `acts.ts` and `views.ts`: the compiler misses one that is in neither.
 */
import type { activities, queries } from "@keystead/e2e/generated/endpoints.ts";

type ActivityPath = keyof typeof activities;
type QueryPath = keyof typeof queries;

const others = "the history of an organization is its own, and this makes or ends another";
const imports = "an organization with imports cannot be executed anew: nobody has its keys";
const exported = "it changes nothing but a mark, and its answer is sealed for whoever asked";
const accounts = "a wallet of the model has one account";
const keyTags = "as the tags of users, which are there";
const starts = "a start of the signer is no organization's; the restarts of the history are not in the model";
const logged = "the log is read whole at the end, and executed anew";
const profiles = "the sessions of the model have none; the gateway's tests have them";
const applications = "the users of the model sign in by their keys; the gateway's tests have providers";
const addresses = "all clients of the model come from one address; the gateway's tests have others";
const codes = "a code is sent to somebody and answered within minutes, and leaves the organization as it is";
const mailed = "its key or code is mailed, and the clients of the model read no mail; the gateway's tests have it";
const proxy = "only an organization without a parent has an auth proxy, and those of the model have one";
const standsAlone = "nothing else that the model knows depends on it";
const proven = "the clients of the model ask for no app proofs; the gateway's tests do";

export const leftOutActivities = {
  create_api_only_users: "as `create_users`, which is there",
  create_oauth2_credential: applications,
  create_private_key_tag: keyTags,
  create_session_profile: profiles,
  create_smart_contract_interface: standsAlone,
  create_sub_organization: others,
  create_wallet_accounts: accounts,
  delete_oauth2_credential: applications,
  delete_private_key_tags: keyTags,
  delete_smart_contract_interface: standsAlone,
  delete_sub_organization: others,
  delete_wallet_accounts: accounts,
  disable_auth_proxy: proxy,
  enable_auth_proxy: proxy,
  update_auth_proxy_config: proxy,
  email_auth: mailed,
  export_private_key: exported,
  export_wallet: exported,
  export_wallet_account: exported,
  import_private_key: imports,
  import_wallet: imports,
  init_import_private_key: imports,
  init_import_wallet: imports,
  init_otp: codes,
  oauth: "as `oauth_login`, which is there, with a key that is sealed for whoever asked",
  otp_login:
    "it needs a verification token, and the users of the model have no contacts; the gateway's tests have them",
  init_otp_auth: codes,
  init_user_email_recovery: mailed,
  otp_auth: mailed,
  oauth2_authenticate: applications,
  recover_user: mailed,
  remove_ip_allowlist: addresses,
  set_ip_allowlist: addresses,
  sign_transaction: "as signatures of payloads, which are there",
  update_oauth2_credential: applications,
  update_private_key_tag: keyTags,
  verify_otp: codes,
} as const satisfies Partial<Record<ActivityPath, string>>;

export const leftOutQueries = {
  get_log_file: logged,
  get_log_statement: logged,
  list_log_leaves: logged,
  get_boot_proof: starts,
  get_latest_boot_proof: starts,
  get_api_key: "as `get_api_keys`, by an id that is told only for some keys",
  get_ip_allowlist: addresses,
  get_oauth2_credential: applications,
  get_policy_evaluations: "what a decision rested on is not in the model, which decides anew",
  get_proof_context: proven,
  get_session_profile: profiles,
  get_session_profiles: profiles,
  get_smart_contract_interface: standsAlone,
  get_wallet_account: accounts,
  list_app_proofs: proven,
  list_email_events: codes,
  list_oauth2_credentials: applications,
  list_private_key_tags: keyTags,
  list_smart_contract_interfaces: standsAlone,
  list_suborgs: others,
  list_verified_suborgs: others,
  simulate_activity: "it shows what would be decided, and the history shows what is",
} as const satisfies Partial<Record<QueryPath, string>>;

/** The activities that the clients submit. */
export type Written = Exclude<ActivityPath, keyof typeof leftOutActivities>;
export type Vote = "approve_activity" | "reject_activity";

/** The queries that they ask. */
export type Asked = Exclude<QueryPath, keyof typeof leftOutQueries>;
