/** Holds the leaves in the database against the signer's signed word on what it has released. */
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { findWithheldLeaves, openStatement } from "@keystead/core/log/released.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { withoutMac } from "../state/authenticity.ts";
import { type LeafPosition, listLeaves } from "../store/across.ts";
import type { Store } from "../store/store.ts";
import type { SignerLink } from "./signer_link.ts";

const leavesAtOnce = 1_000;

export async function checkLog(store: Store, link: SignerLink, logKey: string): Promise<string[]> {
  const { statement, signature } = await link.request("statement", {});
  const released = openStatement(nodeCurves, fromHex(logKey), statement, signature);
  const leaves: Uint8Array[] = [];
  let after: LeafPosition | undefined;
  for (;;) {
    const rows = await listLeaves(store, after, leavesAtOnce);
    for (const { leaf } of rows) leaves.push(withoutMac(leaf));
    after = rows.at(-1);
    if (rows.length < leavesAtOnce) break;
  }
  const withheld = findWithheldLeaves(released, leaves);
  return [
    ...withheld.map(
      ({ boot, number }) => `leaf ${number} of signer boot ${boot} was RELEASED and is NOT in the database`,
    ),
    `${leaves.length} leaves in the database, ${withheld.length} released ones missing`,
  ];
}
