/** Policies, contract interfaces, and what an organization sets about itself. */
import { randomUUID } from "node:crypto";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { createKey } from "../../key_pairs.ts";
import { longExpression } from "../expressions.ts";
import { type ActivityPath, resultOf } from "../tenant.ts";
import { cycling, type Flood, flood, submitting } from "./flood.ts";
import {
  accounts,
  apiKey,
  contractInterface,
  interfaceParams,
  oauth2Credential,
  oauth2Credentials,
  policies,
  policy,
  users,
} from "./parts.ts";

/** Eight times this fits into what all policies of an organization may have, so that there are no more connections. */
const sixteenPolicies = cycling(async function* (lane) {
  const asked = { policies: Array.from({ length: 16 }, policy) };
  const { policyIds } = resultOf(yield lane.submit("create_policies", asked));
  yield lane.submit("delete_policies", { policyIds });
});

/** Longer texts fill what the number of clauses leaves of 4,096 bytes. */
const longestExpression = longExpression().replaceAll("'x'", "'xxxxxx'");

/**
 * As many and as long as a request may create; but only one such request fits into what an organization may have, so that the others
 * would be refused before anything is done for them. So the last name is taken: that is found when all are compiled, and nothing stays.
 */
const longestPolicies = submitting("create_policies", () => {
  const taken = randomUUID();
  const policies = Array.from({ length: 100 }, (_, index) => ({
    ...{ ...policy(), condition: longestExpression },
    ...((index === 0 || index === 99) && { policyName: taken }),
  }));
  return { policies };
});

/** An organization has a thousand at most, so that there are eight connections. */
const hundredPolicies = cycling(async function* (lane) {
  const asked = { policies: Array.from({ length: 100 }, () => ({ ...policy(), condition: "true" })) };
  const { policyIds } = resultOf(yield lane.submit("create_policies", asked));
  yield lane.submit("delete_policies", { policyIds });
});

/** Beside most of what there may be. */
const onePolicy: Flood = {
  async begin(tenant) {
    await policies(tenant, 380_000);
    return cycling(async function* (lane) {
      const { policyId } = resultOf(yield lane.submit("create_policy", policy()));
      yield lane.submit("delete_policy", { policyId });
    });
  },
};

const changedPolicy: Flood = {
  async begin(tenant) {
    const ids = await policies(tenant, 380_000);
    return submitting("update_policy", ({ index }, turn) => ({
      ...{ policyId: ids[index], policyCondition: `${longExpression()} || ${turn} == 0` },
    }));
  },
};

const interfaceCycle = (text: () => string) =>
  cycling(async function* (lane, turn) {
    const asked = interfaceParams(lane.index * 1_000_000 + turn, text());
    const { smartContractInterfaceId } = resultOf(yield lane.submit("create_smart_contract_interface", asked));
    yield lane.submit("delete_smart_contract_interface", { smartContractInterfaceId });
  });

/** 400 KiB, in functions whose inputs are as many as one may have. */
function longestInterface(): string {
  const inputs = Array.from({ length: 256 }, (_, index) => ({ name: `a${index}`, type: "uint256" }));
  const functions = Array.from({ length: 42 }, (_, index) => ({
    type: "function",
    name: `f${index}`,
    inputs,
    outputs: [],
  }));
  return JSON.stringify(functions);
}

/** A sub-organization has ten at most, and each connection one. */
const oauth2Cycle: Flood = {
  connections: 8,
  begin: ({ url }) =>
    cycling(async function* (lane) {
      const asked = await oauth2Credential(url);
      const { oauth2CredentialId } = resultOf(yield lane.submit("create_oauth2_credential", asked));
      yield lane.submit("delete_oauth2_credential", { oauth2CredentialId });
    }),
};

const changedOauth2: Flood = {
  async begin(tenant) {
    const ids = await oauth2Credentials(tenant, 10);
    const asked = await oauth2Credential(tenant.url);
    return submitting("update_oauth2_credential", ({ index }) => ({
      ...{ ...asked, oauth2CredentialId: ids[index % ids.length], clientId: randomUUID() },
    }));
  },
};

const atProvider: Flood = {
  refused: "it signs in at a provider, and the measured server knows none",
  async begin(tenant) {
    const [oauth2CredentialId] = await oauth2Credentials(tenant, 1);
    return submitting("oauth2_authenticate", () => ({
      oauth2CredentialId,
      authCode: "x".repeat(2_048),
      redirectUri: `https://a.example/${"x".repeat(2_000)}`,
      codeVerifier: "x".repeat(256),
      nonce: "x".repeat(256),
    }));
  },
};

