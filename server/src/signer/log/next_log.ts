/** Opening a log in the memory. It is nobody's before the first organization lists it. */
import { randomBytes } from "node:crypto";
import { Fault } from "@keystead/core/fault.ts";
import type { Memory } from "../memory/memory.ts";

export type OpenLog = NonNullable<Memory["log"]>;

/** The log that is to be listed: one that is open and not listed yet serves again, because the act that lists it may not have been committed. */
export function unlistedLog(memory: Memory, nowMs: number): OpenLog {
  const { log } = memory;
  if (log !== undefined && !log.isListed) return log;
  const previous = log?.head();
  memory.openLog({ logId: new Uint8Array(randomBytes(16)), openedAtMs: nowMs, previous, takesAll: false });
  return openLogOf(memory);
}

/** The log of a memory that has one. */
export function openLogOf({ log }: Memory): OpenLog {
  if (log === undefined) throw new Fault("unavailable", "the signer has no log yet");
  return log;
}
