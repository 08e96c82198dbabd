/** The words of leaves, the same in all formats. They are only ever added at the end: their places are on disk. */

/** What the leaf records of an act. */
export const leafEvents = [
  "COMPLETED",
  "FAILED",
  "REJECTED",
  "SUBMITTED",
  "VOTED",
  "BIRTH",
  "DATABASE_ACCEPTED",
  "LOG_OPENED",
  "BOOTED",
] as const;

/** Why the signer let an activity run, or did not. */
export const leafGrounds = ["NONE", "ROOT_QUORUM", "OWN_CREDENTIAL", "POLICY", "OPERATOR", "AUTH_PROXY"] as const;

/** What a decision may take from outside. */
export const outsideKinds = [
  "issuerKey",
  "oauth2Identity",
  "openedLog",
  "memoryVerdict",
  "made",
  "importTarget",
  "order",
] as const;

export type LeafEvent = (typeof leafEvents)[number];

/** What the operator brought about: no activity stands behind it. */
const operatorEvents: readonly LeafEvent[] = ["BIRTH", "DATABASE_ACCEPTED", "LOG_OPENED", "BOOTED"];

export function isOperatorEvent(event: LeafEvent): boolean {
  return operatorEvents.includes(event);
}
export type LeafGrounds = (typeof leafGrounds)[number];
