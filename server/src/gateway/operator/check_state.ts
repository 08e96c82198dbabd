/** An organization's state as the database holds it: the head by the signer's word, everything else by the digests below it. */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { decodeHeader, type Header } from "@keystead/core/log/header.ts";
import { decodeLeaf } from "@keystead/core/log/leaf.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { equalBytes, sha256 } from "../../state/digest.ts";
import { type Directory, decodeDirectory } from "../../state/directory.ts";
import type { KnownFacts } from "../../state/entities.ts";
import { ownHeaderOf } from "../../state/leaf_header.ts";
import {
  emptyPages,
  findKeyFacts,
  isOptionalPage,
  isPageName,
  keyFactsPageOf,
  type Pages,
  withPage,
} from "../../state/pages.ts";
import { differingColumns, organizationColumns } from "../../store/projection.ts";
import { deleteRow, type Inside, newestLeaf, rowsOf, rowsWith, updateRow } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { Findings } from "./check_findings.ts";
import type { PlacedHead, Vouching } from "./vouching.ts";

export type CheckedState = {
  organizationId: string;
  header: Header;
  directory: Directory;
  pages: Pages;
  /** What became of a key; "unknown" when the page that would say so was changed. */
  factsOf(id: string): Promise<KnownFacts | undefined | "unknown">;
};

const pagesAtOnce = 16;

/** Undefined when it is not the signer's: then nothing can be worked out from it. */
export async function checkState(
  tx: Inside,
  vouching: Vouching,
  row: Tables["organizations"],
  findings: Findings,
): Promise<CheckedState | undefined> {
  const { organization_id: organizationId } = row;
  const header = await checkHead(tx, vouching, row, findings);
  if (header === undefined) return undefined;
  if (!equalBytes(sha256(row.directory), header.directory)) {
    findings.lost("organizations: its directory was changed");
    return undefined;
  }
  const directory = decodeDirectory(row.directory);
  const { pages, broken } = await checkPages(tx, organizationId, directory, findings);
  if (pages === undefined) return undefined;
  const columns = differingColumns(organizationColumns(header, pages.settings), row);
  if (columns.length > 0 && findings.differs(`organizations: ${columns.join(", ")} not as in its state`)) {
    await updateRow(tx, "organizations", row, organizationColumns(header, pages.settings));
  }
  return { organizationId, header, directory, pages, factsOf: factsReader(tx, organizationId, directory, broken) };
}

/** The head is the row's, or, when that was changed, the one of the newest leaf. None that the signer would not decide on. */
async function checkHead(
  tx: Inside,
  vouching: Vouching,
  row: Tables["organizations"],
  findings: Findings,
): Promise<Header | undefined> {
  const head = await placeHead(tx, vouching, row, row.header);
  const isInForce = canFollow(head);
  if (isInForce && isDirectoryOf(row, row.header)) return decodeHeader(withoutMac(row.header));
  const leaf = await newestLeaf(tx, row.organization_id);
  const header = leaf && (await findLeafHeader(vouching, leaf));
  if (header !== undefined && isDirectoryOf(row, header) && canFollow(await placeHead(tx, vouching, row, header))) {
    const what = "organizations: header not as in the newest leaf";
    if (findings.differs(what)) await updateRow(tx, "organizations", row, { header });
    return decodeHeader(withoutMac(header));
  }
  if (isInForce) return decodeHeader(withoutMac(row.header));
  if (head.standing === "FOREIGN") findings.lost("its head was not written by this deployment's signer");
  else findings.hold(objectionTo(head, decodeHeader(withoutMac(row.header))));
  return undefined;
}

const canFollow = ({ standing }: PlacedHead) => ["RELEASED", "AHEAD", "UNKNOWN"].includes(standing);

function objectionTo({ standing, releasedVersion = 0 }: PlacedHead, { version }: Header): string {
  if (standing === "BEHIND") return `it is SET BACK to version ${version}: version ${releasedVersion} was released`;
  if (standing === "FORKED") return `version ${version} is another than the one that was released`;
  return `version ${version} is NOT LED TO by the leaves from version ${releasedVersion}, which was released`;
}

function isDirectoryOf({ directory }: Tables["organizations"], header: Uint8Array): boolean {
  return equalBytes(sha256(directory), decodeHeader(withoutMac(header)).directory);
}

