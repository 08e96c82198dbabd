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
import type { Exported, ExportedLeaf } from "../replay/exported.ts";
import { replayExport } from "../replay/replay_export.ts";

type PlacedLeaf = ExportedLeaf & { place: Place };

/** The files must have been checked before: what cannot be read is left out here. */
export async function replayFiles(files: ExportFiles): Promise<{ findings: Finding[]; acts: number }> {
  const leaves = new Map(organizationsIn(files).map((id) => [id, leavesOf(files, id)] as const));
  const organizations: Exported["organizations"] = new Map(
    [...leaves].map(([id, own]) => [id, { leaves: own }] as const),
  );
  const { differences, unchecked, acts } = await replayExport({ organizations });
  const findings: Finding[] = [
    ...differences.map(({ organizationId, index, what }): Finding => {
      const place = leaves.get(organizationId)?.[index]?.place ?? { organizationId };
      return { kind: "bad", place, what: `executed again, something else comes out: ${what}` };
    }),
    ...unchecked.map((what): Finding => ({ kind: "unchecked", place: {}, what: `not executed again: ${what}` })),
  ];
  return { findings, acts };
}

/** The organization's own, and the acts of the operator, in the order of each log. */
function leavesOf(files: ExportFiles, organizationId: string): PlacedLeaf[] {
  return readLogList(files.get(logsPath) ?? new Uint8Array()).flatMap(({ logId }) => {
    const paths = [logPaths.operator(logId), organizationPaths.leaves(organizationId, logId)];
    const records = paths.flatMap((path) => [...readRecords(files.get(path) ?? new Uint8Array())]);
    return records
      .flatMap((read) => ("record" in read ? [read.record] : []))
      .sort((a, b) => a.position - b.position)
      .flatMap(({ position, ordinal, leaf, bodies }): PlacedLeaf[] => {
        const place = { logId, position, ...(ordinal > 0 && { organizationId }), ordinal };
        return leaf === undefined ? [] : [{ leaf, bodies, place }];
      });
  });
}
