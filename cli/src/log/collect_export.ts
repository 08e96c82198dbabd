/**
 * An export out of what a server shows: statements first, then checkpoints that cover them, then leaves and entries up to there. What came
 * meanwhile is left out, so that the parts fit.
 */
import { sameBytes } from "@keystead/core/encoding/bytes.ts";
import { logPaths, logsPath, organizationPaths } from "@keystead/core/log/export/export_files.ts";
import { encodeRecords, type LeafRecord } from "@keystead/core/log/export/leaf_record.ts";
import { decodeHeader, macLength } from "@keystead/core/log/header.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import type { Client } from "@keystead/sdk";
import { type CheckpointSource, coveringCheckpoint } from "./covering_checkpoint.ts";
import { listLeaves, type ReadStatement, readStatement } from "./own_history.ts";
import type { PublishedLog } from "./public_log.ts";

export type ExportSource = CheckpointSource & {
  client: Client;
  organizationIds: readonly string[];
  say(line: string): void;
};

/** Several hosts go on while they are asked one after the other. */
const tries = 5;

export async function collectExport(source: ExportSource): Promise<Map<string, Uint8Array>> {
  for (let attempt = 1; ; attempt++) {
    const { files, isWhole } = await collectOnce(source);
    if (isWhole || attempt === tries) return files;
    source.say("the history has a gap, perhaps because the organization acts meanwhile; asking again");
    await source.wait(1_000);
  }
}

async function collectOnce(source: ExportSource): Promise<{ files: Map<string, Uint8Array>; isWhole: boolean }> {
  const logs = await source.publicLog.listLogs();
  const statements = await readStatements(source, logs);
  const pages = new Set([...statements.values()].map((statement) => statement.logs));
  const [page] = pages;
  if (page === undefined) throw new Error("the server's signer makes no statement about its log");
  const files = new Map<string, Uint8Array>([[logsPath, Buffer.from(page)]]);
  let isWhole = pages.size === 1;
  let isLost = false;
  for (const log of logs) {
    const { logId } = log;
    const sizes = source.organizationIds.map((id) => statements.get(nameOf(id, logId))?.statement.size ?? 0);
    const checkpoint = await coveringCheckpoint(source, log, Math.max(...sizes));
    if (checkpoint === undefined) {
      source.say(`the server has lost log ${logId}, which has ended`);
      isLost = true;
    }
    const { text, size } = checkpoint ?? { text: "", size: 0 };
    files.set(logPaths.checkpoint(logId), Buffer.from(text));
    files.set(logPaths.entries(logId), await source.publicLog.entries(log, size));
  }
  const operators = new Map<string, LeafRecord[]>(logs.map(({ logId }) => [logId, []]));
  for (const organizationId of source.organizationIds) {
    const own = new Map<string, LeafRecord[]>(logs.map(({ logId }) => [logId, []]));
    for await (const { logId, record } of listLeaves(source.client, organizationId)) {
      const isOperators = record.ordinal === 0;
      const { count } = statements.get(nameOf(organizationId, logId))?.statement ?? { count: Number.POSITIVE_INFINITY };
      const size = (files.get(logPaths.entries(logId))?.length ?? 0) / 32;
      if (record.position >= size || record.ordinal > count) continue;
      // Every organization is shown the same acts of the operator.
      if (!isOperators) own.get(logId)?.push(record);
      else if (organizationId === source.organizationIds[0]) operators.get(logId)?.push(record);
    }
    for (const [logId, records] of own) {
      files.set(organizationPaths.leaves(organizationId, logId), encodeRecords(records));
      const note = statements.get(nameOf(organizationId, logId))?.note;
      if (note !== undefined) files.set(organizationPaths.statement(organizationId, logId), Buffer.from(note));
    }
    // What is lost does not come back.
    isWhole &&= isLost || hasAllHeaders(organizationId, [...own.values(), ...operators.values()].flat());
  }
  for (const [logId, records] of operators) files.set(logPaths.operator(logId), encodeRecords(records));
  return { files, isWhole };
}

const nameOf = (organizationId: string, logId: string): string => `${organizationId} ${logId}`;

async function readStatements(
  source: ExportSource,
  logs: readonly PublishedLog[],
): Promise<Map<string, ReadStatement>> {
  const statements = new Map<string, ReadStatement>();
  // The signer of a log that another one follows no longer speaks for it.
  for (const { logId } of logs.filter(({ open }) => open)) {
    const missing = new Set<string>();
    for (const organizationId of source.organizationIds) {
      const statement = await readStatement(source.client, organizationId, logId);
      if ("missing" in statement) missing.add(statement.missing);
      else statements.set(nameOf(organizationId, logId), statement);
    }
    for (const why of missing) source.say(`${why}; the export has no statement about log ${logId}`);
  }
  return statements;
}

/** Whether no state is missing up to the last one that a leaf names. Leaves that are not shown may have any. */
function hasAllHeaders(organizationId: string, records: readonly LeafRecord[]): boolean {
  const id = Buffer.from(organizationId.replaceAll("-", ""), "hex");
  const versions = new Set<number>();
  let last = 0;
  for (const { leaf } of records) {
    if (leaf === undefined) return true;
    const { header, organizationId: actsIn, states } = decodeLeaf(leaf);
    for (const state of sameBytes(actsIn, id) ? states : []) {
      if (sameBytes(state.organizationId, id)) last = Math.max(last, state.version);
    }
    if (header === undefined) continue;
    const { organizationId: of, version } = decodeHeader(header.subarray(0, -macLength));
    if (!sameBytes(of, id)) continue;
    versions.add(version);
    last = Math.max(last, version);
  }
  return versions.size === last;
}
