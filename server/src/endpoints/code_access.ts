/** One-time codes, for the activities that deal with them. Nothing of this exists outside the signer. */
import type { BundleSigner } from "@keystead/core/crypto/bundles.ts";
import type { OtpCodeRecord } from "../state/otp_code_record.ts";
import type { HpkeKey } from "./key_access.ts";

/** A code that an activity wants to start. */
export type NewCode = Pick<OtpCodeRecord, "otpId" | "otpType" | "contact"> & {
  lifeMs: number;
  userIdentifier: string | undefined;
};

export type CodeAccess = {
  /** The service key that target bundles and verification tokens are signed with. */
  readonly otpSigner: BundleSigner;
  /** Whether the operator lets codes whose client has a target bundle be answered in the plain. */
  readonly allowsPlainAnswers: boolean;
  /**
   * When the code begins and ends: the memory notes the first sight of its body, and counts. Throws `resource_exhausted` beyond a limit.
   */
  start(code: NewCode): Pick<OtpCodeRecord, "startedAtMs" | "endsAtMs">;
  /** What came of a code that the activity wishes for: the signer's own word. */
  find(otpId: string): OtpCodeRecord | undefined;
  /** The memory notes that this body tries to answer the code. Throws where it must not be compared. */
  noteAttempt(record: OtpCodeRecord): void;
  /** ASCII bytes, which the caller wipes. */
  codeOf(record: Pick<OtpCodeRecord, "otpId" | "otpType" | "contact" | "form">): Uint8Array;
  /** The key that answers to the code are encrypted to. */
  targetKeyOf(otpId: string): HpkeKey;
  /** The id of the token that this body gets for the code. */
  tokenIdOf(otpId: string): string;
};
