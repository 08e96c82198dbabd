const keyLimits = {
  walletsPerOrganization: 120,
  privateKeysPerOrganization: 150,
  privateKeyTagsPerOrganization: 80,
  policiesPerOrganization: 80,
  contractInterfacesPerOrganization: 60,
  sessionProfilesPerOrganization: 60,
} as const;

/** What the matrix's server allows, so that limits can be hit. */
export const limits = { usersPerOrganization: 80, userTagsPerOrganization: 80, ...keyLimits } as const;
