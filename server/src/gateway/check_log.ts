/** Holds the leaves in the database against the signer's signed word on what it has released. */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck, openStatement } from "@keystead/core/log/released.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { withoutMac } from "../state/authenticity.ts";
import { type LeafPosition, listLeaves } from "../store/across.ts";
import type { Store } from "../store/store.ts";
import type { SignerLink } from "./signer_link.ts";

/** What an operator's order found; not `ok` when it found what must not be. */
export type Report = { lines: string[]; ok: boolean };

const leavesAtOnce = 1_000;

export async function checkLog(store: Store, link: SignerLink, logKey: string): Promise<Report> {
  const { statement, signature } = await link.request("statement", {});
  const check = createReleasedCheck(openStatement(nodeCurves, fromHex(logKey), statement, signature));
  let count = 0;
  let after: LeafPosition | undefined;
  for (;;) {
    const rows = await listLeaves(store, after, leavesAtOnce);
    for (const { leaf } of rows) check.show(decodeLeaf(withoutMac(leaf)));
    count += rows.length;
    after = rows.at(-1);
    if (rows.length < leavesAtOnce) break;
  }
  const withheld = check.withheld();
  return {
    lines: [
      ...withheld.map(
        ({ boot, number }) => `leaf ${number} of signer boot ${toHex(boot)} was RELEASED and is NOT in the database`,
      ),
      `${count} leaves in the database, ${withheld.length} released ones missing`,
    ],
    ok: withheld.length === 0,
  };
}
