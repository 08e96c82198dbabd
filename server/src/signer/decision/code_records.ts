/** The signer's side of one-time codes: derives them, and asks the memory before anything is started or compared. */
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { deriveCode } from "@keystead/core/otp/one_time_code.ts";
import { countedContact, otpTypes } from "@keystead/core/otp/otp_types.ts";
import { deriveTargetKey } from "@keystead/core/otp/target_key.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import type { CodeAccess } from "../../endpoints/code_access.ts";
import type { HpkeKey } from "../../endpoints/key_access.ts";
import type { VerdictAccess } from "../../endpoints/verdict_access.ts";
import type { Prepared } from "../../frames/messages.ts";
import { verificationTokenId } from "../../state/derived_id.ts";
import { isSandboxCode, type OtpCodeRecord, sandboxCode } from "../../state/otp_code_record.ts";
import { attemptKey } from "../../state/record_wish.ts";
import { encodeRecord } from "../../state/records.ts";
import type { CodeTimes } from "../memory/code_starts.ts";
import { readRecord, type Supplied } from "./key_records.ts";
import { needsAttempt } from "./needs_more.ts";
import type { Signer } from "./signer.ts";

/** The body that is decided, and where. */
export type CodeQuestion = {
  organizationId: string;
  /** Present when the organization is a sub-organization. */
  parentId: string | undefined;
  /** A user of the parent asks. */
  isByParent?: boolean;
  fingerprint: Uint8Array;
  bodyMs: number;
  nowMs: number;
};

export function openCodeAccess(
  signer: Signer,
  supplied: Supplied,
  { organizationId, parentId, isByParent = false, fingerprint, bodyMs, nowMs }: CodeQuestion,
  verdicts: VerdictAccess,
): CodeAccess {
  const { memory, keyring, hasSandboxCodes, allowsPlainAnswers } = signer;
  const { codes: secrets } = keyring;
  return {
    tokenJudgement: () => ({ otpKey: keyring.otpKey, acceptedAtMs: memory.acceptedAtMs }),
    otpSigner: keyring.otp,
    allowsPlainAnswers,
    find(otpId) {
      const records = supplied.records.map(({ content }) => readRecord(signer, organizationId, content));
      return records.find((record): record is OtpCodeRecord => record.kind === "otpCode" && record.otpId === otpId);
    },
    start({ otpId, otpType, contact, lifeMs, userIdentifier }) {
      const { contact: kind } = otpTypes[otpType];
      const wanted = {
        otpId: uuidToBytes(otpId),
        ownerId: uuidToBytes(parentId ?? organizationId),
        subOrganizationId: parentId === undefined || isByParent ? undefined : uuidToBytes(organizationId),
        // One count for a parent and all below it: each sign-up would else bring a budget of its own for the same mailbox.
        contact: secrets.countingHash(parentId ?? organizationId, kind, countedContact(kind, contact)),
        identifier:
          userIdentifier === undefined
            ? undefined
            : secrets.countingHash(organizationId, "userIdentifier", userIdentifier),
        lifeMs,
      };
      const { startedAtMs, endsAtMs } = verdicts.judge<CodeTimes>({
        subject: "start",
        ask: () => memory.codes.start(wanted, nowMs),
        tell: (times) => ({ times: [times.startedAtMs, times.endsAtMs] }),
        standIn: ({ times: [from = nowMs, to = nowMs + lifeMs] }) => ({ startedAtMs: from, endsAtMs: to }),
      });
      return { startedAtMs, endsAtMs };
    },
    noteAttempt({ otpId, startedAtMs, endsAtMs }) {
      // Asked for only here, so that a stranger claims nothing.
      if (!supplied.wishes.includes(attemptKey(otpId))) throw needsAttempt(otpId);
      verdicts.judge({
        subject: "attempt",
        ask: () => memory.codes.attempt({ otpId: uuidToBytes(otpId), startedAtMs, endsAtMs }, fingerprint, nowMs),
        standIn: () => undefined,
      });
    },
    codeOf(record) {
      if (hasSandboxCodes && isSandboxCode(record)) return new TextEncoder().encode(sandboxCode);
      return deriveCode(secrets.code, uuidToBytes(record.otpId), record.form);
    },
    targetKeyOf: (otpId) => deriveTargetKey(nodeHpke, secrets.target, uuidToBytes(otpId)) as HpkeKey,
    tokenIdOf(otpId) {
      // The token is as old as its body says. Answering moves no state, which would note a time ahead of the clock.
      memory.noteBodyTime(bodyMs, nowMs);
      return verificationTokenId(uuidToBytes(otpId), fingerprint, bodyMs);
    },
  };
}

/** The rows of new codes: their records have a MAC, and no secret beside them. */
export function markCodes({ keyring }: Signer, codes: readonly OtpCodeRecord[]): Prepared["codes"] {
  return codes.map((record) => ({
    otpId: record.otpId,
    content: keyring.authenticity.mark("record", encodeRecord(record)),
  }));
}
