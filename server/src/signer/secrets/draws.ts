/**
 * What a decision draws at random, as far as states and ids depend on it. A signer draws for itself; whoever executes a log anew has
 * no secrets, and takes from the log what was drawn then.
 */
import { nodeCurves } from "../../curves/node_curves.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import type { SessionKey } from "../../endpoints/key_access.ts";
import type { Drawn } from "../../state/drawn.ts";
import type { KeyRecord, KeyRecordKind } from "../../state/records.ts";
import type { Keyring } from "./keyring.ts";

export type Draws = {
  /** The tag of a record that is being made. */
  tag(organizationId: string, kind: KeyRecordKind, secret: Uint8Array): string;
  /** Whether this is the secret that the record was made with. Records from before there were tags say nothing about it. */
  isBound(record: KeyRecord, secret: Uint8Array): boolean;
  /** A session's key pair. The caller wipes the private key. */
  sessionKey(): SessionKey;
  /** What an activity drew in all. */
  drawn(own: Drawn): Drawn;
};

export function createDraws({ tag }: Keyring): Draws {
  return {
    tag,
    isBound: (record, secret) =>
      record.tag === undefined || record.tag === tag(record.organizationId, record.kind, secret),
    sessionKey: newSessionKey,
    drawn: (own) => own,
  };
}

/** On P-256: the compressed point, and the scalar. */
export function newSessionKey(): SessionKey {
  const key = nodeHpke.generateKey();
  const publicKey = nodeCurves.compressPoint("p256", nodeHpke.publicKey(key));
  return { publicKey, privateKey: nodeHpke.exportKey(key) };
}
