/**
 * Holds the leaves in the database against the signer's signed word on what it has released. Each leaf is shown to the
 * signer as well, so that a made-up one does not count; and each organization's versions must be there without a gap,
 * because a state that was decided on is in force, whether its own leaf was released or not.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck, openStatement, type ReleasedStatement } from "@keystead/core/log/released.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { withoutMac } from "../state/authenticity.ts";
import { type LeafPosition, type LeafRow, listLeaves } from "../store/across.ts";
import type { Store } from "../store/store.ts";
import type { SignerLink } from "./signer_link.ts";

/** What an operator's order found; not `ok` when it found what must not be. */
export type Report = { lines: string[]; ok: boolean };

const leavesAtOnce = 1_000;

export async function checkLog(store: Store, link: SignerLink, logKey: string): Promise<Report> {
  const check = createReleasedCheck(await loadStatement(link, fromHex(logKey)));
  const versions = createVersionCheck();
  const found: string[] = [];
  let count = 0;
  let after: LeafPosition | undefined;
  for (;;) {
    const rows = await listLeaves(store, after, leavesAtOnce);
    const { own } = await link.request("vouch", { leaves: rows.map(({ leaf }) => leaf) });
    rows.forEach((row, index) => {
      if (own[index] !== true) {
        found.push(`leaf ${row.number} of signer boot ${row.boot} in the database is NOT the signer's`);
        return;
      }
      check.show(decodeLeaf(withoutMac(row.leaf)));
      found.push(...versions.next(row));
    });
    count += rows.length;
    after = rows.at(-1);
    if (rows.length < leavesAtOnce) break;
  }
  found.push(...versions.end());
  const withheld = check.withheld();
  for (const { boot, number } of withheld) {
    found.push(`leaf ${number} of signer boot ${toHex(boot)} was RELEASED and is NOT in the database`);
  }
  const summary = `${count} leaves in the database, ${withheld.length} released ones missing`;
  return { lines: [...found, summary], ok: found.length === 0 };
}

async function loadStatement(link: SignerLink, logKey: Uint8Array): Promise<ReleasedStatement[]> {
  const pages: ReleasedStatement[] = [];
  for (let page = 0; ; page++) {
    const { statement, signature } = await link.request("statement", { page });
    const opened = openStatement(nodeCurves, logKey, statement, signature);
    pages.push(opened);
    if (page + 1 >= opened.pages) return pages;
  }
}

/** Leaves come organization by organization; within one, every version up to the highest spoken of must have its leaf. */
function createVersionCheck() {
  let organizationId = "";
  let seen = new Set<number>();
  let highest = 0;
  const end = (): string[] => {
    const missing: string[] = [];
    for (let version = 1; version <= highest; version++) {
      if (!seen.has(version))
        missing.push(`organization ${organizationId}: the leaf that led to version ${version} is MISSING`);
    }
    return missing;
  };
  return {
    next(row: LeafRow): string[] {
      const closed = row.organizationId === organizationId ? [] : end();
      if (row.organizationId !== organizationId) {
        organizationId = row.organizationId;
        seen = new Set();
        highest = 0;
      }
      const leaf = decodeLeaf(withoutMac(row.leaf));
      // A birth was decided on a state of another organization: its parent's.
      if (leaf.event !== "BIRTH") highest = Math.max(highest, leaf.stateVersion);
      if (leaf.header !== undefined) {
        const { version } = decodeHeader(withoutMac(leaf.header));
        seen.add(version);
        highest = Math.max(highest, version);
      }
      return closed;
    },
    end,
  };
}
