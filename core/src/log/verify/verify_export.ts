/**
 * Whether an export is what the signer has logged: files and one key in, findings out. No network, no database, no clock. Signatures and trees
 * come first, then leaves by position, then what holds between them.
 */
import type { Curves } from "../../crypto/curves.ts";
import { toHex } from "../../encoding/hex.ts";
import { uuidToBytes } from "../../encoding/uuid.ts";
import { Fault } from "../../fault.ts";
import type { Vkey } from "../../tlog/vkey.ts";
import {
  type ExportFiles,
  logPaths,
  logsPath,
  misfitsIn,
  organizationPaths,
  organizationsIn,
} from "../export/export_files.ts";
import { type ListedLog, readLogList } from "../export/log_list.ts";
import { logVkey } from "../log_name.ts";
import type { LogStatement } from "../statement.ts";
import { checkActs } from "./check_acts.ts";
import { checkAge, oldestOf } from "./check_age.ts";
import { checkFamily } from "./check_family.ts";
import { createLeafChecker, type LeafChecker } from "./check_leaf.ts";
import { checkLines } from "./check_lines.ts";
import { type CheckedLog, checkLog, headsNamed, type KnownHead, openSeen, type Seen } from "./check_log.ts";
import { checkOpening } from "./check_opening.ts";
import { checkStatement } from "./check_statement.ts";
import type { VerifierCurves } from "./check_token.ts";
import { type Finding, type Report, toReport } from "./finding.ts";
import { type LogKey, readDeployment } from "./log_key.ts";
import { type LeafFile, type Walked, walkLeaves } from "./walk_leaves.ts";

export type VerifyOptions = {
  key: LogKey;
  witnesses?: readonly Vkey[];
  /** Checkpoints that somebody has kept: texts of signed notes. */
  since?: readonly string[];
  /** The export is said to have all sub-organizations, too. */
  withSubOrganizations?: boolean;
};

export type Verifier = { verify(files: ExportFiles, options: VerifyOptions): Report };

/** Verdicts on leaves are kept from one export to the next. */
export function createVerifier(curves: VerifierCurves): Verifier {
  const checker = createLeafChecker(curves);
  return { verify: (files, options) => verify(curves, checker, files, options) };
}

const noCounts = { logs: 0, organizations: 0, leaves: 0, stamps: 0 };

