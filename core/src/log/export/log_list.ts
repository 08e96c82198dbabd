/** The page that lists all logs of a deployment, as whoever checks an export reads it. Its writer is the signer. */
import { readJson } from "../../encoding/json.ts";
import { Fault } from "../../fault.ts";
import { isLogId } from "../log_name.ts";

/** The last known head of the log that another one follows. */
export type LogHead = { logId: string; size: number; root: string };

export type ListedLog = { logId: string; previous: LogHead | undefined };

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed list of logs: ${why}`);
}

/** Statements name the bytes by their digest, so whatever else the page may say is the signer's word too. */
export function readLogList(page: Uint8Array): ListedLog[] {
  const { logs } = objectOf(readPage(page));
  if (!Array.isArray(logs) || logs.length === 0) throw malformed("no logs");
  const listed = logs.map((log): ListedLog => {
    const { logId, previous } = objectOf(log);
    if (typeof logId !== "string" || !isLogId(logId)) throw malformed("an id is not 32 hex digits");
    return { logId, previous: previous === undefined ? undefined : headOf(objectOf(previous)) };
  });
  if (new Set(listed.map(({ logId }) => logId)).size < listed.length) throw malformed("one log twice");
  return listed;
}

function readPage(page: Uint8Array): unknown {
  try {
    return readJson(page);
  } catch (cause) {
    throw malformed(cause instanceof Fault && cause.detail !== undefined ? cause.detail : "not JSON");
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed("not an object");
  return value as Record<string, unknown>;
}

function headOf({ logId, size, root }: Record<string, unknown>): LogHead {
  const isHead =
    typeof logId === "string" &&
    isLogId(logId) &&
    Number.isSafeInteger(size) &&
    typeof root === "string" &&
    /^[0-9a-f]{64}$/.test(root);
  if (!isHead) throw malformed("a log follows what is no head");
  return { logId, size: size as number, root };
}
