/**
 * Rules that hold between leaves: that each has its own number, who may vote how often, that an activity ends once, and that the start of each
 * signer is shown.
 */
import type { Finding, Place } from "./finding.ts";
import { isEnd, isOperators } from "./leaf_shape.ts";
import type { PlacedFacts } from "./walk_leaves.ts";

/** How long an approval counts; until then its user has no other. */
const approvalMs = 24 * 3_600_000;

type Approval = { timeMs: number; place: Place };

/** Leaves in the order of logs and positions. One that stands in several logs counts once. */
export function checkActs(leaves: readonly PlacedFacts[]): Finding[] {
  const once = [...new Map(leaves.toReversed().map((leaf) => [leaf.digest, leaf])).values()].reverse();
  const flaw = checkNumbers(once) ?? checkApprovals(once) ?? checkEnds(once);
  return [...(flaw === undefined ? [] : [flaw]), ...checkStarts(leaves)];
}

/** Two leaves of one number could pass for one, and two leaves of one start could name different orders that it decided by. */
function checkNumbers(leaves: readonly PlacedFacts[]): Finding | undefined {
  const numbers = new Set<string>();
  const starts = new Set<string>();
  for (const { facts, place } of leaves) {
    const { boot, leaf } = facts;
    const name = `${boot} ${leaf.number}`;
    if (numbers.has(name)) return { kind: "bad", place, what: "another leaf has the same number" };
    numbers.add(name);
    if (leaf.event !== "BOOTED") continue;
    if (starts.has(boot)) return { kind: "bad", place, what: "the same start of the signer has another leaf" };
    starts.add(boot);
  }
  return undefined;
}

function checkApprovals(leaves: readonly PlacedFacts[]): Finding | undefined {
  const acceptedMs = leaves.flatMap(({ facts: { leaf } }) => (leaf.event === "DATABASE_ACCEPTED" ? [leaf.timeMs] : []));
  const approvals = new Map<string, Approval[]>();
  for (const { facts, place } of leaves) {
    const { timeMs } = facts.leaf;
    for (const user of facts.approvers) {
      const name = `${facts.organizationId} ${facts.activityId} ${user}`;
      const earlier = approvals.get(name) ?? [];
      const counts = (other: Approval): boolean => {
        const [from, to] = [Math.min(other.timeMs, timeMs), Math.max(other.timeMs, timeMs)];
        return to < from + approvalMs && !acceptedMs.some((at) => from <= at && at <= to);
      };
      if (earlier.some(counts)) return { kind: "bad", place, what: "a second vote of one user within a day" };
      approvals.set(name, [...earlier, { timeMs, place }]);
    }
  }
  return undefined;
}

function checkEnds(leaves: readonly PlacedFacts[]): Finding | undefined {
  const ended = new Set<string>();
  for (const { facts, place } of leaves) {
    if (!isEnd(facts.leaf)) continue;
    const name = `${facts.organizationId} ${facts.activityId}`;
    if (ended.has(name)) return { kind: "bad", place, what: "the activity has ended before" };
    ended.add(name);
  }
  return undefined;
}

/** Each start of a signer has a leaf before anything else of it, so the leaves of a start that is not shown have been left out. */
function checkStarts(leaves: readonly PlacedFacts[]): Finding[] {
  const isStart = ({ facts }: PlacedFacts): boolean => facts.leaf.event === "BOOTED";
  const starts = new Set(leaves.filter(isStart).map(({ facts }) => facts.boot));
  const findings: Finding[] = [];
  for (const [logId, ofLog] of Map.groupBy(leaves, ({ place }) => place.logId ?? "")) {
    const acts = ofLog.filter(({ facts }) => !isOperators(facts.leaf));
    const first = ofLog.find(isStart);
    if (first === undefined) {
      if (acts.length > 0) findings.push(unshown({ logId }, "no leaf shows a start of its signer"));
      continue;
    }
    // Leaves from before there was a log stand before the first start.
    const from = first.place.position ?? 0;
    const later = acts.filter(({ facts, place }) => (place.position ?? 0) > from && !starts.has(facts.boot));
    for (const [boot, [one]] of Map.groupBy(later, ({ facts }) => facts.boot)) {
      if (one !== undefined) findings.push(unshown(one.place, `no leaf shows the start ${boot}, which the leaf is of`));
    }
  }
  return findings;
}

function unshown(place: Place, what: string): Finding {
  return { kind: "unchecked", place, what };
}
