/** How an organization came into the world: by the operator's order, or by an act of its parent. */
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import type { Prepared } from "../frames/messages.ts";
import { findOpenedLog } from "../signer/log/listed_log.ts";
import { type BirthOrder, birthIn } from "../signer/operator/birth.ts";
import { withoutMac } from "../state/authenticity.ts";
import { ask } from "./ask.ts";
import { compareLeaves } from "./compare.ts";
import type { Entry } from "./exported.ts";
import { recordsAsTheyWere, toldRecordsOf } from "./made_records.ts";
import { createRecordShelf } from "./record_shelf.ts";
import { type Redone, type Site, undisclosed } from "./redone.ts";
import { stateAfter } from "./replay_state.ts";
import { standInParent } from "./stand_in_parent.ts";
import { ordersOf, type World } from "./world.ts";

export function redoBirth(world: World, site: Site, entry: Entry): Redone {
  return entry.leaf.grounds === "OPERATOR" ? redoOrder(world, site, entry) : redoByParent(world, site, entry);
}

function redoOrder(world: World, { log: { find } }: Site, entry: Entry): Redone {
  const { leaf } = entry;
  const order = find(leaf.fingerprint);
  if (order === undefined) return undisclosed("the order of its birth", entry);
  const { signer } = world;
  signer.setTime(leaf.timeMs);
  const ordered = JSON.parse(new TextDecoder().decode(order)) as BirthOrder;
  const { orders } = ordersOf(world, leaf.boot);
  const log = findOpenedLog(leaf);
  const prepared = birthIn(signer.under(orders), ordered, signer.sealedKeyring, log);
  const differences = compareLeaves(leaf, prepared, { withoutParent: false, isRefused: false });
  return { state: prepared.next && stateAfter(undefined, prepared.next), differences, unchecked: [] };
}

function redoByParent(world: World, site: Site, entry: Entry): Redone {
  const { leaf } = entry;
  const { log } = site;
  const own = toldRecordsOf(leaf, log.find, entry.made);
  if (!own.isDisclosed) return undisclosed("what it was born with", entry);
  // Its parent's replay has made it already.
  const byParent = world.births.get(log.organizationId);
  const made = byParent ?? bornAnew(world, site, entry);
  if (typeof made === "string") return undisclosed(made, entry);
  const withoutParent = byParent === undefined;
  const differences = compareLeaves(leaf, made, { withoutParent, isRefused: false });
  const { authenticity } = world.signer.keyring;
  const kept = recordsAsTheyWere(authenticity, leaf, made.records, {
    ...{ told: own, find: log.find, result: undefined },
  });
  differences.push(...kept.differences);
  const unsaid = withoutParent ? world.signer.told.unsaid : [];
  const unchecked = [
    ...(withoutParent ? ["needs the parent's log: whether the parent might"] : []),
    ...unsaid.map((what) => `undisclosed: ${what}`),
    ...kept.unchecked,
  ];
  for (const record of kept.records) site.records.add(record);
  return { state: made.next && stateAfter(undefined, made.next), differences, unchecked };
}

/** Born of a stand-in for its parent; or what is missing for that. */
function bornAnew(world: World, { log }: Site, entry: Entry): Prepared | string {
  const { leaf } = entry;
  const [evidence] = leaf.evidence;
  const body = evidence && log.find(evidence.body);
  const activityBody = log.find(leaf.fingerprint);
  const { parentId } = leaf.header === undefined ? {} : decodeHeader(withoutMac(leaf.header));
  if (body === undefined || activityBody === undefined || parentId === undefined) return "the body that made it";
  const { signer } = world;
  const { orders } = ordersOf(world, leaf.boot);
  const own = toldRecordsOf(leaf, log.find, entry.made);
  const organizationId = uuidFromBytes(parentId);
  signer.setTime(leaf.timeMs);
  const deciding = signer.under(orders);
  const prepared = ask({
    ...{ signer: deciding, leaf, body, activityBody, organizationId },
    state: standInParent(deciding, organizationId, leaf),
    records: createRecordShelf(),
    executed: [],
    tell: () => signer.told.tell({ leaf, own: { made: [], contents: [] }, born: own, sessionKey: undefined }),
    otherState: () => standInParent(deciding, organizationId, leaf),
    fits: () => true,
  });
  const born = prepared.find((each) => each.organizationId === log.organizationId);
  if (born === undefined) throw new Error(`nothing is born by it: ${toHex(leaf.fingerprint)}`);
  return born;
}
