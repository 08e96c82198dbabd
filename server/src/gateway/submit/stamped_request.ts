import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import type { RequestSource } from "../../rules/ip_allowlists.ts";
import type { RecordWish } from "../../state/record_wish.ts";
import type { ActivityRow } from "../../store/activities.ts";
import type { StoredVote } from "../../views/activity_view.ts";
import type { KeyedRequest } from "./idempotency.ts";

/** What a sign-up claims for itself alone. */
export type SignUpRequest = {
  identities: readonly string[];
  /** Throws where somebody has one of them. Asked in each turn: another gateway may have been faster. */
  check(): Promise<void>;
};

/** What a client sent, and what the gateway read in it. */
export type StampedRequest = {
  /** Where it runs. */
  organizationId: string;
  /** The body names the parent of the organization that it runs in. */
  namesParent?: boolean;
  /** Members of the organization's parent may submit it too. */
  openToParent?: boolean;
  /** A recovery key may submit it, and ask what came of it. */
  byRecoveryKey?: boolean;
  body: Uint8Array;
  evidence: SentEvidence;
  /** Where it came from, for IP allowlists; undefined where nobody asks. */
  source?: RequestSource | undefined;
  /** The same, for what is counted by address. */
  address?: string | undefined;
  keyed?: KeyedRequest | undefined;
  signUp?: SignUpRequest | undefined;
  /** Of the body, once it has been read. */
  parameters?: unknown;
  /** The records that the activity looks at. */
  records: readonly RecordWish[];
  /** What it costs the signer, or what it votes on does. */
  cost: number;
  /** How much of the state it writes at most, in lengths of the whole state. */
  stateShare?: number;
  /** It asks for app proofs, or what it votes on does. */
  isProven?: boolean;
  /** The activity that this request votes on, and how. */
  vote?: {
    target: ActivityRow;
    /** The target's body in the signer's box, where its row has the shown form. */
    sealedBody?: Uint8Array | undefined;
    selection: StoredVote["selection"];
  };
};
