/** Captchas that the courier has checked by their provider. The gateway has neither the secret nor the way out. */
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import type { CaptchaError, CaptchaRequest } from "../../frames/courier_messages.ts";
import { awaitCourier, type CourierAccess } from "./await_courier.ts";

export type CaptchaChecks = {
  /** Resolves where the provider vouches for the token. Throws in words for whoever sent it otherwise. */
  check(request: CaptchaRequest): Promise<void>;
};

/** Longer than the courier takes for one fetch, which is five seconds, and its start. */
const longestWaitMs = 10_000;

const codeOf = {
  refused: "permission_denied",
  unconfigured: "failed_precondition",
  unreachable: "unavailable",
  busy: "resource_exhausted",
} as const satisfies Record<CaptchaError, FaultCode>;

export function createCaptchaChecks({
  deadlineMs = longestWaitMs,
  ...access
}: CourierAccess & { deadlineMs?: number }): CaptchaChecks {
  return {
    async check(request) {
      const endsAt = performance.now() + deadlineMs;
      const isThere = await awaitCourier(access, endsAt);
      const leftMs = Math.max(endsAt - performance.now(), 0);
      // Not asked again where a courier ended: the token may be used up. Whoever sent it may solve another.
      const reply = isThere ? await access.courier.request("captcha", request, leftMs) : undefined;
      if (reply === undefined) throw new Fault("unavailable", "the courier does not answer; try again");
      if (reply.kind === "passed") return;
      const { error, reason } = reply.value;
      throw new Fault(codeOf[error], reason, { ...(error === "refused" && { errorCode: "REQUEST_NOT_AUTHORIZED" }) });
    },
  };
}
