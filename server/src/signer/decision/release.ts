/**
 * Letting results out. It relies on nothing between calls: it takes committed rows as they are stored, checks that each
 * state lies on one line with the pin, gives each new leaf its place in the log, writes one record to its memory unless that has it all,
 * and only then opens anything. After a crash, or from another gateway, it is the same call again.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import type { Place, ReleaseRow, Reply, Request } from "../../frames/messages.ts";
import { activityForms } from "../../generated/activities.ts";
import { digestKey, equalBytes } from "../../state/digest.ts";
import { passed } from "../../state/steps.ts";
import { createAppending, hasOrdinal } from "../log/appending.ts";
import { createListingCheck } from "../log/listing_check.ts";
import { isSameId } from "../memory/id_table.ts";
import type { Pin } from "../memory/pins.ts";
import type { KnownHeader, StateRef } from "./line.ts";
import type { Leaving } from "./on_its_way.ts";
import { openResult, splitSpentCode } from "./results.ts";
import type { Signer } from "./signer.ts";

type Outcome = Reply<"release">[number];

type Gap = Extract<Outcome, { kind: "again" }>["value"][number];

/** A row whose leaf is the signer's own and lies on its line; `own` where it left this very process a moment ago. */
type Checked = { leaf: Leaving["leaf"]; own: Leaving | undefined; place: Place | undefined; result?: string };

export function release(signer: Signer, { rows, links }: Request<"release">): readonly Outcome[] {
  const { keyring, line, memory } = signer;
  const nowMs = signer.now();
  const given = line.links(links);
  const moved = new Map<string, { organizationId: Uint8Array; pin: Pin }>();
  const appending = createAppending(memory);
  const listing = createListingCheck(memory);

  const nameOf = createNames();

  const pinOf = ({ organizationId }: StateRef) =>
    moved.get(nameOf(organizationId))?.pin ?? memory.pins.get(organizationId);

  /** Undefined when each state lies on its organization's line. All headers that are lacking are named at once. */
  function objectionTo(states: readonly StateRef[]): Outcome | undefined {
    const gaps: Gap[] = [];
    for (const state of states) {
      const pin = pinOf(state);
      if (pin === undefined && signer.adoptUnknown) continue;
      const standing = line.standing(state, pin, given);
      if (standing.kind === "off") return { kind: "refused", value: { message: standing.why } };
      if (standing.kind === "on") continue;
      const { linksFrom, linksTo } = standing;
      gaps.push({ organizationId: uuidFromBytes(state.organizationId), linksFrom, linksTo });
    }
    return gaps.length === 0 ? undefined : { kind: "again", value: gaps };
  }

  function movePin(state: StateRef): void {
    const { organizationId, version, digest } = state;
    const pin = pinOf(state);
    if (pin === undefined && signer.adoptUnknown && version > 1) {
      signer.note(
        `taking organization ${uuidFromBytes(organizationId)} at version ${version}, as found in the database`,
      );
    }
    if (pin !== undefined && version <= pin.version) return;
    moved.set(nameOf(organizationId), { organizationId, pin: { version, digest } });
  }

  const verdicts = rows.map((row): Checked | Outcome => {
    const { leaf: marked } = row;
    try {
      const own = signer.onItsWay.take(marked);
      const [leaf, states] =
        own === undefined ? readLeaf(signer, marked) : [own.leaf, statesNamedBy(own.leaf, own.ledTo)];
      // Readers of bearer values have the same leaf opened as often as they ask: that writes nothing.
      const isNew = appending.isNew(leaf);
      listing.check(leaf, isNew);
      const objection = objectionTo(states);
      if (objection !== undefined) return objection;
      const result = spendCode(signer, row, leaf, own, nowMs);
      const place = isNew ? appending.add(leaf, marked, hasOrdinal(leaf.event)) : undefined;
      listing.passed();
      states.forEach(movePin);
      return { leaf, own, place, ...(result !== undefined && { result }) };
    } catch (error) {
      if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
      throw error;
    }
  });
  listing.finish(rows.length);
  appending.checkSpace();

  passed("checked");
  // The first thing ever released is a deployment's birth: from here on this memory belongs to it.
  const isNew = appending.leaves.length > 0 || moved.size > 0;
  if (isNew && memory.deploymentId === undefined) memory.rememberDeployment(keyring.deploymentId);
  if (isNew) memory.rememberAppended(nowMs, [...moved.values()], appending.leaves);
  // A log that others were told of must not be unlisted again after a power cut.
  if (listing.isNew) memory.sync();

  passed("remembered");
  const outcomes = verdicts.map((verdict, index) => ("leaf" in verdict ? open(signer, rows[index], verdict) : verdict));
  passed("opened");
  return outcomes;
}

