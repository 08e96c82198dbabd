/** The signer's statements in an export: how many leaves of an organization a log has, and which logs there are. */
import { toHex } from "../../encoding/hex.ts";
import { Fault } from "../../fault.ts";
import { type NoteCurves, openNote } from "../../tlog/note.ts";
import type { Vkey } from "../../tlog/vkey.ts";
import { organizationPaths } from "../export/export_files.ts";
import { type LogStatement, parseLogStatement } from "../statement.ts";
import { noteText } from "./check_log.ts";
import type { Finding } from "./finding.ts";

export type StatementInput = {
  organizationId: string;
  logId: string;
  file: Uint8Array | undefined;
  /** Of the checkpoint. */
  size: number;
  /** SHA-256 of the list of logs in the export. */
  logs: Uint8Array;
};

export type CheckedStatement = { statement: LogStatement | undefined; findings: readonly Finding[] };

/** Without a statement nobody says that all leaves are here: a log whose signer is gone has none. */
export function checkStatement(curves: NoteCurves, key: Vkey, input: StatementInput): CheckedStatement {
  const { organizationId, logId, file } = input;
  const path = organizationPaths.statement(organizationId, logId);
  if (file === undefined) {
    const what = "no statement of the signer says how many leaves there are";
    return { statement: undefined, findings: [{ kind: "unchecked", place: { logId, organizationId }, what }] };
  }
  const bad = (what: string): CheckedStatement => {
    return { statement: undefined, findings: [{ kind: "bad", place: { file: path, logId, organizationId }, what }] };
  };
  try {
    const note = openNote(curves, [key], noteText(file));
    if (note.signatures.length !== 1) return bad("it has other signatures than the log's");
    const statement = parseLogStatement(note.text);
    if (statement.organizationId !== organizationId) return bad("it is about another organization");
    if (statement.logId !== logId) return bad("it is about another log");
    if (statement.logs !== toHex(input.logs)) return bad("it names another list of logs");
    if (statement.size > input.size) return bad("it is newer than the checkpoint");
    return { statement, findings: [] };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return bad(error.message);
  }
}
