/** What a check has found, as people read it. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { type Finding, type FindingKind, placeText, type Report } from "@keystead/core/log/verify/finding.ts";
import type { LogKey } from "@keystead/core/log/verify/log_key.ts";

/** 2 is for what nobody can tell: it is neither right nor wrong. */
export const exitCodes = { good: 0, bad: 1, unchecked: 2 } as const;

/** Of each kind. An organization may have erased thousands of bodies, and all say the same. */
const shownOfEach = 20;

/** Names of files and of keys are others' text: none of them may move the cursor of a terminal. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
}

/** Whose key an export or a proof was held against, and whose history it is. */
export type Subject = { key: LogKey; organizationIds: readonly string[] };

/** A good history may be somebody else's, or under a key of somebody else: all organizations are named, however many there are. */
export function reportLines(
  { verdict, findings, firstBadLeaf, counts, upToMs }: Report,
  { key, organizationIds }: Subject,
): string[] {
  const kinds: readonly FindingKind[] = ["bad", "unchecked", "note"];
  const first =
    firstBadLeaf === undefined ? [] : [`first bad leaf: ${placeText(firstBadLeaf.place)}: ${firstBadLeaf.what}`];
  const { logs, organizations, leaves, stamps } = counts;
  const upTo = upToMs === undefined || verdict === "bad" ? "" : `, all up to ${timeText(upToMs)}`;
  return [
    ...kinds.flatMap((kind) => linesOf(findings.filter((finding) => finding.kind === kind))),
    ...first,
    `log key ${toHex(key.publicKey)}${key.deploymentId === undefined ? "" : ` of deployment ${key.deploymentId}`}`,
    ...organizationIds.map((id) => `organization ${id}`),
    `${verdict}: ${many(logs, "log")}, ${many(organizations, "organization")}, ${many(leaves, "leaf", "leaves")}, ` +
      `${many(stamps, "stamp")} verified${upTo}`,
  ].map(plain);
}

/** A leaf or a statement may say any number; dates end in the year 275760. */
export function timeText(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? `${timeMs} ms` : date.toISOString();
}

function many(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}

function linesOf(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, shownOfEach).map(({ kind, place, what }) => {
    const where = placeText(place);
    return `${kind}: ${where === "" ? "" : `${where}: `}${what}`;
  });
  const more = findings.length - lines.length;
  return more > 0 ? [...lines, `${findings[0]?.kind}: ${more} more like these`] : lines;
}