/** One row that was damaged in the database is that row's trouble, not its neighbours'. */
function open(signer: Signer, row: ReleaseRow | undefined, { own, place, result }: Checked): Outcome {
  if (row?.sealed === undefined) return { kind: "released", value: { result: undefined, place } };
  try {
    return { kind: "released", value: { result: result ?? boxedText(signer, row.leaf, row.sealed, own), place } };
  } catch (error) {
    if (error instanceof Fault) return { kind: "refused", value: { message: error.message } };
    throw error;
  }
}

function boxedText({ sealer }: Signer, leaf: Uint8Array, sealed: Uint8Array, own: Leaving | undefined): string {
  if (own?.result !== undefined && equalBytes(own.result.sealed, sealed)) return own.result.text;
  return openResult(sealer, leaf, sealed);
}

/**
 * A result that uses up a one-time code is let out for one body. It is opened here for the code that its box names, and given back to be let
 * out with the others. What was released before is released again: the token that it has is not a second one.
 */
function spendCode(
  signer: Signer,
  { leaf: marked, sealed }: ReleaseRow,
  { boot, number, activityType, fingerprint }: Leaving["leaf"],
  own: Leaving | undefined,
  nowMs: number,
): string | undefined {
  if (sealed === undefined || activityForms.get(activityType)?.activity.spendsCode !== true) return undefined;
  const spent = splitSpentCode(boxedText(signer, marked, sealed, own));
  if (spent === undefined) return undefined;
  const { memory } = signer;
  if (!memory.wasReleased(boot, number)) memory.codes.spend(spent.code, fingerprint, nowMs);
  return spent.result;
}

function readLeaf({ keyring, line }: Signer, marked: Uint8Array): [Leaf, readonly StateRef[]] {
  const leaf = decodeLeaf(keyring.authenticity.check("leaf", marked));
  // The header is known by its own MAC too: it may serve as a link for the rows behind it.
  return [leaf, statesNamedBy(leaf, leaf.header && line.know(leaf.header))];
}

/**
 * The states a leaf stands for: every one that was looked at, and of an organization that it led on, the one it led to. Where an
 * organization comes into the world, its own leaf and its creator's stand for both, because they are two organizations' states: what
 * was decided on a state of the parent that was passed over is not born, and no creator's leaf is released beside another birth than
 * its own.
 */
function statesNamedBy({ states }: Leaving["leaf"], ledTo: KnownHeader | undefined): readonly StateRef[] {
  if (ledTo === undefined) return states;
  const { organizationId, version } = ledTo.header;
  const others = states.filter((state) => !isSameId(state.organizationId, organizationId));
  return [...others, { organizationId, version, digest: ledTo.digest }];
}

/** Names by id. Rows of one organization come one behind another, and name it the same. */
function createNames(): (organizationId: Uint8Array) => string {
  let last: { id: Uint8Array; name: string } | undefined;
  return (id) => {
    if (last === undefined || !isSameId(last.id, id)) last = { id, name: digestKey(id) };
    return last.name;
  };
}
