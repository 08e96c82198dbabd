/** What a caller hands to a commit: one item per activity, and the leaves that were released since. */
import type { Change } from "../state/entities.ts";
import type { ActivityRow } from "./activities.ts";
import type { NewAppProofs } from "./app_proofs.ts";
import type { NewBootProof } from "./boot_proofs.ts";
import type { NewContactClaim } from "./contact_claims.ts";
import type { LogRows, PlacedLeaves } from "./log_rows.ts";
import type { NewCodeRow } from "./otp_codes.ts";
import type { NewMessage } from "./outbox.ts";
import type { NewSealedBody } from "./sealed_bodies.ts";
import type { NewSealedDisclosure } from "./sealed_disclosures.ts";

/** A record to be stored: its content with its MAC, its sealed secret, which is empty where there is none. */
export type NewRecordRow = { content: Uint8Array; sealed: Uint8Array; blindIndex?: string | undefined };

export type CommitItem = {
  organizationId: string;
  /**
   * The version it was prepared on: the database's, or the one the item before it in this group produces. Undefined for what was decided
   * on no state: that stands whatever the version is, even one that was changed and cannot be read.
   */
  expectedVersion: number | undefined;
  /** The header it was prepared on. A version alone could be another gateway's; with it, only this very state fits. */
  expectedHeader?: Uint8Array;
  /** Heads of other organizations that must stand, too: of a parent that acts in this one. Nothing of them is changed. */
  standing?: readonly { organizationId: string; header: Uint8Array }[];
  /** The organization's row is inserted, not updated. `keyring` comes with the deployment's first. */
  birth?: { parentId?: string; organizationName: string; keyring?: Uint8Array };
  /** Absent for items that change no state (failed, refused, pure signing): they only need the version to stand. */
  next?: {
    version: number;
    header: Uint8Array;
    directory: Uint8Array;
    /** Those that differ from the state before. */
    pages: readonly { name: string; content: Uint8Array }[];
  };
  /**
   * For the projection tables. As the signer's JSON until they are planned: an item that waits is some hundred kilobytes of text, and not
   * thousands of objects that the collector would visit again and again.
   */
  changes: readonly Change[] | string;
  /** Wallets, accounts, private keys and texts of interfaces that come into the world. */
  records?: readonly NewRecordRow[];
  leaf: { boot: string; number: number; leaf: Uint8Array; sealed?: Uint8Array; made?: Uint8Array };
  /** Bytes that the leaf names by their SHA-256 and that no other row has. */
  disclosed?: readonly Uint8Array[];
  /** Others, sealed until they have ended. */
  closed?: readonly NewSealedDisclosure[];
  /** New, or the next form of one that waited for consensus; a finished one is never overwritten. */
  activity?: ActivityRow;
  /** The whole body of a new one, where its row has the shown form. */
  sealedBody?: NewSealedBody;
  /** App proofs that it asked for, sealed, and what the decision was taken on. */
  appProofs?: NewAppProofs;
  /** A vote on an activity that exists already. */
  vote?: { activityId: string; voteId: string; vote: string; createdAtMs: number };
  /** One-time codes that it starts. */
  codes?: readonly NewCodeRow[];
  /** The code whose token it gives out. No other item may: it is spent. */
  spentCode?: { otpId: string };
  /** What policies said about that vote, or else about the submission, and JSON of why. */
  evaluations?: Uint8Array;
  explanation?: string;
  /** What the client's idempotency key stands for from now on. */
  idempotency?: { userId: string; idempotencyKey: string; request: string; createdAtMs: number };
  /** Identities that the organization which it brings into the world signs up with. No other sign-up may have one of them. */
  signUpIdentities?: readonly string[];
  /** Contacts that lead to this organization's users from now on. Where one leads to another user, everything is refused. */
  contactClaims?: readonly NewContactClaim[];
  /** Messages to be sent once this is committed. */
  outbox?: readonly NewMessage[];
  /** What a start of the signer shows about itself; it comes with the leaf of that start. */
  bootProof?: NewBootProof;
  /** Of a refusal at submission: whose it is, and what it takes. The user may be one of the parent's. */
  refused?: Refusal;
  /** Organizations this item brings into the world: they commit with it, or not at all. */
  births?: readonly CommitItem[];
};

/** A refused user, named in its own organization wherever the request ran, and the bytes that storing the refusal takes. */
export type Refusal = { organizationId: string; userId: string; day: number; bytes: number };

/** A leaf of an earlier group that the signer has released. `result` and `proofs` are the opened JSON, for the activity's rows. */
export type ReleasedLeaf = {
  organizationId: string;
  boot: string;
  number: number;
  activityId?: string;
  result?: string;
  proofs?: string;
};

/** What a group writes of earlier ones: that leaves were released, and where they stand in the log. */
export type Marks = { released: readonly ReleasedLeaf[] } & LogRows;

/** What is committed together: items, and of earlier ones what was released and where it stands in the log. */
export type CommitGroup = [items: readonly CommitItem[], released: readonly ReleasedLeaf[], placed?: PlacedLeaves];

/** `workedMs`: how long a thread planned it and the database wrote it. PostgreSQL's part is from its statement to its answer. */
export type CommittedGroup = { committed: boolean[]; workedMs: number };
