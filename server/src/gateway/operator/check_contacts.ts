/**
 * To whom verified contacts lead: each mark of a sub-organization's user has its claim below the parent. What an earlier version left is
 * named and stays: rows do not tell whose contact it is.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { type NewMark, newMarks } from "../../state/contacts.ts";
import { put } from "../../state/entities.ts";
import { contactClaimRow, findClaimIn } from "../../store/contact_claims.ts";
import { type Inside, insertRow } from "../../store/projection_rows.ts";
import type { Findings } from "./check_findings.ts";
import type { CheckedState } from "./check_state.ts";

export async function checkContacts(
  tx: Inside,
  { organizationId, header, pages }: CheckedState,
  findings: Findings,
): Promise<void> {
  if (header.parentId === undefined || pages.settings.deleted === true) return;
  const parentId = uuidFromBytes(header.parentId);
  const users = [...pages.members.users.values()];
  for (const mark of newMarks(
    new Map(),
    users.map((user) => put("user", user)),
  )) {
    const user = pages.members.users.get(mark.userId);
    const isEarlier = user?.[mark.kind === "email" ? "emailVerified" : "phoneVerified"] === true;
    await checkMark(tx, { ...mark, isEarlier, parentId, organizationId }, findings);
  }
}

type Checked = NewMark & { isEarlier: boolean; parentId: string; organizationId: string };

async function checkMark(tx: Inside, mark: Checked, findings: Findings): Promise<void> {
  const { userId, kind, isEarlier, parentId, organizationId } = mark;
  const what = kind === "email" ? "e-mail address" : "phone number";
  const claim = await findClaimIn(tx, parentId, mark);
  if (claim?.user_id === userId) {
    if (claim.proof === "EARLIER") {
      findings.leaves(`user ${userId}: an earlier version verified the ${what}; it leads to anyone else who proves it`);
    }
    return;
  }
  if (claim !== undefined || isEarlier) {
    findings.leaves(`user ${userId}: the verified ${what} does not lead here, because others have it verified, too`);
    return;
  }
  if (!findings.differs(`contact_claims of user ${userId}: the verified ${what} leads to no user`)) return;
  await insertRow(tx, "contact_claims", contactClaimRow(organizationId, { ...mark, createdAtMs: Date.now() }));
}
