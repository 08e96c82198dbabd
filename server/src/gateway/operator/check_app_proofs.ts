/**
 * App proofs against their boxes, and what their decisions were taken on against its digests. Whether an activity should have proofs and has
 * none, nobody can tell: those from before there were any have asked in vain.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { AppProof, AppProofPayload } from "../../state/app_proof.ts";
import { type DecisionContextContent, decodeDecisionContext, partsOf } from "../../state/decision_context.ts";
import { sha256 } from "../../state/digest.ts";
import { joinPieces, pieceOwner, piecesIn } from "../../store/context_pieces.ts";
import { rowsOf, rowsWith, updateRow } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { LeafCheck } from "./leaf_check.ts";

type ProofsCheck = Pick<LeafCheck, "tx" | "vouching" | "organizationId" | "released" | "findings">;

const rowsAtOnce = 100;
/** Pages may be long. */
const contextsAtOnce = 10;

export async function checkAppProofs(check: ProofsCheck): Promise<void> {
  const { tx, organizationId } = check;
  for await (const rows of rowsOf(tx, "app_proofs", organizationId, rowsAtOnce)) {
    const numbers = [...new Set(rows.map(({ number }) => number))];
    const leaves = await rowsWith(tx, "leaves", organizationId, "number", numbers);
    for (const row of rows) await checkRow(check, row, leaves);
  }
  for await (const rows of rowsOf(tx, "decision_contexts", organizationId, contextsAtOnce)) {
    for (const row of rows) await checkContext(check, row);
  }
}

/** Its text must be what the signer opens its box to; before the release there is none. */
async function checkRow(
  check: ProofsCheck,
  row: Tables["app_proofs"],
  leaves: readonly Tables["leaves"][],
): Promise<void> {
  const { tx, vouching, released, findings } = check;
  const name = `app_proofs ${row.activity_id}`;
  const { boot, number } = row;
  const leaf = leaves.find((each) => each.boot === boot && each.number === number);
  if (leaf?.activity_id !== row.activity_id) {
    findings.lost(`${name}: its activity has no such leaf`);
    return;
  }
  // What another host's signer has released is not this one's to open.
  if (released(boot, number) !== true) return;
  const [proofs] = await vouching.proofs([{ leaf: leaf.leaf, proofs: row.sealed }]);
  if (proofs === undefined) {
    findings.lost(`${name}: its box does not open`);
    return;
  }
  if (row.proofs !== null && row.proofs !== proofs && findings.differs(`${name}: proofs not as sealed`)) {
    await updateRow(tx, "app_proofs", row, { proofs });
  }
  await checkNamedContexts(check, name, proofs);
}

async function checkNamedContexts({ tx, organizationId, findings }: ProofsCheck, name: string, proofs: string) {
  const digests = (JSON.parse(proofs) as AppProof[]).flatMap(({ proofPayload }) => {
    const payload = JSON.parse(proofPayload) as AppProofPayload;
    return "policyOutcomeProof" in payload ? [payload.policyOutcomeProof.decisionContextDigest] : [];
  });
  const found = await rowsWith(tx, "decision_contexts", organizationId, "digest", digests);
  if (found.length < digests.length) findings.lost(`${name}: the context of its decision is missing`);
}

async function checkContext(check: ProofsCheck, row: Tables["decision_contexts"]): Promise<void> {
  const { tx, organizationId, findings } = check;
  const name = `decision_contexts ${row.digest}`;
  const content = await contentOf(check, row);
  if (content === undefined) return;
  if (toHex(sha256(content)) !== row.digest) {
    findings.lost(`${name}: its content was changed`);
    return;
  }
  const context = readContext(content);
  if (context === undefined) return;
  const owners = new Map([[row.digest, organizationId], ...partsOf(context)]);
  const rows = await rowsWith(tx, "decision_contexts", organizationId, "digest", [...owners.keys()]);
  for (const [digest, ownerId] of owners) {
    const part = rows.find((each) => each.digest === digest);
    if (part === undefined) findings.lost(`${name}: part ${digest} is missing`);
    else if (part.owner_id !== ownerId && findings.differs(`decision_contexts ${digest}: owner_id not as in ${name}`)) {
      await updateRow(tx, "decision_contexts", part, { owner_id: ownerId });
    }
  }
}

/** The content, put together from its pieces where it is kept in such. */
async function contentOf(
  { tx, organizationId, findings }: ProofsCheck,
  { digest, content }: Tables["decision_contexts"],
): Promise<Uint8Array | undefined> {
  const digests = piecesIn(content);
  if (digests === undefined) return content;
  const pieces = await rowsWith(tx, "decision_contexts", organizationId, "digest", [...new Set(digests)]);
  for (const piece of pieces) {
    if (piece.owner_id === pieceOwner) continue;
    if (findings.differs(`decision_contexts ${piece.digest}: owner_id not as in decision_contexts ${digest}`)) {
      await updateRow(tx, "decision_contexts", piece, { owner_id: pieceOwner });
    }
  }
  const whole = joinPieces(digests, new Map(pieces.map((piece) => [piece.digest, piece.content])));
  if (whole === undefined) findings.lost(`decision_contexts ${digest}: a piece of it is missing`);
  return whole;
}

/** Pages and records are no contexts. */
function readContext(content: Uint8Array): DecisionContextContent | undefined {
  try {
    return decodeDecisionContext(content);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}
