import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLimit, withLimits } from "./limits.ts";

test("without the operator's numbers the published limits stand, and more than those for keys", () => {
  assert.deepEqual(withLimits({}), {
    userTagsPerOrganization: 1_000,
    userTagsPerSubOrganization: 100,
    usersPerOrganization: 1_000,
    usersPerSubOrganization: 1_000,
    longLivedApiKeysPerUser: 10,
    expiringApiKeysPerUser: 10,
    maxSessionSeconds: 2_592_000,
    authenticatorsPerUser: 10,
    oauthProvidersPerUser: 10,
    pendingActivitiesPerOrganization: 1_000,
    pendingActivitiesPerUser: 200,
    pendingActivitiesPerRootUser: 200,
    refusedBytesPerUserPerDay: 8_388_608,
    walletsPerOrganization: 10_000,
    walletsPerSubOrganization: 10_000,
    privateKeysPerOrganization: 10_000,
    privateKeysPerSubOrganization: 10_000,
    privateKeyTagsPerOrganization: 100,
    privateKeyTagsPerSubOrganization: 10,
    policiesPerOrganization: 1_000,
    policiesPerSubOrganization: 1_000,
    policyBytesPerOrganization: 524_288,
    policyBytesPerSubOrganization: 524_288,
    contractInterfacesPerOrganization: 1_000,
    contractInterfacesPerSubOrganization: 1_000,
    contractInterfaceBytesPerOrganization: 16_777_216,
    contractInterfaceBytesPerSubOrganization: 16_777_216,
    sessionProfilesPerOrganization: 100,
    sessionProfilesPerSubOrganization: 0,
    ipAllowlistsPerOrganization: 100,
    ipAllowlistsPerSubOrganization: 0,
    oauth2CredentialsPerOrganization: 100,
    oauth2CredentialsPerSubOrganization: 10,
  });
});

test("a number takes the place of its default, zero included, and leaves the others", () => {
  const limits = withLimits({ userTagsPerOrganization: 0 });
  assert.deepEqual(limits, { ...withLimits({}), userTagsPerOrganization: 0 });
});

test("a name that is no limit is refused with those that are, also one that every object has", () => {
  const known = Object.keys(withLimits({})).join(", ");
  for (const name of ["wallets", "userTagsPerOrganisation", "toString", "__proto__"]) {
    assert.throws(() => withLimits(JSON.parse(`{"userTagsPerOrganization": 5, "${name}": 1}`)), {
      code: "invalid_argument",
      message: `KEYSTEAD_LIMITS: there is no limit \`${name}\`; there are: ${known}`,
    });
  }
});

test("a parent and a sub-organization are each held to their own number, and told it", () => {
  const limits = withLimits({ userTagsPerOrganization: 3, userTagsPerSubOrganization: 1 });
  const parent = { limits, parentId: undefined };
  const child = { limits, parentId: "acme" };
  checkLimit("userTags", 3, parent);
  checkLimit("userTags", 1, child);
  const full = (limit: number) => ({
    code: "resource_exhausted",
    message: new RegExp(`^organization has reached its limit of ${limit} user tags; `),
  });
  assert.throws(() => checkLimit("userTags", 4, parent), full(3));
  assert.throws(() => checkLimit("userTags", 2, child), full(1));
});
