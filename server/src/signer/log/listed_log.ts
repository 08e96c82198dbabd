/** How the first organization lists a log, and how a leaf says so. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { Leaf, NewLeaf } from "@keystead/core/log/leaf.ts";
import { decodeOpenedLog, encodeOpenedLog, type OpenedLog } from "@keystead/core/log/outside_values.ts";
import { equalBytes } from "../../state/digest.ts";
import { type Change, put } from "../../state/entities.ts";
import type { NewLog } from "../memory/signer_log.ts";

/** The change of the first organization's state that lists a log, at the time of its leaf. */
export function listLog({ logId, previous }: OpenedLog, timeMs: number): Change {
  return put("log", {
    logId: toHex(logId),
    openedAtMs: timeMs,
    ...(previous && {
      previous: { logId: toHex(previous.logId), size: previous.size, root: toHex(previous.root) },
    }),
  });
}

/** What the leaf has of it. */
export function openedLogValue({ logId, previous }: OpenedLog): NewLeaf["outside"][number] {
  return { kind: "openedLog", value: { kind: "bytes", value: encodeOpenedLog({ logId, previous }) } };
}

/** The log that a leaf lists. */
export function findOpenedLog({ event, outside }: Pick<Leaf, "event" | "outside">): OpenedLog | undefined {
  if (event !== "BIRTH" && event !== "LOG_OPENED") return undefined;
  const [taken] = outside;
  if (taken?.kind !== "openedLog" || taken.value.kind !== "bytes") return undefined;
  return decodeOpenedLog(taken.value.value);
}

/** Whether a leaf lists exactly this log: with the same log before it, at the same head. */
export function isSameLog(opened: OpenedLog, { logId, previous }: Pick<NewLog, "logId" | "previous">): boolean {
  return equalBytes(encodeOpenedLog(opened), encodeOpenedLog({ logId, previous }));
}