/** Whoever is signed in and made it can make nothing more of it: the founder makes the next. */
const organizations = (isDeleted: boolean) =>
  cycling(async function* (lane, turn) {
    const own = createKey();
    const rootUsers = [{ ...users(1, 0)[0], apiKeys: [apiKey({ publicKey: own.publicKey })] }];
    const asked = {
      ...{ subOrganizationName: randomUUID(), rootQuorumThreshold: 1 },
      ...{ rootUsers: isDeleted ? rootUsers : [...rootUsers, ...users(8, 10)] },
      wallet: { walletName: randomUUID(), accounts: isDeleted ? [] : accounts(turn) },
    };
    const { subOrganizationId: organizationId } = resultOf(yield lane.submit("create_sub_organization", asked));
    if (!isDeleted) return;
    const by = { ...lane.user.by, organizationId, apiPublicKey: own.publicKey, apiPrivateKey: toHex(own.privateKey) };
    yield lane.submit("delete_sub_organization", { deleteWithoutExport: true }, { userId: "", by });
  });

const rules = (turn: number) => [
  ...Array.from({ length: 10 }, (_, at) => ({ cidr: `192.0.${at}.${turn % 256}/32`, label: "x".repeat(255) })),
  ...Array.from({ length: 10 }, (_, at) => ({ cidr: `2001:db8:${at}::/48`, label: "x".repeat(255) })),
];

const origins = (turn: number) =>
  Array.from({ length: 100 }, (_, index) => `https://a${turn}-${index}.${"b".repeat(60)}.example`);

const smsValue = { name: "FEATURE_NAME_SMS_AUTH" };

export const settingFloods = {
  create_policies: flood(sixteenPolicies, { connections: 8 }),
  create_policy: onePolicy,
  update_policy: changedPolicy,
  delete_policies: flood(hundredPolicies, { connections: 8 }),
  delete_policy: onePolicy,
  create_smart_contract_interface: flood(interfaceCycle(() => contractInterface())),
  delete_smart_contract_interface: flood(interfaceCycle(() => contractInterface())),
  create_oauth2_credential: oauth2Cycle,
  delete_oauth2_credential: oauth2Cycle,
  update_oauth2_credential: changedOauth2,
  oauth2_authenticate: atProvider,
  create_session_profile: flood(
    submitting("create_session_profile", () => ({ sessionProfileName: randomUUID(), scope: longExpression() })),
    { atParent: true, refused: "an organization makes a hundred at most, and they stay" },
  ),
  create_sub_organization: flood(organizations(false), { atParent: true }),
  delete_sub_organization: flood(organizations(true), { atParent: true }),
  set_ip_allowlist: flood(
    submitting("set_ip_allowlist", (_, turn) => ({ enabled: false, rules: rules(turn) })),
    { atParent: true },
  ),
  // There is one, and whoever comes second finds none to remove.
  remove_ip_allowlist: flood(
    cycling(async function* (lane, turn) {
      yield lane.submit("set_ip_allowlist", { enabled: false, rules: rules(turn) });
      yield lane.submit("remove_ip_allowlist", {});
    }),
    { atParent: true, connections: 1 },
  ),
  enable_auth_proxy: flood(
    submitting("enable_auth_proxy", () => ({})),
    { atParent: true },
  ),
  // Strangers measure against the proxy of this organization: one connection alone leaves it without one for a moment only.
  disable_auth_proxy: flood(
    cycling(async function* (lane) {
      yield lane.submit("disable_auth_proxy", {});
      yield lane.submit("enable_auth_proxy", {});
    }),
    { atParent: true, connections: 1 },
  ),
  update_auth_proxy_config: flood(
    submitting("update_auth_proxy_config", (_, turn) => ({
      allowedOrigins: origins(turn),
      socialLinkingClientIds: Array.from({ length: 100 }, () => "c".repeat(400)),
    })),
    { atParent: true },
  ),
  update_allowed_origins: flood(submitting("update_allowed_origins", (_, turn) => ({ allowedOrigins: origins(turn) }))),
  update_organization_name: flood(submitting("update_organization_name", () => ({ organizationName: randomUUID() }))),
  set_organization_feature: flood(
    submitting("set_organization_feature", () => ({ ...smsValue, value: "x".repeat(10_000) })),
  ),
  // There is one, and whoever comes second finds none to remove.
  remove_organization_feature: flood(
    cycling(async function* (lane) {
      yield lane.submit("set_organization_feature", { ...smsValue, value: "x".repeat(10_000) });
      yield lane.submit("remove_organization_feature", smsValue);
    }),
    { connections: 1 },
  ),
} satisfies Partial<Record<ActivityPath, Flood>>;

export const largeSettingFloods = {
  "large create_policies": flood(longestPolicies, {
    isLarge: true,
    refused: "the last of a hundred has the name of the first, which is found when all are compiled",
  }),
  "large create_smart_contract_interface": flood(interfaceCycle(longestInterface), { isLarge: true }),
} satisfies Record<string, Flood>;
