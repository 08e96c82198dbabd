/**
 * What a decision was taken on: the preimage of `decisionContextDigest` in app proofs. Long parts (pages, records, the directory) are named
 * by their SHA-256 and kept beside it, so that a thousand decisions on one state keep its pages once. Layout: SPEC.md in this folder.
 */
import { toHex } from "@keystead/core/encoding/hex.ts";
import {
  bool,
  bytesUpTo,
  decode,
  encode,
  fixed,
  list,
  optional,
  struct,
  textUpTo,
  u8,
  u32,
  u64,
  type ValueOf,
} from "@keystead/core/encoding/layout.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";

const approvalLayout = struct({
  userId: textUpTo(36),
  credentialId: textUpTo(36),
  credentialType: optional(textUpTo(128)),
  atMs: u64,
});

const fieldsOfFormat1 = {
  format: u8,
  rulesVersion: u32,
  organizationId: fixed(16),
  activityType: textUpTo(128),
  /** SHA-256 of the submitted body, which lies with its activity: it may hold what is secret for a while. */
  fingerprint: fixed(32),
  proposerId: textUpTo(36),
  /** All that there were, also those that no longer count. */
  approvals: list(approvalLayout),
  /** SHA-256 of the evidence that this decision came with, as its leaf has it. */
  evidence: fixed(32),
  isWaiting: bool,
  isByParent: bool,
  isByAuthProxy: bool,
  nowMs: u64,
  /** Approvals up to this time do not count: when the operator last accepted a database. */
  acceptedAtMs: u64,
  /** The header of the organization's state, and the digest of its directory where that is kept. */
  header: bytesUpTo(512),
  directory: optional(fixed(32)),
  /** Every state that was looked at, as the leaf names them. */
  states: list(struct({ organizationId: fixed(16), version: u64, digest: fixed(32) }), 8),
  /** The pages that the rules read, and whose they are: a parent's, where it acted in its sub-organization. */
  pages: list(struct({ organizationId: fixed(16), name: textUpTo(64), digest: fixed(32) })),
  /** Keys and interfaces that the rules looked at, by the digests of their records. */
  records: list(fixed(32)),
};

const format1 = struct(fieldsOfFormat1);

const format2 = struct({
  ...fieldsOfFormat1,
  /** Of a parent that acted in its sub-organization: the header of the state that its pages are of. Format 1 does not bind them to any. */
  parentHeader: optional(bytesUpTo(512)),
});

export type DecisionContextContent = Omit<ValueOf<typeof format2>, "format">;

/** New contexts have format 2. */
export function encodeDecisionContext(context: DecisionContextContent): Uint8Array<ArrayBuffer> {
  return encode(format2, { format: 2, ...context });
}

export function decodeDecisionContext(content: Uint8Array): DecisionContextContent {
  const [first] = content;
  if (first !== 1 && first !== 2) {
    throw new Fault("invalid_argument", `unknown format ${first} of a decision's context`);
  }
  const { format: _, ...context } =
    first === 1 ? { ...decode(format1, content), parentHeader: undefined } : decode(format2, content);
  if (context.parentHeader !== undefined) decodeHeader(context.parentHeader);
  return context;
}

/** What a context does not hold itself: the hex of each part's digest, with the organization whose members may read it. */
export function partsOf({
  organizationId,
  directory,
  parentHeader,
  pages,
  records,
}: DecisionContextContent): Map<string, string> {
  const own = [...(directory === undefined ? [] : [directory]), ...records];
  const parent = parentHeader && decodeHeader(parentHeader);
  return new Map(
    [
      ...own.map((digest) => ({ organizationId, digest })),
      ...(parent === undefined ? [] : [{ organizationId: parent.organizationId, digest: parent.directory }]),
      ...pages,
    ].map(({ organizationId: ownerId, digest }) => [toHex(digest), uuidFromBytes(ownerId)]),
  );
}

/** A context or a part of one, as it is stored by its SHA-256. */
export type KeptPart = {
  /** The organization whose members may read it: a parent's pages are not its sub-organization's to show. */
  ownerId: string;
  content: Uint8Array;
};
