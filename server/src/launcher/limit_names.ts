/**
 * The limits that KEYSTEAD_LIMITS can set. The signer knows what they mean; the launcher, which imports nothing of the signer's, knows
 * their names, so that a wrong one is refused before a first start has made any key. A test holds this list against the signer's.
 */
export const limitNames: readonly string[] = [
  "userTagsPerOrganization",
  "userTagsPerSubOrganization",
  "usersPerOrganization",
  "usersPerSubOrganization",
  "longLivedApiKeysPerUser",
  "expiringApiKeysPerUser",
  "pendingActivitiesPerOrganization",
  "pendingActivitiesPerUser",
  "pendingActivitiesPerRootUser",
  "refusedBytesPerUserPerDay",
  "walletsPerOrganization",
  "walletsPerSubOrganization",
  "privateKeysPerOrganization",
  "privateKeysPerSubOrganization",
  "privateKeyTagsPerOrganization",
  "privateKeyTagsPerSubOrganization",
  "policiesPerOrganization",
  "policiesPerSubOrganization",
  "policyBytesPerOrganization",
  "policyBytesPerSubOrganization",
  "contractInterfacesPerOrganization",
  "contractInterfacesPerSubOrganization",
  "contractInterfaceBytesPerOrganization",
  "contractInterfaceBytesPerSubOrganization",
];
