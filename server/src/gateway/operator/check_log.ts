/**
 * Holds the leaves in the database against the signer's signed word on what it has released. Each leaf is shown to the
 * signer as well, so that a made-up one does not count; and each organization's states must stand in one line without a gap,
 * because a state that was decided on is in force, whether its own leaf was released or not.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { createReleasedCheck, openStatement, type ReleasedStatement } from "@keystead/core/log/released.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import { ownHeaderOf } from "../../state/leaf_header.ts";
import { type LeafPosition, type LeafRow, listLeaves } from "../../store/across.ts";
import { loadHeaders } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";
import type { SignerLink } from "../link/signer_link.ts";
import { createLineCheck } from "./check_line.ts";
import { createVouching } from "./vouching.ts";

/** What an operator's order found; not `ok` when it found what must not be. */
export type Report = { lines: string[]; ok: boolean };

const leavesAtOnce = 1_000;

/** The signer's word counts leaves by boot: which organization a missing one was of, only accept-database can tell. */
const whatToDo =
  "next: after a restore, the missing leaves are what it lost, in the organizations that `npx keystead accept-database` named; keep this list. Without a restore, somebody removed them: put back a database that has them";

export async function checkLog(store: Store, link: SignerLink, logKey: string): Promise<Report> {
  const check = createReleasedCheck(await loadStatement(link, fromHex(logKey)));
  const vouching = createVouching(link);
  const line = createLineCheck();
  const found: string[] = [];
  let count = 0;
  let after: LeafPosition | undefined;
  for (;;) {
    const rows = await listLeaves(store, after, leavesAtOnce);
    const own = await vouching.leaves(rows.map(({ leaf }) => leaf));
    for (const [index, row] of rows.entries()) {
      if (own[index] !== true) {
        found.push(
          `leaf ${row.number} of signer boot ${row.boot} of organization ${row.organizationId} in the database is NOT the signer's`,
        );
        continue;
      }
      const leaf = decodeLeaf(withoutMac(row.leaf));
      check.show(leaf);
      const misplaced = objectionTo(row, leaf);
      if (misplaced !== undefined) found.push(misplaced);
      else found.push(...line.next(row.organizationId, leaf), ...(await checkOthers(store, leaf)));
    }
    count += rows.length;
    after = rows.at(-1);
    if (rows.length < leavesAtOnce) break;
  }
  found.push(...line.end());
  const withheld = check.withheld();
  for (const { boot, number } of withheld) {
    found.push(`leaf ${number} of signer boot ${toHex(boot)} was RELEASED and is NOT in the database`);
  }
  const summary = `${count} leaves in the database, ${withheld.length} released ones missing`;
  return { lines: [...found, ...(withheld.length > 0 ? [whatToDo] : []), summary], ok: found.length === 0 };
}

/** A leaf in another's place would fill a gap that it has nothing to do with. */
function objectionTo({ organizationId, boot, number, version }: LeafRow, leaf: Leaf): string | undefined {
  const header = ownHeaderOf(leaf);
  const own = {
    organizationId: uuidFromBytes(leaf.organizationId),
    boot: toHex(leaf.boot),
    number: leaf.number,
    version: header === undefined ? null : decodeHeader(withoutMac(header)).version,
  };
  const isInPlace =
    own.organizationId === organizationId && own.boot === boot && own.number === number && own.version === version;
  if (isInPlace) return undefined;
  return (
    `leaf ${number} of signer boot ${boot} of organization ${organizationId} in the database is ` +
    `leaf ${own.number} of signer boot ${own.boot} of organization ${own.organizationId}, OUT OF PLACE`
  );
}

/** The states of other organizations that were looked at: of a birth, its parent's. Whether their leaves are there is in those lines. */
async function checkOthers(store: Store, leaf: Leaf): Promise<string[]> {
  const found: string[] = [];
  const organizationId = uuidFromBytes(leaf.organizationId);
  for (const state of leaf.states) {
    const { version, digest } = state;
    const other = uuidFromBytes(state.organizationId);
    if (other === organizationId) continue;
    const [header] = await loadHeaders(store, other, version, version);
    if (header !== undefined && equalBytes(sha256(withoutMac(header)), digest)) continue;
    const what =
      leaf.event === "BIRTH"
        ? `on which organization ${organizationId} was born`
        : `which a leaf of organization ${organizationId} names`;
    found.push(`organization ${other}: the leaf that led to version ${version}, ${what}, is MISSING`);
  }
  return found;
}

/** All pages of one statement, each signed. One that came twice, or for another, would leave out what it stands in for. */
export async function loadStatement(link: SignerLink, logKey: Uint8Array): Promise<ReleasedStatement[]> {
  const pages: ReleasedStatement[] = [];
  for (let page = 0; ; page++) {
    const { statement, signature } = await link.request("statement", { page });
    const opened = openStatement(nodeCurves, logKey, statement, signature);
    const first = pages[0] ?? opened;
    if (
      opened.page !== page ||
      opened.pages !== first.pages ||
      toHex(opened.deploymentId) !== toHex(first.deploymentId)
    ) {
      throw new Fault("failed_precondition", `the signer returned another page of its statement than page ${page}`);
    }
    pages.push(opened);
    if (page + 1 >= opened.pages) return pages;
  }
}
