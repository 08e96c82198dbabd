/** Committed rows that nobody has opened yet: a crash left them behind. */
import { loadUnreleased } from "../../store/across.ts";
import type { UnreleasedLeaf } from "../../store/leaves.ts";
import type { Store } from "../../store/store.ts";
import type { ReleaseOutcome, Releases } from "./releases.ts";
import { notReleased, toLeftover } from "./stored_leaf.ts";

const leftoversAtOnce = 1_000;

/** Returns the messages of those that the signer refuses. */
export async function releaseLeftovers(store: Store, releases: Releases): Promise<string[]> {
  const refusals: string[] = [];
  for (;;) {
    const rows = await loadUnreleased(store, leftoversAtOnce);
    for (const portion of inPortions(rows)) {
      const outcomes = isTooLong(portion) ? [tooLong] : await releases.release(portion.map(toLeftover));
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.kind === "refused") refusals.push(notReleased(portion[index], outcome.message));
      }
    }
    await releases.settle();
    // Refused rows stay and would come again. What others commit meanwhile is theirs to release: waiting until
    // nothing is left would keep a gateway that joins a busy database from ever being ready.
    if (refusals.length > 0 || rows.length < leftoversAtOnce) return refusals;
  }
}

/** Half of what a frame carries; headers go along. */
const portionBytes = 4 * 1024 * 1024;

const bytesOf = ({ leaf, sealed }: UnreleasedLeaf) => leaf.length + (sealed?.length ?? 0);

/** Rows that one frame carries. What is longer than that by itself stands alone. */
function inPortions(rows: readonly UnreleasedLeaf[]): UnreleasedLeaf[][] {
  const portions: UnreleasedLeaf[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    length += bytesOf(row);
    if (length > portionBytes) {
      portions.push([]);
      length = bytesOf(row);
    }
    portions.at(-1)?.push(row);
  }
  return portions;
}

function isTooLong([first]: readonly UnreleasedLeaf[]): boolean {
  return first !== undefined && bytesOf(first) > portionBytes;
}

const tooLong: ReleaseOutcome = { kind: "refused", message: "it is longer than anything that the signer wrote" };
