/** The operator's act that changes the first organization's state: it lists a log. */
import { openStateOf } from "../signer/decision/offered_state.ts";
import { findOpenedLog } from "../signer/log/listed_log.ts";
import { listing } from "../signer/log_requests/open_log.ts";
import { compareLeaves } from "./compare.ts";
import type { Entry } from "./exported.ts";
import { type Redone, undisclosed } from "./redone.ts";
import { offer, type ReplayState, stateAfter } from "./replay_state.ts";
import type { World } from "./world.ts";

export function redoOperatorAct(world: World, entry: Entry, organizationId: string, state: ReplayState): Redone {
  const { leaf } = entry;
  const log = findOpenedLog(leaf);
  if (log === undefined) return undisclosed(`how ${leaf.event} is executed`, entry);
  world.signer.setTime(leaf.timeMs);
  // Listing reads no order, and the process that accepts a database has no leaf that discloses any.
  const signer = world.signer.under(world.orders.defaults);
  const prepared = listing(signer, openStateOf(signer, organizationId, offer(state)), log, leaf.timeMs);
  const differences = compareLeaves(leaf, prepared, { withoutParent: false, isRefused: false });
  return { state: prepared.next && stateAfter(state, prepared.next), differences, unchecked: [] };
}
