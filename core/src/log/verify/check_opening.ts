/** Each log begins with the act that lists it, and that act says which log it follows. The operator acts in the first organization only. */
import { sameBytes } from "../../encoding/bytes.ts";
import { fromHex, toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import type { ListedLog } from "../export/log_list.ts";
import { decodeOpenedLog, type OpenedLog } from "../outside_values.ts";
import type { LeafFacts } from "./check_leaf.ts";
import type { Finding } from "./finding.ts";
import type { PlacedFacts, Walked } from "./walk_leaves.ts";

/** `walks` are those of the logs, in the order of the list. */
export function checkOpening(
  logs: readonly ListedLog[],
  walks: readonly Walked[],
  leaves: readonly PlacedFacts[],
): Finding[] {
  const findings: Finding[] = [];
  const acts = leaves.filter(({ facts }) => facts.leaf.grounds === "OPERATOR");
  const first = (acts.find(isListing) ?? acts[0])?.facts.organizationId;
  const stranger = acts.find(({ facts }) => facts.organizationId !== first);
  if (stranger !== undefined) {
    findings.push({ kind: "bad", place: stranger.place, what: "an act of the operator in another organization" });
  }
  let unseen = 0;
  logs.forEach((log, index) => {
    const first = walks[index]?.leaves.find(({ place }) => place.position === 0);
    const isUndisclosed = walks[index]?.findings.some(({ place }) => place.position === 0);
    const place = { logId: log.logId, position: 0 };
    if (first !== undefined) {
      if (!opens(first.facts, log))
        findings.push({ kind: "bad", place: first.place, what: "it does not open this log" });
      return;
    }
    if (isUndisclosed === true) return;
    unseen += 1;
    // One log may begin with the birth of the first organization, which is that one's to show.
    if (log.previous !== undefined || unseen > 1) {
      findings.push({ kind: "bad", place, what: "the leaf that opens the log is missing" });
    }
  });
  return findings;
}

function isListing({ facts }: PlacedFacts): boolean {
  return facts.leaf.event === "LOG_OPENED" || openedBy(facts) !== undefined;
}

function openedBy({ leaf }: LeafFacts): OpenedLog | undefined {
  const value = leaf.outside.find(({ kind }) => kind === "openedLog")?.value;
  if (value?.kind !== "bytes") return undefined;
  try {
    return decodeOpenedLog(value.value);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function opens(facts: LeafFacts, { logId, previous }: ListedLog): boolean {
  const opened = openedBy(facts);
  if (opened === undefined || toHex(opened.logId) !== logId) return false;
  if (opened.previous === undefined || previous === undefined) return opened.previous === previous;
  return (
    toHex(opened.previous.logId) === previous.logId &&
    opened.previous.size === previous.size &&
    sameBytes(opened.previous.root, fromHex(previous.root))
  );
}
