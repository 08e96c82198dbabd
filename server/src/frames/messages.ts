/**
 * What gateway and signer say to each other: one request, one reply. Nothing here carries an identity, a time or an
 * "allowed": those the signer finds for itself in the stamped bytes and in state it has authenticated.
 */
import { evidenceKinds } from "@keystead/core/crypto/evidence.ts";
import {
  bool,
  bytes,
  fixed,
  list,
  oneOf,
  optional,
  struct,
  text,
  u8,
  u32,
  u64,
  type ValueOf,
  variant,
} from "@keystead/core/encoding/layout.ts";
import { channels } from "../outbox/message.ts";
import { contactKinds, markProofs } from "../state/contacts.ts";

const page = struct({ name: text, content: bytes });

/** An organization's state as the gateway offers it, whole, from the database. */
export const offeredState = struct({
  /** The header with its MAC. */
  header: bytes,
  directory: bytes,
  pages: list(page),
  /** Headers with MACs that lead from the signer's pin to this state, oldest first. */
  links: list(bytes),
});

/** Something that the signer lacks to decide. The gateway sends the same bytes again, with it or having looked for it. */
const wish = variant({
  /** The state: the signer has none at hand, or one that was never committed. */
  state: struct({}),
  /** The state, with the headers from this version on: only they can place it. */
  links: struct({ from: u64 }),
  /** The state, with the fingerprints of this journal. */
  journal: struct({ slot: u32 }),
  /** A page that a state may be offered without. */
  page: struct({ name: text }),
  /**
   * A page of another organization's state, with that organization's headers from this version on. Where its newest state is the one with
   * this digest, the signer has the page at hand, and the header will do.
   */
  otherState: struct({ organizationId: text, page: text, linksFrom: u64, atHand: optional(fixed(32)) }),
  /** JSON of a `RecordWish` that the activity's declaration did not foresee. */
  record: struct({ wish: text }),
  /** That this committed leaf is released, as by another host: the signer has prepared it, and a record here is of its making. */
  leaf: struct({ boot: text, number: u64 }),
  /** One of the few attempts at a one-time code, for this body. */
  attempt: struct({ otpId: text }),
  /** A statement of the courier about an issuer of identity tokens, fetched later than that; 0: any that is up to an hour old. */
  issuer: struct({ issuer: text, newerThanMs: u64 }),
  /** The courier's answer to this order, which is sealed for it (`../outbox/SPEC.md`). */
  oauth2: struct({ order: bytes }),
});

/** A record as it is stored: its content with its MAC, and its sealed secret, which is empty where there is none. */
const storedRecord = struct({ content: bytes, sealed: bytes });

/** The state an activity leads to. */
const nextState = struct({ version: u64, header: bytes, directory: bytes, pages: list(page) });

/** Everything one committed transaction holds of an activity, or of an organization that is born. SPEC.md names the fields. */
const prepared = struct({
  organizationId: text,
  expectedVersion: u64,
  /** The header of the state it was decided on; none before a birth. */
  expectedHeader: optional(bytes),
  /** States of other organizations that must be their newest when this is committed. Nothing of them changes. */
  standing: list(struct({ organizationId: text, header: bytes })),
  birth: optional(struct({ parentId: optional(text), organizationName: text, keyring: optional(bytes) })),
  next: optional(nextState),
  /** JSON of `Change[]`, for the projection tables. */
  changes: text,
  /** Contacts that it has verified, of users of a sub-organization. */
  marks: list(
    struct({ parentId: text, userId: text, kind: oneOf(contactKinds), contact: text, proof: oneOf(markProofs) }),
  ),
  /** Records of one-time codes that it starts, with their MACs, and the code whose token it gives out. */
  codes: list(struct({ otpId: text, content: bytes })),
  spentCode: optional(struct({ otpId: text })),
  /** Records that come into the world, as they are stored; the blind index tells equal secrets without telling them. */
  records: list(struct({ content: bytes, sealed: bytes, blindIndex: optional(text) })),
  /** Tags and digests of these records, as `drawn.ts` writes them: kept beside the leaf, for whoever executes the log anew. */
  made: optional(bytes),
  /** Bytes that the leaf names by their SHA-256 and that no other row has: kept for whoever checks or executes the log. */
  disclosed: list(bytes),
  /** The same of tokens, each sealed until it has ended. */
  closed: list(struct({ digest: fixed(32), endsAtMs: u64, sealed: bytes })),
  /** App proofs, sealed until the leaf is released, and what the decision was taken on: its context first, then the parts of that. */
  proofs: optional(bytes),
  context: optional(list(struct({ ownerId: text, content: bytes }))),
  /** Messages to be sent, sealed for the courier (`../outbox/SPEC.md`). */
  outbox: list(
    struct({
      messageId: text,
      channel: oneOf(channels),
      expiresAtMs: u64,
      sealed: bytes,
      /** Of mail: whom it is for and the sender that was asked for, as the body has them too. */
      toAddress: optional(text),
      fromAddress: optional(text),
    }),
  ),
  /** The leaf's name, and the leaf with its MAC. */
  boot: fixed(16),
  number: u64,
  leaf: bytes,
  sealed: optional(bytes),
  /** What each policy said, as `policy_evaluations.ts` writes it; none when no policy was asked. It belongs to the caller's vote. */
  evaluations: optional(bytes),
  /** Why, as `policy_explanations.ts` writes it. */
  explanation: optional(text),
  activity: optional(
    struct({
      activityId: text,
      /** False when it waited for consensus: its row is stored already, and changes. */
      isNew: bool,
      type: text,
      status: text,
      fingerprint: fixed(32),
      /** JSON of the caller's `User`, for the answer's vote. */
      user: text,
      slot: optional(u32),
      createdAtMs: u64,
      updatedAtMs: u64,
      /** The body of a new one, where that holds a bearer value: it is stored so, and not otherwise, until then. */
      sealedBody: optional(struct({ endsAtMs: u64, sealed: bytes })),
      /** JSON of the result, or of the failure; a sealed result stands in `sealed` instead. */
      result: optional(text),
      failure: optional(text),
    }),
  ),
});

