import { costOfText, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { Type } from "../fields/schema.ts";
import { withOrigins } from "../rules/allowed_origins.ts";
import { put } from "../state/entities.ts";

const origin = Type.String({
  maxLength: 300,
  description: "An origin as browsers write it, or that of an Android app.",
});

/**
 * Sets the origins that passkeys may be used from, in this organization and in its sub-organizations. An empty list removes it. The same
 * list is the value of the feature `FEATURE_NAME_WEBAUTHN_ORIGINS`.
 */
export const updateAllowedOrigins = defineActivity({
  path: "update_allowed_origins",
  type: "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS",
  intentKey: "updateAllowedOriginsIntent",
  resultKey: "updateAllowedOriginsResult",
  summary: "Set the origins that passkeys may be used from",
  params: Type.Object({
    allowedOrigins: Type.Array(origin, { maxItems: 100, description: "All origins; an empty list removes the list." }),
  }),
  result: Type.Object({}),
  cost: ({ allowedOrigins }) => costOfText(allowedOrigins.join("").length, unitCosts.kilobyte),
  state: ({ settings }) => settings,
  run(settings, { allowedOrigins }, { nowMs }) {
    return { changes: [put("settings", { ...withOrigins(settings, allowedOrigins), updatedAtMs: nowMs })], result: {} };
  },
});
