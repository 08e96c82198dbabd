/**
 * Bodies with a bearer value. They leave sealed, for whoever stores them, and are opened to nobody before the time that the box itself
 * names has come by the signer's own clock.
 */

import { toHex } from "@keystead/core/encoding/hex.ts";
import { bytes, decode, encode, struct, u64 } from "@keystead/core/encoding/layout.ts";
import { Fault } from "@keystead/core/fault.ts";
import { closedEvidence } from "../../evidence/evidence.ts";
import type { Prepared, Reply, Request } from "../../frames/messages.ts";
import { bearerEndsAtMs } from "../../rules/bearer_params.ts";
import { sha256 } from "../../state/digest.ts";
import type { SealContext } from "../secrets/seal.ts";
import type { Act } from "./act.ts";
import type { Signer } from "./signer.ts";

/** What a box holds. */
const boxedBody = struct({ endsAtMs: u64, body: bytes });

/** Whose body it is. Anywhere else the box does not open. */
export type BodyName = { organizationId: string; fingerprint: Uint8Array };

export function bodyContext({ organizationId, fingerprint }: BodyName): SealContext {
  return { purpose: "sealed_bodies.sealed", organizationId, recordId: toHex(fingerprint) };
}

type SealedBody = NonNullable<Prepared["activity"]>["sealedBody"];

/**
 * The box of a new activity's body, where that has a bearer value. A result with one keeps it closed until that has ended, too: whoever
 * could read the body would have it and its stamp, and with them the result.
 */
export function sealBodyOf({ signer, state, asked, nowMs }: Act, resultEndsAtMs = 0): SealedBody {
  const { form, envelope, fingerprint, body } = asked;
  const paramsEndAtMs = bearerEndsAtMs(form, envelope.parameters, nowMs);
  if (paramsEndAtMs === undefined) return undefined;
  const endsAtMs = Math.max(paramsEndAtMs, resultEndsAtMs);
  const name = { organizationId: state.organizationId, fingerprint };
  return { endsAtMs, sealed: signer.sealer.seal(bodyContext(name), encode(boxedBody, { endsAtMs, body })) };
}

/** The token that a stamp came with, which the leaf names by its digest. It leaves like a body of that fingerprint. */
export function sealEvidenceOf({ signer, caller }: Act, organizationId: string): Prepared["closed"] {
  return closedEvidence(caller.evidence).map(({ content, endsAtMs }) => {
    const digest = sha256(content);
    const box = encode(boxedBody, { endsAtMs, body: content });
    return { digest, endsAtMs, sealed: signer.sealer.seal(bodyContext({ organizationId, fingerprint: digest }), box) };
  });
}

/** For the signer alone. Throws `internal` for what is not its own box of this very body. */
export function openBody(
  { sealer }: Pick<Signer, "sealer">,
  name: BodyName,
  sealed: Uint8Array,
): { endsAtMs: number; body: Uint8Array } {
  const opened = decode(boxedBody, sealer.unseal(bodyContext(name), sealed));
  if (toHex(sha256(opened.body)) !== toHex(name.fingerprint)) throw new Fault("internal", "a box holds another body");
  return opened;
}

/** For the gateway: what has ended is a secret no more. */
export function openBodies(signer: Signer, { bodies }: Request<"openBodies">): Reply<"openBodies"> {
  const nowMs = signer.now();
  return bodies.map(({ sealed, ...name }) => {
    try {
      const { endsAtMs, body } = openBody(signer, name, sealed);
      return endsAtMs <= nowMs ? { kind: "opened", value: { body } } : { kind: "early", value: {} };
    } catch (error) {
      if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
      throw error;
    }
  });
}
