import assert from "node:assert/strict";
import { test } from "node:test";
import { withLimits } from "./limits.ts";

test("without the operator's numbers the defaults stand; a number takes the place of its default, zero included", () => {
  assert.deepEqual(withLimits({}), { userTagsPerOrganization: 1_000 });
  assert.deepEqual(withLimits({ userTagsPerOrganization: 0 }), { userTagsPerOrganization: 0 });
});

test("a name that is no limit is refused with those that are, also one that every object has", () => {
  for (const name of ["wallets", "userTagsPerOrganisation", "toString", "__proto__"]) {
    assert.throws(() => withLimits(JSON.parse(`{"userTagsPerOrganization": 5, "${name}": 1}`)), {
      code: "invalid_argument",
      message: `KEYSTEAD_LIMITS: there is no limit \`${name}\`; there are: userTagsPerOrganization`,
    });
  }
});
