// Written by `npm run generate` from the limits in `state/entity_kinds.ts` and `endpoints/limits.ts`. Do not edit.
/**
 * The limits that KEYSTEAD_LIMITS can set. The signer knows what they mean; the launcher, which imports nothing of the signer's, knows
 * their names, so that a wrong one is refused before a first start has made any key.
 */
export const limitNames: readonly string[] = [
  "userTagsPerOrganization",
  "userTagsPerSubOrganization",
  "usersPerOrganization",
  "usersPerSubOrganization",
  "privateKeyTagsPerOrganization",
  "privateKeyTagsPerSubOrganization",
  "walletsPerOrganization",
  "walletsPerSubOrganization",
  "privateKeysPerOrganization",
  "privateKeysPerSubOrganization",
  "policiesPerOrganization",
  "policiesPerSubOrganization",
  "policyBytesPerOrganization",
  "policyBytesPerSubOrganization",
  "contractInterfacesPerOrganization",
  "contractInterfacesPerSubOrganization",
  "contractInterfaceBytesPerOrganization",
  "contractInterfaceBytesPerSubOrganization",
  "sessionProfilesPerOrganization",
  "sessionProfilesPerSubOrganization",
  "longLivedApiKeysPerUser",
  "expiringApiKeysPerUser",
  "maxSessionSeconds",
  "authenticatorsPerUser",
  "oauthProvidersPerUser",
  "pendingActivitiesPerOrganization",
  "pendingActivitiesPerUser",
  "pendingActivitiesPerRootUser",
  "refusedBytesPerUserPerDay",
];
