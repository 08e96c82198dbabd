/** One act of an organization, executed anew on the state that its leaf names. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { readBody, readEnvelope } from "../endpoints/envelope.ts";
import type { Prepared } from "../frames/messages.ts";
import type { Change } from "../state/entities.ts";
import { ask } from "./ask.ts";
import { compareLeaves, headerDigest } from "./compare.ts";
import type { Entry } from "./exported.ts";
import { recordsAsTheyWere, toldRecordsOf } from "./made_records.ts";
import { redoOperatorAct } from "./redo_operator_act.ts";
import { type Redone, type Site, undisclosed } from "./redone.ts";
import { type ReplayState, stateAfter } from "./replay_state.ts";
import { standInParent } from "./stand_in_parent.ts";
import { sessionKeyIn, type ToldRecords } from "./told.ts";
import { ordersOf, type World } from "./world.ts";

const nothingMade: ToldRecords = { made: [], contents: [] };

export function redo(world: World, site: Site, entry: Entry, state: ReplayState): Redone {
  const { leaf } = entry;
  const { log } = site;
  if (leaf.grounds === "OPERATOR") return redoOperatorAct(world, entry, log.organizationId, state);
  const [evidence] = leaf.evidence;
  if (evidence === undefined) return { differences: ["nobody has stamped it"], unchecked: [] };
  const body = log.find(evidence.body);
  const activityBody = log.find(leaf.fingerprint);
  if (body === undefined || activityBody === undefined) return undisclosed("its body", entry);
  const own = toldRecordsOf(leaf, log.find, entry.made);
  if (!own.isDisclosed) return undisclosed("what it made", entry);
  const { told, setTime, under } = world.signer;
  const { orders, areKnown } = ordersOf(world, leaf.boot);
  const signer = under(orders);
  const others = otherStates(world, signer, leaf);
  const result = log.find(leaf.outcome);
  const child = world.childOf(leaf);
  const born = child && toldRecordsOf(child.entry.leaf, child.log.find, child.entry.made);
  const act = { leaf, own, born: born ?? nothingMade, sessionKey: sessionKeyIn(result) };
  setTime(leaf.timeMs);
  let prepared: readonly Prepared[];
  try {
    prepared = ask({
      ...{ signer, leaf, body, activityBody, state, organizationId: log.organizationId },
      ...{ records: site.records, executed: site.executed },
      tell: () => told.tell(act),
      otherState: others.find,
      fits: ([first]) => headerDigest(first?.next?.header) === entry.after?.digest,
    });
  } catch (error) {
    return failed(error, others.isStandIn, areKnown, told.unsaid, entry);
  }
  const [first, second] = prepared;
  if (first === undefined) return { differences: ["the signer prepared nothing"], unchecked: [] };
  // The first state of a child with keys: what they are is for the child's log to show.
  const isChildUnknown = second !== undefined && second.records.length > 0 && born === undefined;
  const found = compareLeaves(leaf, first, {
    withoutParent: others.isStandIn,
    isRefused: told.isRefused,
    withoutHeader: isChildUnknown && entry.after === undefined,
  });
  const kept = recordsAsTheyWere(world.signer.keyring.authenticity, leaf, first.records, {
    ...{ told: own, find: log.find, result },
  });
  found.push(...kept.differences, ...told.unasked.map((subject) => `says of \`${subject}\` what nobody asks now`));
  const unchecked = [
    ...told.unsaid.map((what) => `undisclosed: ${what}`),
    ...kept.unchecked,
    ...(others.isStandIn ? ["needs the parent's log"] : []),
    ...(isChildUnknown ? ["needs the log of the organization that it made"] : []),
  ];
  if (found.length > 0 && (!areKnown || others.isStandIn || told.unsaid.length > 0)) {
    return { differences: [], unchecked: [...unchecked, ...found], isLost: entry.after !== undefined };
  }
  if (second !== undefined) world.births.set(second.organizationId, second);
  for (const { content } of first.codes) site.records.add({ content, sealed: new Uint8Array() });
  for (const record of kept.records) site.records.add(record);
  noteNames(site, first.changes);
  noteExecuted(site, leaf, first, activityBody);
  return { state: first.next && stateAfter(state, first.next), differences: found, unchecked };
}

/** A refusal that leaves no leaf; or something that the log does not have. */
function failed(
  error: unknown,
  isStandIn: boolean,
  areKnown: boolean,
  unsaid: readonly string[],
  entry: Entry,
): Redone {
  const what = error instanceof Error ? error.message : String(error);
  if (!isStandIn && areKnown && unsaid.length === 0) return { differences: [what], unchecked: [] };
  const why = isStandIn ? "needs the parent's log" : "undisclosed: what it was decided by";
  return { differences: [], unchecked: [`${why}: ${what}`], isLost: entry.after !== undefined };
}

type OtherStates = { find(organizationId: string): ReplayState; readonly isStandIn: boolean };

/** States that the leaf names beside its own: replayed, or where that organization's log is not here, a stand-in. */
function otherStates(world: World, signer: Parameters<typeof standInParent>[0], leaf: Leaf): OtherStates {
  let isStandIn = false;
  const made = new Map<string, ReplayState>();
  return {
    find(organizationId) {
      const named = leaf.states.find((state) => uuidFromBytes(state.organizationId) === organizationId);
      const known = named && world.states.get(toHex(named.digest));
      if (known !== undefined) return known;
      // What never changes the signer had at hand: session profiles. Any later state has them, too.
      const newest = named === undefined ? world.newest.get(organizationId) : undefined;
      if (newest !== undefined) return newest;
      if (world.whole.has(organizationId) && named !== undefined) {
        throw new Error(`names a state of organization ${organizationId} that its log does not lead to`);
      }
      isStandIn = true;
      const parent = made.get(organizationId) ?? standInParent(signer, organizationId, leaf);
      made.set(organizationId, parent);
      return parent;
    },
    get isStandIn() {
      return isStandIn;
    },
  };
}

/** Names that keys are given: the next request may ask for one by its name. */
function noteNames({ records }: Site, changes: string): void {
  for (const change of JSON.parse(changes) as Change[]) {
    if (change.op !== "put" || change.kind !== "keyFacts" || change.value.name === undefined) continue;
    records.rename(change.value.id, change.value.name);
  }
}

function noteExecuted({ executed }: Site, { fingerprint }: Leaf, { activity }: Prepared, body: Uint8Array): void {
  if (activity?.slot === undefined) return;
  executed.push({ fingerprint, timestampMs: readEnvelope(readBody(body)).timestampMs });
}