async function findLeafHeader(vouching: Vouching, leaf: Uint8Array): Promise<Uint8Array | undefined> {
  const [own] = await vouching.leaves([leaf]);
  return own === true ? ownHeaderOf(decodeLeaf(withoutMac(leaf))) : undefined;
}

/** The signer's word on a head of this organization; another's is as foreign as one that nobody wrote. */
async function placeHead(
  tx: Inside,
  vouching: Vouching,
  { organization_id: organizationId }: Tables["organizations"],
  marked: Uint8Array,
): Promise<PlacedHead> {
  const head = await vouching.head(marked, []);
  if (head.standing === "FOREIGN") return head;
  const { organizationId: named, version } = decodeHeader(withoutMac(marked));
  if (uuidFromBytes(named) !== organizationId) return { standing: "FOREIGN", releasedVersion: undefined };
  if (head.standing !== "UNLED") return head;
  const links = await linksBetween(tx, vouching, organizationId, head.releasedVersion ?? 0, version);
  return vouching.head(marked, links);
}

const leavesAtOnce = 200;

/** Not many more would go into a frame, neither here nor when the signer is to decide. */
const maxLinks = 40_000;

/** The headers behind one version and before another. They are the leaves' own: the columns beside these may have been changed. */
async function linksBetween(
  tx: Inside,
  vouching: Vouching,
  organizationId: string,
  after: number,
  before: number,
): Promise<Uint8Array[]> {
  const links: { version: number; header: Uint8Array }[] = [];
  for await (const rows of rowsOf(tx, "leaves", organizationId, leavesAtOnce)) {
    const own = await vouching.leaves(rows.map(({ leaf }) => leaf));
    for (const [index, { leaf }] of rows.entries()) {
      const header = own[index] === true ? ownHeaderOf(decodeLeaf(withoutMac(leaf))) : undefined;
      if (header === undefined) continue;
      const { version } = decodeHeader(withoutMac(header));
      if (version > after && version < before && links.length < maxLinks) links.push({ version, header });
    }
  }
  return links.sort((a, b) => a.version - b.version).map(({ header }) => header);
}

/** Key facts are only looked at here: there may be hundreds of these pages, and each is read again when a key needs it. */
async function checkPages(
  tx: Inside,
  organizationId: string,
  directory: Directory,
  findings: Findings,
): Promise<{ pages: Pages | undefined; broken: ReadonlySet<string> }> {
  let pages: Pages = emptyPages;
  const broken = new Set(directory.pages.map(({ name }) => name));
  const changed: string[] = [];
  for await (const rows of rowsOf(tx, "pages", organizationId, pagesAtOnce)) {
    for (const row of rows) {
      const listed = directory.pages.find(({ name }) => name === row.name);
      if (listed === undefined || !isPageName(row.name)) {
        if (findings.differs(`pages \`${row.name}\`: its state knows no such page`)) await deleteRow(tx, "pages", row);
      } else if (!equalBytes(sha256(row.content), listed.digest)) changed.push(row.name);
      else {
        broken.delete(row.name);
        if (!isOptionalPage(row.name)) pages = withPage(pages, row.name, row.content);
      }
    }
  }
  for (const name of broken) findings.lost(`page \`${name}\` ${changed.includes(name) ? "was changed" : "is missing"}`);
  const isWhole = [...broken].every((name) => isPageName(name) && isOptionalPage(name));
  return { pages: isWhole ? pages : undefined, broken };
}

const maxFactsPages = 64;

function factsReader(tx: Inside, organizationId: string, directory: Directory, broken: ReadonlySet<string>) {
  const read = new Map<string, Pages>();
  return async (id: string): Promise<KnownFacts | undefined | "unknown"> => {
    const name = keyFactsPageOf(id);
    if (!directory.pages.some((page) => page.name === name)) return undefined;
    if (broken.has(name)) return "unknown";
    let pages = read.get(name);
    if (pages === undefined) {
      const [row] = await rowsWith(tx, "pages", organizationId, "name", [name]);
      if (row === undefined) return "unknown";
      if (read.size >= maxFactsPages) read.clear();
      pages = withPage(emptyPages, name, row.content);
      read.set(name, pages);
    }
    return findKeyFacts(pages, id);
  };
}
