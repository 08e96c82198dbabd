/**
 * Boxes sealed anew under the current root key, for a rotation. Each comes with what it belongs to: it opens for that alone, and
 * the new one is made for nothing else. Nothing plain leaves, so asking for it gains a gateway nothing.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { Reply, Request } from "../../frames/messages.ts";
import { decodeRecord, isKeyRecord, recordIdOf } from "../../state/records.ts";
import { proofsContext } from "../decision/app_proofs.ts";
import { bodyContext } from "../decision/body_boxes.ts";
import { secretContext } from "../decision/key_records.ts";
import { resultContext } from "../decision/results.ts";
import type { Signer } from "../decision/signer.ts";
import { keyringContext } from "../secrets/keyring.ts";
import { type SealContext, versionOf } from "../secrets/seal.ts";

export function reseal(signer: Signer, { boxes }: Request<"reseal">): Reply<"reseal"> {
  const { sealer } = signer;
  return boxes.map((box) => {
    const { sealed } = box.value;
    if (versionOf(sealed) === sealer.keyVersion) return sealed;
    const { context, name, isOwn } = placeOf(signer, box);
    const secret = open(signer, context, sealed, name);
    try {
      if (!isOwn(secret)) throw new Fault("failed_precondition", `the secret of ${name} is not the record's own`);
      return sealer.seal(context, secret);
    } finally {
      secret.fill(0);
    }
  });
}

type Box = Request<"reseal">["boxes"][number];

type BoxPlace = { context: SealContext; name: string; isOwn(secret: Uint8Array): boolean };

function placeOf({ keyring, draws }: Signer, box: Box): BoxPlace {
  const isOwn = () => true;
  if (box.kind === "keyring") return { context: keyringContext, name: "the keyring", isOwn };
  if (box.kind === "body")
    return { context: bodyContext(box.value), name: `the body ${toHex(box.value.fingerprint)}`, isOwn };
  if (box.kind === "leaf")
    return { context: resultContext(box.value.leaf), name: "a result that waits for its release", isOwn };
  if (box.kind === "proofs") return { context: proofsContext(box.value.leaf), name: "app proofs", isOwn };
  const record = decodeRecord(keyring.authenticity.check("record", box.value.content));
  if (!isKeyRecord(record)) throw new Fault("invalid_argument", `a ${record.kind} has no secret`);
  return {
    context: secretContext(record),
    name: `${record.kind} ${recordIdOf(record)}`,
    isOwn: (secret) => draws.isBound(record, secret),
  };
}

/** One that does not open stops the rotation: the old key must not go while anything could still need it. */
function open({ sealer }: Signer, context: SealContext, sealed: Uint8Array, name: string): Uint8Array {
  try {
    return sealer.unseal(context, sealed);
  } catch (cause) {
    throw new Fault("failed_precondition", `the secret of ${name} opens under neither root key`, { cause });
  }
}
