/**
 * The operator's act that lists the log in the first organization: by starting a signer whose log is not listed yet. It is decided on the newest
 * state, leads to the next one, and is the log's first leaf.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { logVkey } from "@keystead/core/log/log_name.ts";
import type { OpenedLog } from "@keystead/core/log/outside_values.ts";
import { openCheckpoint } from "@keystead/core/tlog/checkpoint.ts";
import { emptyRoot } from "@keystead/core/tlog/tree.ts";
import { barePrepared } from "../../frames/bare_prepared.ts";
import type { Prepared, Reply, Request } from "../../frames/messages.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import { missingLinks, openStateOf } from "../decision/offered_state.ts";
import type { OpenState } from "../decision/open_state.ts";
import type { Signer } from "../decision/signer.ts";
import { executedIn, writeState } from "../decision/write_state.ts";
import { listLog, openedLogValue } from "../log/listed_log.ts";
import { type OpenLog, openLogOf, unlistedLog } from "../log/next_log.ts";
import type { LogHead } from "../memory/signer_log.ts";
import { operatorLeaf } from "../operator/operator_leaf.ts";
import { deploymentName } from "../secrets/keyring.ts";

export function openLog(
  signer: Signer,
  firstOrganizationId: string,
  { state: offered, checkpoints }: Request<"openLog">,
): Reply<"openLog"> {
  const nowMs = signer.now();
  const { memory } = signer;
  if (memory.log?.isListed === true) throw new Fault("failed_precondition", "the signer's log is listed already");
  const state = openStateOf(signer, firstOrganizationId, offered);
  const linksFrom = missingLinks(signer, state, offered.links);
  if (linksFrom !== undefined) return { kind: "again", value: { linksFrom } };
  const log = describe(signer, unlistedLog(memory, nowMs), state, checkpoints);
  if (state.pages.logs.has(toHex(log.logId))) {
    throw new Fault("failed_precondition", "the act that lists the signer's log is committed; release it");
  }
  return { kind: "prepared", value: listing(signer, state, log, nowMs) };
}

/** The log with what the state tells about those before it. What the memory knew of that is not forgotten. */
function describe(signer: Signer, log: OpenLog, state: OpenState, checkpoints: readonly string[]): OpenLog {
  const { memory } = signer;
  const previous = largest(log.previous, previousIn(signer, log, state, checkpoints));
  // Leaves of a database that has no log yet are in none.
  const takesAll = state.pages.logs.size === 0;
  if (previous === log.previous && takesAll === log.takesAll) return log;
  memory.openLog({ logId: log.logId, openedAtMs: log.openedAtMs, previous, takesAll });
  return openLogOf(memory);
}

/**
 * The log before this one, as the database's own checkpoints tell. Where the memory knows none, it is the newest that is listed; but a host
 * that joins others ends none of their logs.
 */
function previousIn(
  { keyring, curves, adoptUnknown }: Signer,
  { logId, previous }: OpenLog,
  { pages }: OpenState,
  checkpoints: readonly string[],
): LogHead | undefined {
  const listed = [...pages.logs.keys()].filter((id) => id !== toHex(logId)).at(-1);
  const oldId = previous === undefined ? listed : toHex(previous.logId);
  if (oldId === undefined || (previous === undefined && adoptUnknown)) return undefined;
  const key = logVkey(deploymentName(keyring), oldId, fromHex(keyring.publicKeys.log));
  const heads = checkpoints.flatMap((note) => {
    try {
      const { size, root } = openCheckpoint(curves, key, note);
      return [{ logId: fromHex(oldId), size, root }];
    } catch (error) {
      // Of another log, or nobody's.
      if (error instanceof Fault) return [];
      throw error;
    }
  });
  return heads.reduce<LogHead>((a, b) => largest(a, b) ?? a, { logId: fromHex(oldId), size: 0, root: emptyRoot });
}

function largest(a: LogHead | undefined, b: LogHead | undefined): LogHead | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return equalBytes(a.logId, b.logId) && b.size > a.size ? b : a;
}

/** The act itself: what it lists, on which state. */
export function listing(signer: Signer, state: OpenState, log: OpenedLog, nowMs: number): Prepared {
  const { known, directory, pages, pageLengths, organizationId } = state;
  const before = { ...known.header, digest: known.digest, directory, pages, pageLengths };
  const changes = [listLog(log, nowMs)];
  const { next } = writeState(signer, before, changes, executedIn(before));
  const { boot, number, leaf } = operatorLeaf(signer, {
    event: "LOG_OPENED",
    organizationId: known.header.organizationId,
    fingerprint: new Uint8Array(32),
    timeMs: nowMs,
    decidedOn: { ...known.header, digest: known.digest },
    header: next.header,
    outside: [openedLogValue(log)],
    outcome: sha256(""),
  });
  return {
    ...barePrepared,
    organizationId,
    expectedVersion: known.header.version,
    expectedHeader: known.marked,
    next,
    changes: JSON.stringify(changes),
    boot,
    number,
    leaf,
  };
}
