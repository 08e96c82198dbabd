/** A leaf of the log as its organization sees it. */
import { toBase64 } from "@keystead/core/encoding/base64.ts";
import { withoutMac } from "../state/authenticity.ts";
import { pageBytes } from "../store/activity_lists.ts";
import { createBreathing } from "../store/breaths.ts";
import { findLeaf } from "../store/leaves.ts";
import type { LogPlace } from "../store/log_pages.ts";
import type { Store } from "../store/store.ts";
import { bodiesOf } from "./log_bodies.ts";

type LogLeafView = { logId: string; position: number; ordinal?: number; leaf: string; bodies: string[] };

/** As many as an answer may hold, and at least one; those next to the cursor: the last ones of a page that ends there. */
export async function logLeafViews(
  store: Store,
  places: readonly LogPlace[],
  fromLast: boolean,
): Promise<LogLeafView[]> {
  const views: LogLeafView[] = [];
  const breathing = createBreathing();
  let bytes = 0;
  for (const place of fromLast ? places.toReversed() : places) {
    const view = await logLeafView(store, place);
    bytes += view.leaf.length + view.bodies.reduce((sum, { length }) => sum + length, 0);
    if (views.length > 0 && bytes > pageBytes) break;
    views.push(view);
    const pause = breathing();
    if (pause !== undefined) await pause;
  }
  return fromLast ? views.reverse() : views;
}

async function logLeafView(store: Store, place: LogPlace): Promise<LogLeafView> {
  const { logId, position, ordinal, organizationId, boot, number } = place;
  const row = await findLeaf(store, organizationId, boot, number);
  const disclosed = row && (await bodiesOf(store, row));
  return {
    logId,
    position,
    ...(ordinal > 0 && { ordinal }),
    leaf: row === undefined || disclosed === undefined ? "" : toBase64(withoutMac(row.leaf)),
    bodies: (disclosed ?? []).map((body) => toBase64(body)),
  };
}
