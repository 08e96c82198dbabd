/** A read-only session: a value that the signer has given to one user, for queries alone. It says nothing about the body. */
import {
  parseReadOnlySession,
  type SentReadOnlySession,
  verifyReadOnlySession,
} from "@keystead/core/crypto/read_only_session.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { EvidenceRow } from "./evidence_row.ts";

const unknownCode = "CREDENTIAL_NOT_FOUND";
const invalidCode = "SIGNATURE_INVALID";

export const readOnlySessionEvidence: EvidenceRow<SentReadOnlySession> = {
  header: "x-session",
  forQueriesOnly: true,
  schemes: [],
  parse(_, value) {
    try {
      return parseReadOnlySession(value);
    } catch (cause) {
      throw new Fault("unauthenticated", "malformed activity stamp: not a read-only session", {
        errorCode: invalidCode,
        cause,
      });
    }
  },
  lookup: ({ organizationId, userId }) => ({ by: "user", organizationId, userId }),
  endsAtMs: ({ expiresAtSeconds }) => expiresAtSeconds * 1000,
  verify: ({ curves, notarizerKey }, session) => {
    if (notarizerKey === undefined) throw new Fault("unavailable", "the signer is not ready; try again");
    return verifyReadOnlySession(curves, notarizerKey, session);
  },
  needsOrigins: false,
  keep: neverKept,
  show: neverKept,
  fromShown: neverKept,
  unknownCode,
  invalidCode,
  /** The same whether the user was deleted or belongs to somebody else. */
  unknown: () =>
    new Fault("unauthenticated", "could not find the user of this read-only session in organization or its parent", {
      errorCode: unknownCode,
    }),
  expired: () => new Fault("unauthenticated", "expired read-only session", { errorCode: "UNAUTHENTICATED" }),
  unverified: () => new Fault("unauthenticated", "could not verify read-only session", { errorCode: invalidCode }),
  ambiguous: () => new Fault("internal", "a read-only session names one organization"),
};

/** Nothing that leaves a vote or a leaf is done with one. */
function neverKept(): never {
  throw new Fault("internal", "a read-only session is never kept");
}
