/** Orders of the signer that the courier carries out. The gateway brings both boxes, and can open neither. */
import { Fault, type FaultCode } from "@keystead/core/fault.ts";
import type { Oauth2Error, Oauth2Reply, Oauth2Request } from "../../frames/courier_messages.ts";
import { awaitCourier, type CourierAccess } from "./await_courier.ts";

export type CourierOrders = {
  /** The courier's sealed answer. Throws where the code was not exchanged, in words for whoever asked. */
  exchange(request: Oauth2Request): Promise<Uint8Array>;
};

export type CourierOrdersDependencies = CourierAccess & { deadlineMs?: number };

/** Longer than the courier takes for two fetches, which is ten seconds, and its start. */
const longestWaitMs = 15_000;

const codeOf = {
  invalid: "unavailable",
  unconfigured: "failed_precondition",
  refused: "invalid_argument",
  unreachable: "unavailable",
  busy: "resource_exhausted",
} as const satisfies Record<Oauth2Error, FaultCode>;

export function createCourierOrders(dependencies: CourierOrdersDependencies): CourierOrders {
  const { courier, deadlineMs = longestWaitMs } = dependencies;

  /** An order whose courier ended is not given to the next: the code may be used up. The client is told, and may send it again. */
  async function ask(request: Oauth2Request): Promise<Oauth2Reply | undefined> {
    const endsAt = performance.now() + deadlineMs;
    if (!(await awaitCourier(dependencies, endsAt))) return undefined;
    return courier.request("oauth2", request, Math.max(endsAt - performance.now(), 0));
  }

  return {
    async exchange(request) {
      const reply = await ask(request);
      if (reply === undefined) throw new Fault("unavailable", "the courier does not answer; try again");
      if (reply.kind === "answer") return Uint8Array.from(reply.value.sealed);
      const { error, reason } = reply.value;
      throw new Fault(codeOf[error], reason, {
        ...(error === "unconfigured" && { errorCode: "OAUTH2_PROVIDER_NOT_CONFIGURED" }),
      });
    },
  };
}

/** Of a gateway that has no courier. */
export const noOrders: CourierOrders = {
  exchange: () => Promise.reject(new Fault("unavailable", "codes cannot be exchanged here")),
};