/**
 * How a head in the database stands to the newest state of its organization that the signer has released. `UNLED` is one that would
 * be ahead, and to which the heads of the same request do not lead: the signer will not decide on it.
 */
export const headStandings = ["FOREIGN", "RELEASED", "AHEAD", "BEHIND", "FORKED", "UNKNOWN", "UNLED"] as const;

/** A body with a bearer value, sealed, and whose it is. */
const storedBody = struct({ organizationId: text, fingerprint: fixed(32), sealed: bytes });

/** A committed row as it is stored. */
const releaseRow = struct({ leaf: bytes, sealed: optional(bytes) });

/** Where a leaf stands in the log, and what stands there for it. */
const place = struct({ position: u64, ordinal: u64, entry: fixed(32) });

export const messages = {
  hello: {
    request: struct({ protocol: u8, keyring: optional(bytes) }),
    reply: struct({
      /** False when the database must be empty too, or an operator has to accept it. */
      remembers: bool,
      /** Names and public keys of the deployment's service keys, as JSON; empty before birth. */
      publicKeys: text,
    }),
  },
  birth: { request: struct({}), reply: prepared },
  prepare: {
    request: struct({
      body: bytes,
      evidence: struct({ kind: oneOf(evidenceKinds), value: text }),
      /** Where it runs, if that is a sub-organization of the one that the body names. */
      subOrganizationId: optional(text),
      /** Absent: decide on the state that the request before this one led to. */
      state: optional(offeredState),
      /** The fingerprints of the one journal the body falls into, in order. */
      journal: optional(bytes),
      /** The body of the activity that this one votes on, or the signer's own box of it. */
      target: optional(bytes),
      /** What was found of the records that the activity, or the one it votes on, wishes for. */
      records: list(storedRecord),
      /** JSON of the wishes beyond its declaration that were looked for. */
      wishes: list(text),
      /** Pages that were asked for. */
      pages: list(page),
      /** States of other organizations that were asked for, each with the pages that were asked for. */
      others: list(offeredState),
      /** What the courier said: statements about issuers (`core/src/oidc/SPEC.md`), answers to orders (`../outbox/SPEC.md`). */
      statements: list(bytes),
    }),
    /** The activity's own rows first, then those of each organization it brings into the world. */
    reply: variant({ prepared: list(prepared), again: list(wish) }),
  },
  release: {
    request: struct({ rows: list(releaseRow), links: list(bytes) }),
    reply: list(
      variant({
        /** The place comes with the release that appended it, and with no other. */
        released: struct({ result: optional(text), place: optional(place) }),
        refused: struct({ message: text }),
        /** Headers that are lacking to place the row, of every organization it names. */
        again: list(struct({ organizationId: text, linksFrom: u64, linksTo: u64 })),
      }),
    ),
  },
  /** Bodies whose bearer values have ended, for whoever may read them now. */
  openBodies: {
    request: struct({ bodies: list(storedBody) }),
    reply: list(variant({ opened: struct({ body: bytes }), early: struct({}), refused: struct({ message: text }) })),
  },
  statement: { request: struct({ page: u32 }), reply: struct({ statement: bytes, signature: bytes }) },
  /** What of a database the signer itself has written. Nothing is decided by it, and nothing secret is answered. */
  vouch: {
    request: struct({
      leaves: list(bytes),
      heads: list(bytes),
      records: list(storedRecord),
      bodies: list(storedBody),
    }),
    reply: struct({
      leaves: list(bool),
      heads: list(struct({ standing: oneOf(headStandings), releasedVersion: optional(u64) })),
      /** Whether the content is the signer's own, whether the box opens for it, and what its secret is found by. */
      records: list(struct({ own: bool, opens: bool, blindIndex: optional(text) })),
      /** SHA-256 of the shown form of each, and when its box may be opened; none where it does not open. */
      bodies: list(optional(struct({ shown: fixed(32), endsAtMs: u64 }))),
    }),
  },
  /** The organizations that the signer has released something of, in pages. */
  pins: {
    request: struct({ page: u32 }),
    reply: struct({ pages: u32, pins: list(struct({ organizationId: fixed(16), version: u64 })) }),
  },
  accept: {
    request: struct({ headers: list(bytes), last: bool }),
    reply: struct({ lines: list(text), leaf: optional(prepared) }),
  },
  /** Boxes with what they belong to; each comes back sealed under the current root key, in the same order. */
  reseal: {
    request: struct({
      boxes: list(
        variant({
          record: storedRecord,
          leaf: struct({ leaf: bytes, sealed: bytes }),
          body: storedBody,
          keyring: struct({ sealed: bytes }),
          proofs: struct({ leaf: bytes, sealed: bytes }),
        }),
      ),
    }),
    reply: list(bytes),
  },
  /** The signer's log as its memory has it; none before one is opened. */
  logState: {
    request: struct({}),
    reply: optional(
      struct({
        logId: fixed(16),
        origin: text,
        isListed: bool,
        size: u64,
        checkpointSize: u64,
        /** Leaves from before the log are still to be taken in. */
        isOwed: bool,
      }),
    ),
  },
  /** The operator's act that lists the log in the first organization, whose newest state is offered. */
  openLog: {
    request: struct({ state: offeredState, checkpoints: list(text) }),
    reply: variant({ prepared, again: struct({ linksFrom: u64 }) }),
  },
  /** What was appended from this position on, as far as the memory still has it, in portions. */
  logTail: {
    request: struct({ from: u64 }),
    reply: struct({
      size: u64,
      /** The position of the first one here; later than asked for where the memory has forgotten those before. */
      first: u64,
      leaves: list(struct({ organizationId: fixed(16), boot: fixed(16), number: u64, ordinal: u64, entry: fixed(32) })),
    }),
  },
  /** Leaves of a database from before the log, by organization, boot and number; released ones that never came are named at the end. */
  takeIn: {
    request: struct({ leaves: list(bytes), last: bool }),
    reply: struct({
      places: list(optional(place)),
      missing: list(struct({ boot: fixed(16), first: u64, last: u64 })),
    }),
  },
  /** All below this size is stored. The reply is the signed note of the checkpoint. */
  checkpoint: { request: struct({ size: u64 }), reply: struct({ note: text }) },
  /** How many leaves of an organization are in the log. The first organization's state says which logs there are. */
  logStatement: {
    request: struct({ organizationId: text, first: offeredState }),
    reply: variant({ signed: struct({ note: text }), again: struct({ linksFrom: u64 }) }),
  },
  /** App proofs of leaves that are released, as JSON. */
  openProofs: {
    request: struct({ rows: list(struct({ leaf: bytes, proofs: bytes })) }),
    reply: list(variant({ opened: struct({ proofs: text }), refused: struct({ message: text }) })),
  },
  /** The leaf of this start of the signer, the bytes of its boot proof, and the list of files whose digest that names. */
  boot: {
    request: struct({}),
    reply: struct({
      prepared,
      proof: bytes,
      loadedFiles: bytes,
      /** The attestation root, DER: for anyone to pin. */
      rootCertificate: bytes,
    }),
  },
} as const;

export const faultMessage = struct({ code: text, message: text, errorCode: text, details: text });

export type StoredBody = ValueOf<typeof storedBody>;
export type StoredRecord = ValueOf<typeof storedRecord>;
export type OfferedState = ValueOf<typeof offeredState>;
export type Prepared = ValueOf<typeof prepared>;
export type Wish = ValueOf<typeof wish>;
export type NextState = ValueOf<typeof nextState>;
export type HeadStanding = (typeof headStandings)[number];
export type Place = ValueOf<typeof place>;
export type ReleaseRow = ValueOf<typeof releaseRow>;
export type MessageKind = keyof typeof messages;
export type Request<K extends MessageKind> = ValueOf<(typeof messages)[K]["request"]>;
export type Reply<K extends MessageKind> = ValueOf<(typeof messages)[K]["reply"]>;
