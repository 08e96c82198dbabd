/**
 * What a decision draws at random, as far as states and ids depend on it. A signer draws for itself; whoever executes a log anew has
 * no secrets, and takes from the log what was drawn then.
 */
import { randomBytes } from "node:crypto";
import { nodeCurves } from "../../curves/node_curves.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import type { SessionKey } from "../../endpoints/key_access.ts";
import { sha256 } from "../../state/digest.ts";
import type { Drawn } from "../../state/drawn.ts";
import type { KeyRecord, KeyRecordKind } from "../../state/records.ts";
import type { Keyring } from "./keyring.ts";
import { createVerdicts, type Verdicts } from "./verdicts.ts";

export type Draws = {
  /** Bytes for a new secret. */
  random(length: number): Uint8Array;
  /** The tag of a record that is being made. */
  tag(organizationId: string, kind: KeyRecordKind, secret: Uint8Array): string;
  /** Whether this is the secret that the record was made with. Records from before there were tags say nothing about it. */
  isBound(record: KeyRecord, secret: Uint8Array): boolean;
  /** A session's key pair. The caller wipes the private key. */
  sessionKey(): SessionKey;
  /** The key pair of an import: 65 and 32 bytes. The caller wipes the private key. */
  targetKey(): SessionKey;
  /** What an activity drew in all. */
  drawn(own: Drawn): Drawn;
  /** The digest of a page. One page has sealed boxes in it, which nobody else can write. */
  pageDigest(name: string, content: Uint8Array): Uint8Array;
  /** For one decision: what the memory and the secrets say. */
  verdicts(): Verdicts;
};

export function createDraws({ tag }: Keyring): Draws {
  return {
    random: (length) => new Uint8Array(randomBytes(length)),
    tag,
    isBound: (record, secret) =>
      record.tag === undefined || record.tag === tag(record.organizationId, record.kind, secret),
    sessionKey: newSessionKey,
    targetKey: newTargetKey,
    drawn: (own) => own,
    pageDigest: (_, content) => sha256(content),
    verdicts: createVerdicts,
  };
}

/** On P-256: the compressed point, and the scalar. */
export function newSessionKey(): SessionKey {
  const key = nodeHpke.generateKey();
  const publicKey = nodeCurves.compressPoint("p256", nodeHpke.publicKey(key));
  return { publicKey, privateKey: nodeHpke.exportKey(key) };
}

/** On P-256: the uncompressed point, and the scalar. */
export function newTargetKey(): SessionKey {
  const key = nodeHpke.generateKey();
  return { publicKey: nodeHpke.publicKey(key), privateKey: nodeHpke.exportKey(key) };
}
