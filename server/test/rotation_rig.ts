/** Signers with other root keys than the rig's own, for tests of what is sealed under which. */
import { randomBytes } from "node:crypto";
import { Fault } from "@keystead/core/fault.ts";
import { protocolVersion } from "../src/frames/frame.ts";
import type { Request } from "../src/frames/messages.ts";
import type { SignerLink } from "../src/gateway/link/signer_link.ts";
import { createOperations, type Operations } from "../src/signer/operations.ts";
import type { RootKeys } from "../src/signer/secrets/keyring.ts";
import { findDeployment } from "../src/store/across.ts";
import type { GatewayRig } from "./gateway_rig.ts";

export const freshKey = () => new Uint8Array(randomBytes(32));

/** A signer that was started with these keys on the rig's memory. */
export async function signerWith(rig: GatewayRig, keys: RootKeys, reseal: boolean): Promise<Operations> {
  const { memory, orders, clock, notes } = rig.signer;
  const operations = createOperations(
    keys,
    memory,
    { ...orders, reseal },
    () => clock.nowMs,
    (note) => notes.push(note),
  );
  operations.hello({ protocol: protocolVersion, keyring: await findDeployment(rig.store) });
  return operations;
}

/** The gateway's link to it; `requests` is how many it answers before it is gone. */
export function linkTo({ reseal }: Operations, requests = Number.POSITIVE_INFINITY): SignerLink {
  let answered = 0;
  const request = async (_kind: string, message: Request<"reseal">) => {
    answered += 1;
    if (answered <= requests) return reseal(message);
    // Whether the signer still answered does not matter: nobody is there to commit it.
    if (answered % 2 === 0) reseal(message);
    throw new Fault("unavailable", "killed");
  };
  return {
    request: request as unknown as SignerLink["request"],
    preparing: () => 0,
    queuedBytes: () => 0,
    attach: () => undefined,
    close: () => undefined,
  };
}
