/** An organization that an activity of its parent brings into the world. */
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { noState } from "@keystead/core/log/header.ts";
import type { LeafGrounds } from "@keystead/core/log/leaf_words.ts";
import type { Birth } from "../../endpoints/define_activity.ts";
import type { NewRecord } from "../../endpoints/key_access.ts";
import { barePrepared } from "../../frames/bare_prepared.ts";
import type { NextState, Prepared } from "../../frames/messages.ts";
import { sha256 } from "../../state/digest.ts";
import { type MadeRecord, madeRecord, toMadeBytes } from "../../state/drawn.ts";
import type { Act } from "./act.ts";
import { actLeaf } from "./act_leaf.ts";
import { sealEvidenceOf } from "./body_boxes.ts";
import { marksOf } from "./contact_marks.ts";
import { sealRecords, withLeaves } from "./key_records.ts";
import type { KnownHeader } from "./line.ts";
import type { Signer } from "./signer.ts";
import { beforeBirth, executedIn, writeState } from "./write_state.ts";

/**
 * Whether anything of it was released. The parent's journals do not know births, so this is what keeps a body from being
 * executed twice: its id derives from the body, and its pin outlasts whatever becomes of it or of its parent's rows.
 */
export function isCreated({ memory }: Signer, { organizationId }: Birth): boolean {
  return memory.pins.get(uuidToBytes(organizationId)) !== undefined;
}

/** An organization with its first state. */
export type CreatedOrganization = {
  birth: Birth;
  number: number;
  records: readonly NewRecord[];
  next: NextState;
  known: KnownHeader;
  made: readonly MadeRecord[];
};

/** A birth has no outcome beside its creator's, and its leaf says so. */
const noOutcome = "";

/** Its first state. Keys that are born with it are part of that: drawn twice, they are two states, and one of them is released. */
export function firstState({ signer, state }: Act, birth: Birth): CreatedOrganization {
  const before = beforeBirth(uuidToBytes(birth.organizationId), state.known.header.organizationId);
  const number = signer.nextNumber();
  const records = withLeaves(birth.records ?? [], signer.boot, number);
  const made = records.map(({ record }) => madeRecord(record));
  const drawn = { outcome: sha256(noOutcome), records: made };
  const { next, open } = writeState(signer, before, birth.changes, executedIn(before), { drawn });
  return { birth, number, records, next, known: open.known, made };
}

/**
 * Its rows, with a leaf of its own that carries its creator's stamp and a state of its creator: the one its creator was allowed on, or the
 * one that its creator led to, where the act changed its own organization as well. So a birth is released beside its creator's leaf only.
 */
export function rowsOfCreated(
  act: Act,
  grounds: LeafGrounds,
  { birth, number, records, next, known, made }: CreatedOrganization,
  creator: KnownHeader | undefined,
): Prepared {
  const { signer, state } = act;
  const organizationId = uuidToBytes(birth.organizationId);
  const bytes = toMadeBytes(
    made,
    records.map((each) => each.record),
  );
  const record = {
    number,
    event: "BIRTH",
    grounds,
    organizationId,
    ledTo: known,
    creator,
    outcome: noOutcome,
    made: bytes,
    pages: next.pages,
  } as const;
  const { boot, leaf } = actLeaf(act, record);
  return {
    ...barePrepared,
    organizationId: birth.organizationId,
    expectedVersion: noState.version,
    expectedHeader: undefined,
    birth: { parentId: state.organizationId, organizationName: birth.organizationName, keyring: undefined },
    next,
    changes: JSON.stringify(birth.changes),
    marks: marksOf(state.known.header.organizationId, new Map(), birth.changes),
    records: sealRecords(signer, records),
    made: bytes.made,
    disclosed: bytes.contents === undefined ? [] : [bytes.contents],
    closed: sealEvidenceOf(act, birth.organizationId),
    boot,
    number,
    leaf,
  };
}
