/**
 * Activities of which a hostile gateway gains nothing by preparing one body twice, each with its reason. Every other activity of the
 * registry must have its row in `makers` of `twins.ts`: the compiler misses one that is in neither.
 */
import type { activities } from "../src/generated/activities.ts";

export type ActivityPath = keyof typeof activities;

const ids = "its ids follow from the body, and nothing is drawn for it";
const changes = "it changes what is there, and makes nothing";
const takesAway = "it only takes away";
const vote = "it makes what its target makes, which is here";

export const makesNothing = {
  approve_activity: vote,
  create_api_keys: ids,
  create_api_only_users: ids,
  create_oauth2_credential: ids,
  create_oauth_providers: ids,
  create_policies: ids,
  create_policy: ids,
  create_private_key_tag: ids,
  create_session_profile: ids,
  create_smart_contract_interface: ids,
  create_user_tag: ids,
  create_users: ids,
  enable_auth_proxy: ids,
  update_auth_proxy_config: changes,
  disable_auth_proxy: takesAway,
  delete_api_keys: takesAway,
  delete_authenticators: takesAway,
  delete_oauth2_credential: takesAway,
  delete_oauth_providers: takesAway,
  delete_policies: takesAway,
  delete_policy: takesAway,
  delete_private_key_tags: takesAway,
  delete_private_keys: takesAway,
  delete_smart_contract_interface: takesAway,
  delete_sub_organization: takesAway,
  delete_user_tags: takesAway,
  delete_users: takesAway,
  delete_wallet_accounts: takesAway,
  delete_wallets: takesAway,
  reject_activity: "it ends what waits",
  remove_ip_allowlist: takesAway,
  remove_organization_feature: changes,
  set_ip_allowlist: changes,
  set_organization_feature: changes,
  update_allowed_origins: changes,
  update_oauth2_credential: changes,
  update_organization_name: changes,
  update_policy: changes,
  update_private_key_tag: changes,
  update_root_quorum: changes,
  update_user: changes,
  update_user_email: changes,
  update_user_name: changes,
  update_user_phone_number: changes,
  update_user_tag: changes,
  update_wallet: changes,
} as const satisfies Partial<Record<ActivityPath, string>>;

/** The others: what they make or draw could be had twice. */
export type Maker = Exclude<ActivityPath, keyof typeof makesNothing>;
