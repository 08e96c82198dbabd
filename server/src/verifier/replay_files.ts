/** Executes the organizations of an export again, and says where something else comes out. */
import {
  type ExportFiles,
  logPaths,
  logsPath,
  organizationPaths,
  organizationsIn,
} from "@keystead/core/log/export/export_files.ts";
import { readRecords } from "@keystead/core/log/export/leaf_record.ts";
import { readLogList } from "@keystead/core/log/export/log_list.ts";
import type { Finding, Place } from "@keystead/core/log/verify/finding.ts";
import type { ExportedLeaf, ExportedOrganization } from "../replay/exported.ts";
import { replayExport } from "../replay/replay_export.ts";

type PlacedLeaf = ExportedLeaf & { place: Place };

/** The files must have been checked before: what cannot be read is left out here. */
export async function replayFiles(files: ExportFiles): Promise<{ findings: Finding[]; acts: number }> {
  const organizations = new Map(organizationsIn(files).map((id) => [id, leavesOf(files, id)] as const));
  const { differences, unchecked, acts } = await replayExport({ organizations });
  const findings: Finding[] = [
    ...differences.map(({ organizationId, index, what }): Finding => {
      const place = organizations.get(organizationId)?.leaves[index]?.place ?? { organizationId };
      return { kind: "bad", place, what: `executed again, something else comes out: ${what}` };
    }),
    ...unchecked.map((what): Finding => ({ kind: "unchecked", place: {}, what: `not executed again: ${what}` })),
  ];
  return { findings, acts };
}

type PlacedOrganization = ExportedOrganization & { leaves: readonly PlacedLeaf[] };

/** The organization's own, and the acts of the operator, in the order of each log. */
function leavesOf(files: ExportFiles, organizationId: string): PlacedOrganization {
  const leaves: PlacedLeaf[] = [];
  let undisclosed = 0;
  for (const { logId } of readLogList(files.get(logsPath) ?? new Uint8Array())) {
    const paths = [logPaths.operator(logId), organizationPaths.leaves(organizationId, logId)];
    const read = paths.flatMap((path) => [...readRecords(files.get(path) ?? new Uint8Array())]);
    const records = read.flatMap((each) => ("record" in each ? [each.record] : []));
    for (const { position, ordinal, leaf, bodies } of records.sort((a, b) => a.position - b.position)) {
      const place = { logId, position, ...(ordinal > 0 && { organizationId }), ordinal };
      if (leaf === undefined) undisclosed += 1;
      else leaves.push({ leaf, bodies, place });
    }
  }
  return { leaves, undisclosed };
}
