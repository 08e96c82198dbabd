import { component } from "./component.ts";
import { Type } from "./schema.ts";

export const activityStatuses = [
  "ACTIVITY_STATUS_CREATED",
  "ACTIVITY_STATUS_PENDING",
  "ACTIVITY_STATUS_COMPLETED",
  "ACTIVITY_STATUS_FAILED",
  "ACTIVITY_STATUS_CONSENSUS_NEEDED",
  "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED",
  "ACTIVITY_STATUS_REJECTED",
] as const;

export const activityStatus = Type.Enum([...activityStatuses]);

/** Any of the protocol's types: one that no endpoint here has yet is merely met by no activity. */
export const activityType = Type.String({ maxLength: 100, pattern: "^ACTIVITY_TYPE_[A-Z0-9_]+$" });

/** The record of an activity, as it surrounds every endpoint's own fields. */
export const activity = component<object>("Activity");
