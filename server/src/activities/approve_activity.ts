import { Fault } from "@keystead/core/fault.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { fingerprint } from "../fields/fingerprint.ts";
import { Type } from "../fields/schema.ts";

/** Approves an activity that waits for consensus. The answer is that activity. */
export const approveActivity = defineActivity({
  path: "approve_activity",
  type: "ACTIVITY_TYPE_APPROVE_ACTIVITY",
  intentKey: "approveActivityIntent",
  resultKey: "",
  summary: "Approve an activity that waits for consensus",
  vote: "APPROVED",
  takesAttested: true,
  params: Type.Object({ fingerprint }),
  result: Type.Object({}),
  state: () => undefined,
  run() {
    throw new Fault("internal", "a vote runs nothing of its own");
  },
});
