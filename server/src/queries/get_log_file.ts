import { toBase64 } from "@keystead/core/encoding/base64.ts";
import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { logId, logPath } from "../fields/log_leaves.ts";
import { Type } from "../fields/schema.ts";

/**
 * Gets a file of a log as `/log/<logId>/` serves it: its members need the checkpoint and tiles to check their own history, also where the log is
 * not public. They are digests that tell nothing about anybody.
 */
export const getLogFile = defineQuery({
  path: "get_log_file",
  summary: "Get the newest checkpoint of a log, or one of its tiles",
  request: Type.Object({ organizationId, logId, path: logPath }),
  response: Type.Object({ content: Type.String({ description: "Base64." }) }),
  async run(_store, _caller, { logId, path }, _dialect, access) {
    const content = await access?.logFile(logId, path);
    if (content === undefined) throw new Fault("not_found", `unable to find ${path} of log ${logId}`);
    return { content: toBase64(content) };
  },
});
