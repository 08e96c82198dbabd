/**
 * Until when an export shows everything. The signer's statement counts the leaves of its own moment; a checkpoint may be newer, and nobody says
 * whose the entries between are. So whoever shows an old statement beside a new checkpoint leaves out the newest leaves.
 */
import type { LogStatement } from "../statement.ts";
import type { CheckedLog } from "./check_log.ts";
import type { Finding } from "./finding.ts";

/** An export asks for statements first, of thousands of organizations one after the other, and then for what covers them. */
const honestMs = 3_600_000;

/** `statements` are those about one log. */
export function checkAge(
  { logId, size, cosigned }: CheckedLog,
  statements: readonly Pick<LogStatement, "size" | "timeMs">[],
): Finding[] {
  if (statements.length === 0) return [];
  const findings: Finding[] = [];
  const later = size - statements.reduce((least, { size }) => Math.min(least, size), size);
  if (later > 0) {
    const entries = later === 1 ? "1 entry" : `${later} entries`;
    const what = `${entries} came after the statement of how many leaves there are`;
    findings.push({ kind: "note", place: { logId }, what });
  }
  const oldestMs = oldestOf(statements) ?? 0;
  for (const { name, seconds } of cosigned) {
    if (seconds * 1_000 <= oldestMs + honestMs) continue;
    const what = `the statement is older than what the witness \`${name}\` has seen: leaves may be left out since`;
    findings.push({ kind: "unchecked", place: { logId }, what });
  }
  return findings;
}

/** The time of the oldest. */
export function oldestOf(statements: readonly Pick<LogStatement, "timeMs">[]): number | undefined {
  return statements.reduce<number | undefined>((oldest, { timeMs }) => Math.min(oldest ?? timeMs, timeMs), undefined);
}
