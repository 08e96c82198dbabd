/**
 * `keystead check-database`: everything in the database is held against what the signer wrote. Pages and records are believed
 * for their MACs and digests; whatever else there is must follow from them, and with `--repair` it is made to. One organization
 * after the other, each in a transaction of its own: cut short anywhere, it is simply run again.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { ReleasedStatement } from "@keystead/core/log/released.ts";
import { journalsOf } from "../../state/directory.ts";
import { unlessAway } from "../../store/database_away.ts";
import {
  absentOrganizations,
  type Inside,
  insideOne,
  listOrganizations,
  rowsOf,
  strayOrganizations,
} from "../../store/projection_rows.ts";
import type { Store } from "../../store/store.ts";
import { organizationTables } from "../../store/tables.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { checkPending, checkStrayActivities } from "./check_activities.ts";
import { checkAppProofs } from "./check_app_proofs.ts";
import { checkBootProofs } from "./check_boot_proofs.ts";
import { checkContacts } from "./check_contacts.ts";
import { checkContents } from "./check_disclosures.ts";
import { createTally, findingsOf, findingsOfLog, type OrganizationFindings } from "./check_findings.ts";
import { checkKeys } from "./check_keys.ts";
import { checkLeaves } from "./check_leaves.ts";
import { loadStatement, type Report } from "./check_log.ts";
import { checkMade } from "./check_made.ts";
import { checkListed, checkTexts } from "./check_projection.ts";
import { type CheckedLog, checkPublicLogs, type LogsById } from "./check_public_log.ts";
import { checkRuns } from "./check_runs.ts";
import { checkState } from "./check_state.ts";
import type { ReleasedWord } from "./leaf_check.ts";
import { createVouching, type Vouching } from "./vouching.ts";

const organizationsAtOnce = 100;

export async function checkDatabase(
  store: Store,
  link: SignerLink,
  logKey: string,
  { rebuilds }: { rebuilds: boolean },
): Promise<Report> {
  const vouching = createVouching(link);
  const statement = await loadStatement(link, fromHex(logKey));
  const released = releasedWord(statement);
  const deploymentId = uuidFromBytes(statement[0]?.deploymentId ?? new Uint8Array(16));
  const publicLogs = await checkPublicLogs({ store, link, logKey, deploymentId, rebuilds });
  const { logs } = publicLogs;
  const tally = createTally();
  let count = 0;
  let after: string | undefined;
  for (;;) {
    const ids = await listOrganizations(store, after, organizationsAtOnce);
    for (const id of ids) tally.add(await checkOrganization({ store, vouching, released, logs }, id, rebuilds));
    count += ids.length;
    after = ids.at(-1);
    if (ids.length < organizationsAtOnce) break;
  }
  for (const findings of await missingOrganizations(store, link)) tally.add(findings);
  for (const findings of publicLogs.findings) tally.add(findings);
  for (const findings of nobodys(logs.values())) tally.add(findings);
  return tally.report(count);
}

/** What the check of each organization takes. */
type DatabaseCheck = {
  store: Store;
  vouching: Vouching;
  released: ReleasedWord;
  logs: LogsById;
};

/** Positions that no organization's leaf was found for. */
function nobodys(logs: Iterable<CheckedLog | undefined>): OrganizationFindings[] {
  return [...logs].flatMap((log) => {
    if (log === undefined) return [];
    const { logId, unnamed } = log;
    const findings = findingsOfLog(logId, false);
    for (const position of unnamed) findings.lost(`log_runs: nobody's run names position ${position}`);
    return findings;
  });
}

/** What makes one organization unreadable must not keep the others from being looked at. */
async function checkOrganization(
  check: DatabaseCheck,
  organizationId: string,
  rebuilds: boolean,
): Promise<OrganizationFindings> {
  let findings = findingsOf(organizationId, rebuilds);
  try {
    await insideOne(check.store, organizationId, { writes: rebuilds }, async (tx) => {
      findings = findingsOf(organizationId, rebuilds);
      await checkRows(tx, check, organizationId, findings);
    });
    return findings;
  } catch (thrown) {
    const error = unlessAway(thrown);
    if (error instanceof Fault && error.code === "unavailable") throw error;
    // Nothing was written: what was to be rebuilt is as it was.
    const untouched = findingsOf(organizationId, false);
    untouched.lost(`its rows cannot be read or rebuilt: ${error instanceof Error ? error.message : error}`);
    return untouched;
  }
}

async function checkRows(
  tx: Inside,
  { vouching, released, logs }: DatabaseCheck,
  organizationId: string,
  findings: OrganizationFindings,
): Promise<void> {
  for await (const [row] of rowsOf(tx, "organizations", organizationId, 1)) {
    if (row === undefined) return;
    const state = await checkState(tx, vouching, row, findings);
    const journals = state && journalsOf(state.directory, state.pages);
    const waitingSince = new Map(state?.pages.pending.values().map(({ activityId }) => [activityId, 0]));
    const starts = new Map<string, string>();
    await checkLeaves({ tx, vouching, organizationId, journals, waitingSince, starts, released, findings });
    await checkBootProofs({ tx, organizationId, starts, findings });
    await checkStrayActivities(tx, organizationId, findings);
    await checkAppProofs({ tx, vouching, organizationId, released, findings });
    await checkRuns({ tx, organizationId, logs, findings });
    await checkContents(tx, vouching, organizationId, findings);
    if (state === undefined) return;
    await checkPending(tx, organizationId, state.pages.pending, waitingSince, findings);
    await checkListed(tx, state, findings);
    await checkTexts(tx, vouching, state, findings);
    await checkKeys({ tx, vouching, state, findings });
    await checkMade(tx, state, findings);
    await checkContacts(tx, state, findings);
    return;
  }
}

function releasedWord(statement: readonly ReleasedStatement[]): ReleasedWord {
  const ranges = new Map<string, { first: number; last: number }[]>();
  for (const page of statement) {
    for (const { boot, first, last } of page.ranges) {
      const known = ranges.get(toHex(boot)) ?? [];
      known.push({ first, last });
      ranges.set(toHex(boot), known);
    }
  }
  for (const known of ranges.values()) known.sort((a, b) => a.first - b.first);
  return (boot, number) => {
    const known = ranges.get(boot);
    return known && isIn(known, number);
  };
}

/** Refusals that were not stored leave gaps: there may be as many ranges as leaves, and each leaf is asked for. */
function isIn(ranges: readonly { first: number; last: number }[], number: number): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.last ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && range.first <= number;
}

const namedAtOnce = 1_000;

/** Organizations whose own row is gone: by what other tables still have of them, and by the signer's memory. */
async function missingOrganizations(store: Store, link: SignerLink): Promise<OrganizationFindings[]> {
  const found = new Map<string, string[]>();
  for (const table of organizationTables) {
    for (const id of await strayOrganizations(store, table, namedAtOnce)) {
      found.set(id, [...(found.get(id) ?? []), table]);
    }
  }
  for (let page = 0; ; page++) {
    const { pages, pins } = await link.request("pins", { page });
    const ids = pins.map(({ organizationId }) => uuidFromBytes(organizationId));
    for (let at = 0; at < ids.length; at += namedAtOnce) {
      for (const id of await absentOrganizations(store, ids.slice(at, at + namedAtOnce))) {
        found.set(id, found.get(id) ?? []);
      }
    }
    if (page + 1 >= pages) break;
  }
  return [...found].map(([id, named]) => {
    const findings = findingsOf(id, false);
    findings.lost(
      `organizations: its row is missing${named.length > 0 ? `, though there are rows in ${named.join(", ")}` : ""}`,
    );
    return findings;
  });
}
