/** Results that nobody may see before their row is released. They leave sealed, for whoever stores them. */
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { sha256 } from "../../state/digest.ts";
import type { OtpCodeRecord } from "../../state/otp_code_record.ts";
import type { OtpCode } from "../memory/code_starts.ts";
import type { SealContext, Sealer } from "../secrets/seal.ts";

/** A result opens only beside the very leaf it was prepared with. */
export function resultContext(leaf: Uint8Array): SealContext {
  return { purpose: "leaves.sealed", organizationId: "", recordId: Buffer.from(sha256(leaf)).toString("hex") };
}

export function sealResult(sealer: Sealer, leaf: Uint8Array, result: string): Uint8Array {
  return sealer.seal(resultContext(leaf), new TextEncoder().encode(result));
}

/** What is sealed of a result that uses up a code: the code in a line of its own, then the result. Neither holds a line break. */
export function withSpentCode(
  { otpId, startedAtMs, endsAtMs }: Pick<OtpCodeRecord, "otpId" | "startedAtMs" | "endsAtMs">,
  result: string,
): string {
  return `${JSON.stringify({ otpId, startedAtMs, endsAtMs })}\n${result}`;
}

export function splitSpentCode(boxed: string): { code: OtpCode; result: string } | undefined {
  const at = boxed.indexOf("\n");
  if (at < 0) return undefined;
  const { otpId, ...times } = JSON.parse(boxed.slice(0, at)) as OtpCodeRecord;
  return { code: { otpId: uuidToBytes(otpId), ...times }, result: boxed.slice(at + 1) };
}

/** Opens only beside the leaf it was sealed with. */
export function openResult(sealer: Sealer, leaf: Uint8Array, sealed: Uint8Array): string {
  return new TextDecoder().decode(sealer.unseal(resultContext(leaf), sealed));
}
