/** What the memory has of its log, for the gateway that stores it. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { logOrigin } from "@keystead/core/log/log_name.ts";
import type { Reply, Request } from "../../frames/messages.ts";
import type { Signer } from "../decision/signer.ts";
import { type OpenLog, openLogOf } from "../log/next_log.ts";
import { deploymentName } from "../secrets/keyring.ts";

/** The name of a log in its notes, and of its key. */
export function originOf({ keyring }: Signer, { logId }: Pick<OpenLog, "logId">): string {
  return logOrigin(deploymentName(keyring), toHex(logId));
}

export function describeLog(signer: Signer): Reply<"logState"> {
  const { memory } = signer;
  const { log } = memory;
  if (log === undefined) return undefined;
  return {
    logId: log.logId,
    origin: originOf(signer, log),
    isListed: log.isListed,
    size: log.size,
    checkpointSize: log.checkpointSize,
    isOwed: log.takesAll || memory.owed(1).length > 0,
  };
}

const leavesAtOnce = 4_096;

export function listTail({ memory }: Signer, { from }: Request<"logTail">): Reply<"logTail"> {
  const log = openLogOf(memory);
  const first = Math.min(Math.max(from, log.checkpointSize), log.size);
  return { size: log.size, first, leaves: log.leavesFrom(first, leavesAtOnce) };
}
