import { costOfText, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { Type } from "../fields/schema.ts";
import { refuseEmptyList, withOrigins } from "../rules/allowed_origins.ts";
import { put } from "../state/entities.ts";

const origin = Type.String({
  maxLength: 300,
  description: "An origin as browsers write it, or that of an Android app.",
});

/**
 * Sets the origins that passkeys may be used from, in this organization and in its sub-organizations. An empty list allows
 * none. `*` alone stands for no list. The same list is the value of the feature `FEATURE_NAME_WEBAUTHN_ORIGINS`.
 */
export const updateAllowedOrigins = defineActivity({
  path: "update_allowed_origins",
  type: "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS",
  intentKey: "updateAllowedOriginsIntent",
  resultKey: "updateAllowedOriginsResult",
  summary: "Set the origins that passkeys may be used from",
  params: Type.Object({
    allowedOrigins: Type.Array(origin, {
      maxItems: 100,
      description: "All origins, or `*` alone for no list. An empty list allows no passkey.",
    }),
  }),
  result: Type.Object({}),
  cost: ({ allowedOrigins }) => costOfText(allowedOrigins.join("").length, unitCosts.kilobyte),
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { allowedOrigins }, { nowMs }) {
    refuseEmptyList(members, allowedOrigins);
    return { changes: [put("settings", { ...withOrigins(settings, allowedOrigins), updatedAtMs: nowMs })], result: {} };
  },
});
