/** Keys, for the activities that deal with them. Nothing of this exists outside the signer. */
import type { BundleSigner } from "@keystead/core/crypto/bundles.ts";
import type { HpkePrimitives } from "@keystead/core/crypto/hpke.ts";
import type { SigningMaths } from "@keystead/core/crypto/signing.ts";
import type { ImportTarget, KnownFacts } from "../state/entities.ts";
import type { KeyRecord, KeyRecordKind } from "../state/records.ts";

/** However the platform holds a P-256 private key. */
export type HpkeKey = object;

export type SessionKey = { publicKey: Uint8Array; privateKey: Uint8Array };

export type KeyAccess = {
  /** With `keys` inside for derivation and public keys. */
  readonly signing: SigningMaths;
  readonly hpke: HpkePrimitives<HpkeKey>;
  /** The service key that export and import bundles are signed with. */
  readonly bundleSigner: BundleSigner;
  /** The service key that sessions are signed with. */
  readonly notarizer: BundleSigner;
  /** The service key that client secrets are encrypted to. */
  readonly clientSecretKey: HpkeKey;
  /** Whether it is the public half of a service key, in hex: to those no secret is ever sent. */
  isServiceKey(publicKey: string): boolean;
  random(length: number): Uint8Array;
  /** A fresh key of P-256 for a session: 33 and 32 bytes. The caller wipes the private one. */
  newSessionKey(): SessionKey;
  /** The same for an import: 65 and 32 bytes. */
  newTargetKey(): SessionKey;
  /** What was found of the records that the activity wishes for, deleted ones too. Each is the signer's own word. */
  readonly records: readonly KeyRecord[];
  /** What differs from a record by now. */
  factsOf(id: string): KnownFacts | undefined;
  /** Opens a record's secret. The caller wipes it. */
  open(record: KeyRecord): Uint8Array;
  /**
   * Tells equal secrets of one organization without telling them: seeds of wallets, the secrets themselves of private keys. The
   * organization is the activity's own, unless one that is being born is named.
   */
  blindIndex(kind: KeyRecordKind, secret: Uint8Array, organizationId?: string): string;
  /**
   * What binds a new record to its secret, as hex: part of the record and of its id. Of a wallet it is over the bytes that are sealed.
   */
  tag(kind: KeyRecordKind, secret: Uint8Array, organizationId?: string): string;
  /** What has this secret already; a wish that no declaration could foresee. */
  findByBlindIndex(kind: KeyRecordKind, blindIndex: string): KeyRecord | undefined;
  /** An import target's private key, sealed for its page, and opened again. */
  sealTarget(targetId: string, privateKey: Uint8Array): string;
  /** Undefined when the root key was replaced since: then the target has ended before its time. */
  openTarget(target: ImportTarget): Uint8Array | undefined;
};

/** A record that an activity makes. The secret is sealed and wiped by whoever takes the outcome. */
export type NewRecord = { record: KeyRecord; secret: Uint8Array; blindIndex?: string };