function verify(curves: Curves, checker: LeafChecker, files: ExportFiles, options: VerifyOptions): Report {
  const listed = readList(files.get(logsPath));
  if (!Array.isArray(listed)) return toReport([listed as Finding], noCounts);
  const organizationIds = organizationsIn(files);
  const findings = misfits(files, listed, organizationIds);
  const checkpoints = listed.map(({ logId }) => files.get(logPaths.checkpoint(logId)));
  const deploymentId = readDeployment(options.key, checkpoints);
  const keyOf = (logId: string): Vkey => logVkey(deploymentId, logId, options.key.publicKey);
  const seen = readSeen(curves, listed, keyOf, options, findings);
  const walks: Walked[] = [];
  const logs: CheckedLog[] = listed.map((log) => {
    const { logId } = log;
    const checked = checkLog(
      { listed: log, checkpoint: files.get(logPaths.checkpoint(logId)), entries: files.get(logPaths.entries(logId)) },
      {
        curves,
        key: keyOf(logId),
        witnesses: options.witnesses ?? [],
        heads: [...headsNamed(listed, logId), ...seen.filter((each) => each.logId === logId).map(headOf)],
      },
    );
    findings.push(...checked.findings);
    return checked;
  });
  const digestOfList = curves.sha256(files.get(logsPath) ?? new Uint8Array());
  const statements: (LogStatement | undefined)[] = [];
  const leafFiles = logs.map((log): LeafFile[] => {
    const { logId, size } = log;
    const ofLog: LogStatement[] = [];
    const own = organizationIds.map((organizationId): LeafFile => {
      const file = files.get(organizationPaths.statement(organizationId, logId));
      const input = { organizationId, logId, file, size, logs: digestOfList };
      const { statement, findings: found } = checkStatement(curves, keyOf(logId), input);
      findings.push(...found);
      statements.push(statement);
      if (statement !== undefined) ofLog.push(statement);
      const path = organizationPaths.leaves(organizationId, logId);
      return { path, organizationId, content: files.get(path) ?? new Uint8Array(), count: statement?.count };
    });
    findings.push(...checkAge(log, ofLog));
    const path = logPaths.operator(logId);
    const content = files.get(path) ?? new Uint8Array();
    return [{ path, organizationId: undefined, content, count: undefined }, ...own];
  });
  logs.forEach((log, index) => {
    const walked = walkLeaves(log, leafFiles[index] ?? [], checker);
    // One by one: as arguments of a call, those of an organization that has erased its history would not fit on the stack.
    for (const finding of walked.findings) findings.push(finding);
    walks.push(walked);
  });
  const counts = {
    logs: logs.length,
    organizations: organizationIds.length,
    leaves: walks.reduce((sum, { records }) => sum + records, 0),
    stamps: walks.reduce((sum, { stamps }) => sum + stamps, 0),
  };
  const known = statements.filter((statement) => statement !== undefined);
  const upToMs = known.length === statements.length ? oldestOf(known) : undefined;
  const report = (): Report => ({ ...toReport(findings, counts), upToMs });
  // What holds between leaves can only be judged where each of them is right.
  if (
    findings.some(({ kind, place }) => kind === "bad" && (place.ordinal !== undefined || place.position !== undefined))
  ) {
    return report();
  }
  const leaves = walks.flatMap((walk) => walk.leaves);
  findings.push(...checkOpening(listed, walks, leaves));
  const ids = organizationIds.map((id) => toHex(uuidToBytes(id)));
  const lost = logs.reduce((sum, log) => sum + log.lost, 0);
  findings.push(...checkLines({ leaves, erased: erasedIn(walks), lost, organizationIds: ids }));
  findings.push(...checkActs(leaves));
  if (options.withSubOrganizations === true) for (const finding of checkFamily(leaves, ids)) findings.push(finding);
  return report();
}

function readList(page: Uint8Array | undefined): ListedLog[] | Finding {
  const place = { file: logsPath };
  if (page === undefined) return { kind: "bad", place, what: "the file is missing" };
  try {
    return readLogList(page);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { kind: "bad", place, what: error.message };
  }
}

function misfits(files: ExportFiles, logs: readonly ListedLog[], organizationIds: readonly string[]): Finding[] {
  const { missing, extra } = misfitsIn(
    files,
    logs.map(({ logId }) => logId),
  );
  const none: Finding[] =
    organizationIds.length > 0 ? [] : [{ kind: "bad", place: {}, what: "the export is of no organization" }];
  return [
    ...none,
    ...missing.map((file): Finding => ({ kind: "bad", place: { file }, what: "the file is missing" })),
    ...extra.map((file): Finding => ({ kind: "bad", place: { file }, what: "the file belongs to no export" })),
  ];
}

function readSeen(
  curves: Curves,
  logs: readonly ListedLog[],
  keyOf: (logId: string) => Vkey,
  { key, since = [] }: VerifyOptions,
  findings: Finding[],
): Seen[] {
  return since.flatMap((text) => {
    const bad = (what: string): [] => {
      findings.push({ kind: "bad", place: {}, what: `the checkpoint to start from: ${what}` });
      return [];
    };
    try {
      const seen = openSeen(curves, key.publicKey, text);
      if (!logs.some(({ logId }) => logId === seen.logId)) return bad(`the export leaves out its log ${seen.logId}`);
      if (keyOf(seen.logId).name !== seen.origin) return bad("it is of another deployment");
      return [seen];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return bad(error.message);
    }
  });
}

function headOf({ size, root }: Seen): KnownHead {
  return { size, root, of: "the checkpoint to start from", isNamed: false };
}

function erasedIn(walks: readonly Walked[]): Map<string, number> {
  const all = new Map<string, number>();
  for (const [organizationId, count] of walks.flatMap(({ erased }) => [...erased])) {
    const id = toHex(uuidToBytes(organizationId));
    all.set(id, (all.get(id) ?? 0) + count);
  }
  return all;
}
