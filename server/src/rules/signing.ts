/** How what `signWith` names signs: which scheme, and the secret in memory for no longer than that takes. */
import {
  checkTotalLength,
  type HashFunction,
  type PayloadEncoding,
  readingPayload,
} from "@keystead/core/crypto/payload.ts";
import { type Signature, signBytes, toWireSignature, type WireSignature } from "@keystead/core/crypto/signing.ts";
import { getAddressUse } from "@keystead/core/keys/address_formats.ts";
import { keyCurves, type SignatureScheme } from "@keystead/core/keys/key_curves.ts";
import { mapWithPauses, type Work } from "@keystead/core/work.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { KeyAccess } from "../endpoints/key_access.ts";
import { getSigningResource, type SigningResource } from "./keys.ts";

/** Something to sign, as its scheme takes it. */
export type ToSign = { scheme: SignatureScheme; bytes: Uint8Array };

/** The address format chooses the scheme; a private key that is named by its id has its curve's. */
export function schemeOf({ record, addressFormat }: SigningResource): SignatureScheme {
  if (addressFormat === undefined) return keyCurves[record.curve].scheme;
  return getAddressUse(addressFormat, record.curve).scheme;
}

/** Signs all of it with one secret, which is opened here and wiped. */
export function* signAll(keys: KeyAccess, { record }: SigningResource, items: readonly ToSign[]): Work<Signature[]> {
  const secret = keys.open(record);
  try {
    return yield* mapWithPauses(items, ({ scheme, bytes }) =>
      signBytes(keys.signing, scheme, record.curve, secret, bytes),
    );
  } finally {
    secret.fill(0);
  }
}

/** Signs payloads in their order. All of them are read before the secret is opened: one that is refused refuses all. */
export function* signPayloads(
  { keys, curves }: Pick<ActivityContext, "keys" | "curves">,
  signWith: string,
  payloads: readonly string[],
  { encoding, hashFunction }: { encoding: PayloadEncoding; hashFunction: HashFunction },
): Work<WireSignature[]> {
  const resource = getSigningResource(keys, signWith);
  const scheme = schemeOf(resource);
  checkTotalLength(payloads, encoding);
  const items: ToSign[] = [];
  for (const payload of payloads) {
    const { bytes } = yield* readingPayload(curves, scheme, { payload, encoding, hashFunction });
    items.push({ scheme, bytes });
    yield;
  }
  return (yield* signAll(keys, resource, items)).map(toWireSignature);
}
