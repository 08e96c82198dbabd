/** What a check of an export finds. */

/** Where: a file, a log, a leaf; as much of it as is known. */
export type Place = {
  file?: string;
  logId?: string;
  position?: number;
  organizationId?: string;
  ordinal?: number;
};

/**
 * `bad` is against the signatures, the tree or the rules. `unchecked` could not be held against anything, because it is not disclosed. A `note`
 * is true and worth knowing.
 */
export type FindingKind = "bad" | "unchecked" | "note";

export type Finding = { kind: FindingKind; place: Place; what: string };

export type Verdict = "good" | "bad" | "unchecked";

export type Report = {
  verdict: Verdict;
  /** In the order of checks: files, signatures and trees, then leaves by position. */
  findings: readonly Finding[];
  /** The first one that is bad and names a leaf. */
  firstBadLeaf: Finding | undefined;
  counts: { logs: number; organizations: number; leaves: number; stamps: number };
  /** All leaves up to this time are there, by the word of the signer; undefined where it says nothing about one of the logs. */
  upToMs?: number | undefined;
};

/** Whether a place is that of one leaf. */
export function namesLeaf({ position, ordinal }: Place): boolean {
  return position !== undefined || ordinal !== undefined;
}

export function toReport(findings: readonly Finding[], counts: Report["counts"]): Report {
  const has = (kind: FindingKind): boolean => findings.some((finding) => finding.kind === kind);
  return {
    verdict: has("bad") ? "bad" : has("unchecked") ? "unchecked" : "good",
    findings,
    firstBadLeaf: findings.find(({ kind, place }) => kind === "bad" && namesLeaf(place)),
    counts,
  };
}

/** The place in one line, for people. */
export function placeText({ file, logId, position, organizationId, ordinal }: Place): string {
  const parts = [
    file,
    logId && `log ${logId}`,
    position !== undefined && `position ${position}`,
    organizationId && `organization ${organizationId}`,
    ordinal !== undefined && ordinal > 0 && `leaf ${ordinal}`,
    ordinal === 0 && "an act of the operator",
  ];
  return parts.filter((part) => typeof part === "string").join(", ");
}
