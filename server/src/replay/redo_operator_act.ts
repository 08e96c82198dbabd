/** Acts of the operator that change the first organization's state. */
import type { Entry } from "./exported.ts";
import { type Redone, undisclosed } from "./redone.ts";
import type { ReplayState } from "./replay_state.ts";
import type { World } from "./world.ts";

export function redoOperatorAct(_world: World, entry: Entry, _state: ReplayState): Redone {
  return undisclosed(`how ${entry.leaf.event} is executed`, entry);
}
