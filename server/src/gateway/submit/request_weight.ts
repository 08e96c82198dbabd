/** What a request weighs in admission: its own cost and bytes, and those of the state that it reads and writes. */
import { costOfState } from "../../endpoints/cost.ts";
import type { Request } from "../../frames/messages.ts";
import type { Weight } from "../bounds/admission_limits.ts";
import { lengthOf } from "./page_lengths.ts";

export type WeighedRequest = {
  body: Uint8Array;
  target?: Uint8Array | undefined;
  /** What it costs the signer, in the units of `endpoints/cost.ts`, whatever the state. */
  cost: number;
  /** How much of the state it writes at most: `stateShareOf`. */
  stateShare?: number;
  /** Of the state that it will be decided on, in bytes, as far as it is known. */
  stateLength?: number;
  /** Of the parent's state, where its pages are kept with app proofs. */
  parentLength?: number;
  /** Of the pages of key facts that the signer is likely to ask for, in bytes. */
  factsLength?: number;
};

const factsPages = 256;

/**
 * No request takes more room for what it will be answered: all of it is never there, and who needs as much would wait for a moment at which
 * nobody else asks for anything.
 */
const mostReply = 16 * 1024 * 1024;

/** Of an organization's pages of key facts, those that so many records lie in: each may be in another one. */
export function factsOfRecords(records: number, allFacts: number): number {
  return Math.ceil((allFacts * Math.min(records, factsPages)) / factsPages);
}

/** Leaf, row and votes, whatever was asked for. */
const rowBytes = 4 * 1024;

/** Of what a microsecond makes: a signature, an address with its record. */
const bytesPerCost = 2;

/**
 * Of what changes, for each byte of a body: an id of 39 bytes can have a user of a kilobyte or more written anew. All users together are no
 * longer than their state.
 */
const changedPerByte = 40;

/** `offersState`: whether the state is likely to go along. */
export function weightOf(request: WeighedRequest, offersState: boolean): Required<Weight> {
  const { body, target, cost, stateShare = 1, stateLength = 0, parentLength = 0, factsLength = 0 } = request;
  const bytes = body.length + (target?.length ?? 0);
  const offered = (offersState ? stateLength : 0) + factsLength;
  const written = stateLength * stateShare + parentLength + factsLength;
  const changed = stateShare < 1 ? 0 : Math.min(stateLength, changedPerByte * bytes);
  return {
    cost: cost + costOfState({ read: offered, written }),
    bytes,
    offered,
    // Room is taken for the most that it may write: what writes seldom costs little, but whoever floods chooses what does. In whole bytes,
    // because what is added must be gone when it is taken away again.
    reply: Math.min(
      mostReply,
      Math.ceil(
        stateLength * Math.ceil(stateShare) +
          changed +
          parentLength +
          factsLength +
          2 * bytes +
          bytesPerCost * cost +
          rowBytes,
      ),
    ),
  };
}

/**
 * The same, now that it is known what goes along. Pages that were asked for are mostly asked for to be written; those that will be keep
 * their room until then.
 */
export function weightAsSent(
  { factsLength = 0 }: WeighedRequest,
  expected: Required<Weight>,
  { state, pages, others, records }: Pick<Request<"prepare">, "state" | "pages" | "others" | "records">,
): Required<Weight> {
  const brought = Math.max(lengthOf(pages), factsLength);
  const secrets = records.reduce((sum, { content, sealed }) => sum + content.length + (sealed?.length ?? 0), 0);
  const states = others.reduce((sum, other) => sum + lengthOf(other.pages), lengthOf(state?.pages ?? []));
  return {
    ...expected,
    offered: states + brought + secrets,
    reply: Math.min(mostReply, expected.reply + brought - factsLength),
  };
}
