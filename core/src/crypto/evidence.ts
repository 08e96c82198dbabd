/** Evidence: what a request carries to show who sent it. How each kind is read and verified is in a file of its own, such as stamp.ts. */

/** Words are only ever added at the end: frames carry their places. */
export const evidenceKinds = [
  "apiKey",
  "webauthn",
  "readOnlySession",
  "attested",
  "attestedIdentity",
  "authProxy",
] as const;

export type EvidenceKind = (typeof evidenceKinds)[number];

/** Kinds that votes and leaves keep: those that may do more than read. */
export type KeptEvidenceKind = Exclude<EvidenceKind, "readOnlySession">;

/** Evidence as it was sent. Nothing of it has been read. */
export type SentEvidence<K extends EvidenceKind = EvidenceKind> = { readonly kind: K; readonly value: string };

/** What a vote shows of evidence: the three parts that clients expect, as they were sent. */
export type ShownEvidence = { publicKey: string; signature: string; scheme: string };

/** The scheme of what came through the auth proxy: nothing was stamped, and the body is the gateway's own. */
export const authProxyScheme = "AUTH_PROXY";
