/**
 * Which bodies have tried to answer a one-time code, at most three different ones for each, and which of them was given the token. A body
 * is noted before it is compared with the code, so neither a restart nor a database that was set back gives another try; the same body
 * again is the same try. Notes outlive every record of their code: another host that sees the same body for the first time, up to an hour
 * later, makes a second one, with the same code.
 */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import { invalidCode } from "../../endpoints/known_faults.ts";
import { digestKey } from "../../state/digest.ts";
import { clockToleranceMs, liveness, slotMs } from "../../state/journal.ts";
import { maxCodeMs, type OtpCode } from "./code_starts.ts";
import { createExpiringMap } from "./expiring_map.ts";

export const attemptsPerCode = 3;

/** Of a body's fingerprint the first half. Two bodies that share it are one attempt: a pair takes 2^64 hashes, and a code lasts minutes. */
export const attemptDigestLength = 16;

/** So long after a code's end its token is still released: a gateway may crash between commit and release. */
const releasedAfterMs = clockToleranceMs;

/** From the end that one host gave a code to the end that the last could give it. */
const laterEndMs = liveness.pastMs + liveness.futureMs + clockToleranceMs + maxCodeMs;

/** Notes are kept for longer than anybody asks for them, with the clock's step back included. */
const keptAfterMs = laterEndMs + releasedAfterMs + clockToleranceMs + slotMs;

export type CodeAttempt = { otpId: Uint8Array; endsAtMs: number; fingerprint: Uint8Array; isSpent: boolean };

/** How many codes with attempts there are at most: somewhat more than can be started meanwhile. */
export const attemptedCodePlaces = 300_000;

export type CodeAttempts = {
  readonly size: number;
  /** Whether this body is noted already; throws where it must not be compared with the code. */
  isNoted(code: OtpCode, fingerprint: Uint8Array): boolean;
  /** Whether the code is spent by this body already; throws where the token must not be released. */
  isSpentBy(code: OtpCode, fingerprint: Uint8Array, nowMs: number): boolean;
  /** `otpId`: in hex. */
  isSpent(otpId: string): boolean;
  add(attempt: CodeAttempt): void;
  forget(nowMs: number): void;
  /** After the clock was set back: codes that end later are of its future. */
  dropAfter(timeMs: number): void;
  values(): Iterable<CodeAttempt>;
};

/** Bytes are kept as hex: small arrays take several times as much. */
type Attempts = { otpId: string; endsAtMs: number; tried: string[]; spentBy: string | undefined };

export function createCodeAttempts(places: number = attemptedCodePlaces): CodeAttempts {
  const codes = createExpiringMap<Attempts>();

  const find = (otpId: Uint8Array) => codes.get(digestKey(otpId));

  return {
    get size() {
      return codes.size;
    },
    isNoted({ otpId }, fingerprint) {
      const attempts = find(otpId);
      if (attempts === undefined) {
        if (codes.size >= places) throw tooManyCodes();
        return false;
      }
      const body = keyOf(fingerprint);
      if (attempts.spentBy !== undefined && attempts.spentBy !== body) throw invalidCode("code was used already");
      if (attempts.tried.includes(body)) return true;
      if (attempts.tried.length >= attemptsPerCode) throw invalidCode("too many attempts");
      return false;
    },
    isSpentBy({ otpId, endsAtMs }, fingerprint, nowMs) {
      const attempts = find(otpId);
      if (attempts?.spentBy === keyOf(fingerprint)) return true;
      if (attempts?.spentBy !== undefined) throw invalidCode("code was used already");
      if (nowMs > endsAtMs + releasedAfterMs) throw invalidCode("code expired");
      if (attempts === undefined && codes.size >= places) throw tooManyCodes();
      return false;
    },
    isSpent: (otpId) => codes.get(otpId)?.spentBy !== undefined,
    add({ otpId, endsAtMs, fingerprint, isSpent }) {
      const known = find(otpId);
      const attempts = known ?? { otpId: digestKey(otpId), endsAtMs, tried: [], spentBy: undefined };
      const body = keyOf(fingerprint);
      if (!attempts.tried.includes(body)) attempts.tried.push(body);
      if (isSpent) attempts.spentBy ??= body;
      if (known === undefined) codes.set(attempts.otpId, attempts, endsAtMs + keptAfterMs);
    },
    forget: (nowMs) => void codes.forget(nowMs),
    dropAfter(timeMs) {
      const later = [...codes.values()].filter(({ endsAtMs }) => endsAtMs > timeMs);
      for (const { otpId } of later) codes.delete(otpId);
    },
    *values() {
      for (const { otpId, endsAtMs, tried, spentBy } of codes.values()) {
        for (const body of tried) {
          yield { otpId: fromHex(otpId), endsAtMs, fingerprint: fromHex(body), isSpent: body === spentBy };
        }
      }
    },
  };
}

function keyOf(fingerprint: Uint8Array): string {
  return digestKey(fingerprint.subarray(0, attemptDigestLength));
}

function tooManyCodes(): Fault {
  return new Fault("resource_exhausted", "too many codes are being answered; try again in some minutes", {
    errorCode: "RATE_LIMIT_EXCEEDED",
  });
}
