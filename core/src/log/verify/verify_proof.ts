/** Whether a proof file shows that a leaf is in a log, and that the leaf is right by itself. */
import { toHex } from "../../encoding/hex.ts";
import { uuidFromBytes } from "../../encoding/uuid.ts";
import { Fault } from "../../fault.ts";
import { entryOf } from "../../tlog/entry.ts";
import { parseNote } from "../../tlog/note.ts";
import { openProofFile, parseProofFile } from "../../tlog/proof_file.ts";
import type { Vkey } from "../../tlog/vkey.ts";
import { decodeProvenLeaf } from "../export/leaf_record.ts";
import type { Leaf } from "../leaf.ts";
import { logVkey, parseLogOrigin } from "../log_name.ts";
import { createLeafChecker } from "./check_leaf.ts";
import { checkWitnesses } from "./check_log.ts";
import type { VerifierCurves } from "./check_token.ts";
import { type Finding, type Report, toReport } from "./finding.ts";
import { isOperators } from "./leaf_shape.ts";
import type { LogKey } from "./log_key.ts";

export type ProofReport = Report & { leaf: Leaf | undefined };

const counts = { logs: 1, organizations: 1, leaves: 1, stamps: 0 };

export function verifyProof(
  curves: VerifierCurves,
  text: string,
  { key, witnesses = [] }: { key: LogKey; witnesses?: readonly Vkey[] },
): ProofReport {
  try {
    return check(curves, text, key, witnesses);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "invalid_argument") throw error;
    const findings: Finding[] = [{ kind: "bad", place: {}, what: error.message }];
    return { ...toReport(findings, { ...counts, leaves: 0 }), leaf: undefined };
  }
}

function check(curves: VerifierCurves, text: string, key: LogKey, witnesses: readonly Vkey[]): ProofReport {
  const file = parseProofFile(text);
  if (file.extra === undefined) throw new Fault("invalid_argument", "the proof file has no leaf");
  const { ordinal, leaf: bytes, bodies } = decodeProvenLeaf(file.extra);
  const { deploymentId, logId } = parseLogOrigin(parseNote(file.checkpoint).text.split("\n")[0] ?? "");
  if (key.deploymentId !== undefined && key.deploymentId !== deploymentId) {
    throw new Fault("invalid_argument", "the proof is of another deployment");
  }
  const digest = curves.sha256(bytes);
  const log = logVkey(deploymentId, logId, key.publicKey);
  const { note } = openProofFile(curves, log, entryOf(digest, ordinal, curves.sha256), file);
  const { facts, bad, unchecked, stamps } = createLeafChecker(curves).check(toHex(digest), bytes, bodies);
  const isOperatorsOwn = facts !== undefined && isOperators(facts.leaf);
  const place = {
    logId,
    position: file.index,
    ...(facts !== undefined && !isOperatorsOwn && { organizationId: uuidFromBytes(facts.leaf.organizationId) }),
    ordinal,
  };
  const { findings } = checkWitnesses({ logId }, note, { curves, key: log, witnesses });
  if (bad !== undefined) findings.push({ kind: "bad", place, what: bad });
  else if (isOperatorsOwn !== (ordinal === 0)) findings.push({ kind: "bad", place, what: `it is numbered ${ordinal}` });
  for (const what of unchecked) findings.push({ kind: "unchecked", place, what });
  return { ...toReport(findings, { ...counts, stamps }), leaf: facts?.leaf };
}
