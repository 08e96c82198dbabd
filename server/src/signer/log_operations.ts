/** What the gateway asks of the log. */
import type { MessageKind, Reply, Request } from "../frames/messages.ts";
import type { Deployment } from "./deployment.ts";
import { signCheckpoint } from "./log_requests/checkpoint.ts";
import { describeLog, listTail } from "./log_requests/log_state.ts";
import { signStatement } from "./log_requests/log_statement.ts";
import { openLog } from "./log_requests/open_log.ts";
import { type TakenIn, takeIn } from "./log_requests/take_in.ts";

type LogKind = "logState" | "openLog" | "logTail" | "takeIn" | "checkpoint" | "logStatement";

export type LogOperations = { [K in LogKind & MessageKind]: (request: Request<K>) => Reply<K> };

export function createLogOperations(deployment: Deployment, firstOrganizationId: string): LogOperations {
  const taken: TakenIn = {};
  return {
    logState: () => describeLog(deployment.joined()),
    openLog: (request) => openLog(deployment.releasing(), firstOrganizationId, request),
    logTail: (request) => listTail(deployment.remembering(), request),
    takeIn: (request) => takeIn(deployment.remembering(), taken, request),
    checkpoint: (request) => signCheckpoint(deployment.remembering(), request),
    logStatement: (request) => signStatement(deployment.remembering(), firstOrganizationId, request),
  };
}
