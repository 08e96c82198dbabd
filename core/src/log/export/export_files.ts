/** The files of an export: which there are, by their names alone. Names and layouts: SPEC.md in this folder. */
import { isUuid } from "../../encoding/uuid.ts";

/** Contents by path; folders are parted by `/`. */
export type ExportFiles = ReadonlyMap<string, Uint8Array>;

/** The first organization's page that lists all logs. */
export const logsPath = "logs";

export const logPaths = {
  checkpoint: (logId: string) => `${logId}/checkpoint`,
  entries: (logId: string) => `${logId}/entries`,
  /** Leaves of acts of the operator, which belong to everybody. */
  operator: (logId: string) => `${logId}/operator`,
} as const;

export const organizationPaths = {
  statement: (organizationId: string, logId: string) => `${organizationId}/${logId}.statement`,
  leaves: (organizationId: string, logId: string) => `${organizationId}/${logId}.leaves`,
} as const;

/** The organizations that have a folder, in the order of their ids. */
export function organizationsIn(files: ExportFiles): string[] {
  const folders = Array.from(files.keys(), (path) => path.split("/")[0] ?? "");
  return [...new Set(folders.filter((name) => isUuid(name) && name === name.toLowerCase()))].sort();
}

/** Paths that must be there, and those that are there without being part of the export. */
export function misfitsIn(files: ExportFiles, logIds: readonly string[]): { missing: string[]; extra: string[] } {
  const organizationIds = organizationsIn(files);
  const needed = [
    logsPath,
    ...logIds.flatMap((logId) => Object.values(logPaths).map((path) => path(logId))),
    ...organizationIds.flatMap((id) => logIds.map((logId) => organizationPaths.leaves(id, logId))),
  ];
  const optional = organizationIds.flatMap((id) => logIds.map((logId) => organizationPaths.statement(id, logId)));
  const known = new Set([...needed, ...optional]);
  return {
    missing: needed.filter((path) => !files.has(path)),
    extra: [...files.keys()].filter((path) => !known.has(path)).sort(),
  };
}
