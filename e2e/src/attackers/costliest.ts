/**
 * How every endpoint is flooded with the costliest work that it does, for as long as one likes. The tables have a row for each endpoint of
 * the registry: a new one without a row does not compile, and `costliest.test.ts` fails. Bodies stay beneath the lane of large bodies; those
 * that cost more above it are in a table of their own.
 */
import type { Flood } from "./costliest/flood.ts";
import { keyFloods, laterKeyFloods } from "./costliest/keys.ts";
import { largeMemberFloods, memberFloods } from "./costliest/members.ts";
import { largeQueryFloods, queryFloods } from "./costliest/queries.ts";
import { largeSettingFloods, settingFloods } from "./costliest/settings.ts";
import { signInFloods } from "./costliest/sign_ins.ts";
import { largeSigningFloods, policyFloods, signingFloods } from "./costliest/signing.ts";
import type { ActivityPath, QueryPath } from "./tenant.ts";

export const activityFloods: Record<ActivityPath, Flood> = {
  ...memberFloods,
  ...keyFloods,
  ...signInFloods,
  ...signingFloods,
  ...settingFloods,
};

export { queryFloods };

/** Beside those of the endpoints: with policies, with more that happened before, and with large bodies. */
export const moreFloods = {
  ...policyFloods,
  ...laterKeyFloods,
  ...largeMemberFloods,
  ...largeSigningFloods,
  ...largeSettingFloods,
  ...largeQueryFloods,
};

export type CostliestName = ActivityPath | QueryPath | keyof typeof moreFloods;

export const costliestFloods: Record<CostliestName, Flood> = { ...activityFloods, ...queryFloods, ...moreFloods };
