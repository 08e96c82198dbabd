/** The memory's part about one-time codes. Every answer that lets something happen is a record first. */
import { invalidCode } from "../../endpoints/known_faults.ts";
import { clockToleranceMs } from "../../state/journal.ts";
import { attemptDigestLength } from "./code_attempts.ts";
import { type CodeStart, type CodeTimes, maxCodeMs, type OtpCode } from "./code_starts.ts";
import type { MemoryContents } from "./contents.ts";
import type { MemoryRecord } from "./record_kinds.ts";

/** A code that a body asks for. */
export type WantedCode = Omit<CodeStart, "startedAtMs" | "endsAtMs"> & { lifeMs: number };

export type CodeMemory = {
  /** Codes from before this time are dead to this memory: it may have forgotten attempts at them. 0 before the first. */
  readonly sinceMs: number;
  /** From now on attempts are noted here, unless they were already. Codes from before are never compared. */
  begin(nowMs: number): void;
  /** The clock was set to this time: of codes from before nobody can tell whether they are over. */
  beginAnew(nowMs: number): void;
  /** When the code begins and ends: at the first sight of its body, however often it comes. Throws `resource_exhausted` beyond a limit. */
  start(wanted: WantedCode, nowMs: number): OtpCode;
  /**
   * A body is about to be compared with the code. Told before the comparison, and refused where it is no longer allowed: at most three
   * bodies of one code are ever compared. `code` is the signer's own word.
   */
  attempt(code: OtpCode, fingerprint: Uint8Array, nowMs: number): void;
  /** The token that this body has earned is about to be released. Refused where another body was given one. */
  spend(code: OtpCode, fingerprint: Uint8Array, nowMs: number): void;
};

export function createCodeMemory(contents: MemoryContents, remember: (record: MemoryRecord) => void): CodeMemory {
  const { codeStarts, codeAttempts } = contents;

  function beginAnew(timeMs: number): void {
    remember({ kind: "codesSince", value: { timeMs } });
  }

  function begin(nowMs: number): void {
    if (contents.codesSinceMs === 0) beginAnew(nowMs);
  }

  function note({ otpId, endsAtMs }: OtpCode, fingerprint: Uint8Array, isSpent: boolean, timeMs: number): void {
    const attempt = { otpId, endsAtMs, fingerprint: fingerprint.subarray(0, attemptDigestLength), isSpent };
    remember({ kind: "codeAttempts", value: { timeMs, attempts: [attempt] } });
  }

  /** Throws unless this memory knows all that was tried at the code. */
  function checkKnown({ startedAtMs, endsAtMs }: OtpCode, nowMs: number): void {
    begin(nowMs);
    const isOlder = startedAtMs < contents.codesSinceMs || startedAtMs <= contents.acceptedAtMs;
    const isOfFuture = startedAtMs > nowMs + clockToleranceMs;
    if (isOlder || isOfFuture || endsAtMs > startedAtMs + maxCodeMs) throw invalidCode("code expired");
  }

  return {
    get sinceMs() {
      return contents.codesSinceMs;
    },
    begin,
    beginAnew,
    start({ lifeMs, ...wanted }, nowMs) {
      const known = codeStarts.find(wanted.otpId);
      if (known !== undefined) return codeOf(wanted.otpId, known);
      begin(nowMs);
      const start = { ...wanted, startedAtMs: nowMs, endsAtMs: nowMs + Math.min(lifeMs, maxCodeMs) };
      codeStarts.forget(nowMs);
      codeStarts.check(start, nowMs, codeAttempts.isSpent);
      remember({ kind: "codeStarts", value: { timeMs: nowMs, starts: [start] } });
      return codeOf(wanted.otpId, start);
    },
    attempt(code, fingerprint, nowMs) {
      checkKnown(code, nowMs);
      if (code.endsAtMs <= nowMs) throw invalidCode("code expired");
      codeAttempts.forget(nowMs);
      if (!codeAttempts.isNoted(code, fingerprint)) note(code, fingerprint, false, nowMs);
    },
    spend(code, fingerprint, nowMs) {
      checkKnown(code, nowMs);
      if (!codeAttempts.isSpentBy(code, fingerprint, nowMs)) note(code, fingerprint, true, nowMs);
    },
  };
}

function codeOf(otpId: Uint8Array, { startedAtMs, endsAtMs }: CodeTimes): OtpCode {
  return { otpId, startedAtMs, endsAtMs };
}
