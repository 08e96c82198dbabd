import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { logId } from "../fields/log_leaves.ts";
import { Type } from "../fields/schema.ts";

/**
 * Gets the signer's signed word on how many leaves of an organization its log has: none can be left out of a list unnoticed. Each host
 * answers for its own log.
 */
export const getLogStatement = defineQuery({
  path: "get_log_statement",
  summary: "Get the signer's word on how many leaves of an organization are in its log",
  request: Type.Object({ organizationId, logId: optional(logId) }),
  response: Type.Object({
    statement: Type.String({ description: "Signed note, as text." }),
    logs: Type.String({ description: "The list of all logs, JSON; the statement names its SHA-256." }),
  }),
  async run(_store, _caller, { organizationId, logId }, _dialect, access) {
    if (access === undefined) throw new Fault("unavailable", "the signer is not running; try again");
    return access.logStatement(organizationId, logId ?? undefined);
  },
});
