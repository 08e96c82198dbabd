/** What comes of executing one act, and where. */
import type { Executed } from "./ask.ts";
import type { Entry, OrganizationLog } from "./exported.ts";
import type { RecordShelf } from "./record_shelf.ts";
import type { ReplayState } from "./replay_state.ts";

/** What one act came to. */
export type Redone = {
  /** The next state; undefined where the act leaves the state as it is. */
  state?: ReplayState | undefined;
  differences: readonly string[];
  /** Why something of it, or of all that follows, is unchecked. */
  unchecked: readonly string[];
  /** From here on nobody can tell. */
  isLost?: boolean;
};

/** One organization that is built anew, on the line that is being followed. */
export type Site = {
  readonly log: OrganizationLog;
  readonly records: RecordShelf;
  readonly executed: Executed[];
};

/** What cannot be held against anything ends the replay where the next state hangs on it. */
export function undisclosed(what: string, entry: Entry): Redone {
  return { differences: [], unchecked: [`undisclosed: ${what}`], isLost: entry.after !== undefined };
}
