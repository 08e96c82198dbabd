import { Fault } from "@keystead/core/fault.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { fingerprint } from "../fields/fingerprint.ts";
import { Type } from "../fields/schema.ts";

/** Rejects an activity that waits for consensus, for good. The answer is that activity. */
export const rejectActivity = defineActivity({
  path: "reject_activity",
  type: "ACTIVITY_TYPE_REJECT_ACTIVITY",
  intentKey: "rejectActivityIntent",
  resultKey: "",
  summary: "Reject an activity that waits for consensus",
  vote: "REJECTED",
  takesAttested: true,
  params: Type.Object({ fingerprint }),
  result: Type.Object({}),
  state: () => undefined,
  run() {
    throw new Fault("internal", "a vote runs nothing of its own");
  },
});
