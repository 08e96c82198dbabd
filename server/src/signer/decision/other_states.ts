/**
 * States of other organizations that a decision reads along: of a parent whose settings bind its children. Nothing of them is changed, and
 * nothing waits for them. A state is believed at or past its pin, as the organization's own is; the leaf names it, and is released only if
 * it lies on that organization's line.
 *
 * Which organization is read is the signer's own knowledge, from a header it has checked; the gateway only brings the bytes. If it brings
 * none, an older state than was released, or another organization's, nothing is decided.
 */
import { uuidFromBytes, uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { OfferedState } from "../../frames/messages.ts";
import { digestKey, equalBytes, sha256 } from "../../state/digest.ts";
import { decodeDirectory } from "../../state/directory.ts";
import { decodePage, emptyPages, type Pages, type SinglePage } from "../../state/pages.ts";
import { changedRows, type KnownHeader, refusedState } from "./line.ts";
import { NeedsMore } from "./needs_more.ts";
import type { Signer } from "./signer.ts";

/** What one decision reads along. */
export type OtherStates = {
  /** A page of this organization's newest state; throws `NeedsMore` where the gateway has not brought it. */
  page<N extends SinglePage>(organizationId: string, name: N): Pages[N];
  /** The states that were read so far: the leaf names them. */
  readonly read: readonly KnownHeader[];
};

export function createOtherStates(signer: Signer, offered: readonly OfferedState[]): OtherStates {
  const read = new Map<string, KnownHeader>();
  return {
    page(organizationId, name) {
      const believed = believe(signer, organizationId, name, offered);
      const page = readPage(signer, organizationId, name, believed);
      read.set(organizationId, believed.known);
      return page;
    },
    get read() {
      return [...read.values()];
    },
  };
}

type Believed = { known: KnownHeader; state: OfferedState };

function believe(signer: Signer, organizationId: string, page: string, offered: readonly OfferedState[]): Believed {
  const pin = signer.memory.pins.get(uuidToBytes(organizationId));
  const linksFrom = (pin?.version ?? 0) + 1;
  const needed = new NeedsMore([{ kind: "otherState", value: { organizationId, page, linksFrom } }]);
  const found = findOffered(signer, organizationId, offered);
  if (found === undefined) throw needed;
  const { known, state } = found;
  // Its next state may have been released since it was read. Where the database itself is older, this is asked until it is given up.
  if (pin !== undefined && known.header.version < pin.version) throw needed;
  if (pin === undefined && signer.adoptUnknown) return found;
  const links = signer.line.links(state.links);
  const standing = signer.line.standing({ ...known.header, digest: known.digest }, pin, links);
  if (standing.kind === "off") throw refusedState(standing.why);
  if (standing.kind === "unknown") throw needed;
  return found;
}

function findOffered({ line }: Signer, organizationId: string, offered: readonly OfferedState[]): Believed | undefined {
  for (const state of offered) {
    const known = knowHeader(line, organizationId, state.header);
    if (uuidFromBytes(known.header.organizationId) === organizationId) return { known, state };
  }
  return undefined;
}

function knowHeader(line: Signer["line"], organizationId: string, header: Uint8Array): KnownHeader {
  try {
    return line.know(header);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "failed_precondition") throw error;
    throw changedRows(organizationId, error.message);
  }
}

/** From the header by digests to the page. What the directory lists and the frame lacks is an error, never an absence. */
function readPage<N extends SinglePage>(
  signer: Signer,
  organizationId: string,
  name: N,
  { known, state }: Believed,
): Pages[N] {
  const key = `${organizationId} ${name}`;
  const kept = signer.otherPages.get(key);
  if (kept !== undefined && equalBytes(kept.digest, known.digest)) return kept.page as Pages[N];
  if (!matches(state.directory, known.header.directory)) {
    throw changedRows(organizationId, "the directory does not match its header");
  }
  const listed = decodeDirectory(Uint8Array.from(state.directory)).pages.find((each) => each.name === name);
  const content = state.pages.find((each) => each.name === name)?.content;
  let page = emptyPages[name];
  if (listed !== undefined) {
    if (content === undefined) throw changedRows(organizationId, `page \`${name}\` is missing`);
    if (!matches(content, listed.digest)) throw changedRows(organizationId, `page \`${name}\` was changed`);
    page = decodePage(name, content);
  }
  signer.otherPages.set(key, { digest: known.digest, page }, (content?.length ?? 0) + 1_000);
  return page;
}

function matches(content: Uint8Array, digest: Uint8Array): boolean {
  return digestKey(sha256(content)) === digestKey(digest);
}
